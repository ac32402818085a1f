"""`hyperheat.kg` as a library: what `import hyperheat` alone gives, from reading to asking."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hyperheat
from hyperheat import kg

FACTS = "film,award,Oscar,winner,Ann\nfilm,award,Globe\nplay,award,Tony,winner,Ann\nfilm,country,France\n"
QUICK = ("train.max_steps=2", "train.warmup=1", "train.threads=1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.txt").write_text(FACTS)
    (folder / "test.txt").write_text("play,award,Globe\n")
    (folder / "labels.tsv").write_text("film\tThe Film\n")
    return folder


def test_the_package_is_found_and_shows_its_public_names():
    assert hyperheat.kg is kg
    assert dir(kg) == kg.__all__
    for name in kg.__all__:
        assert getattr(kg, name).__module__.startswith("hyperheat.kg")
        assert getattr(kg, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'Question'; it offers Answer, "):
        _ = kg.Question  # pyright: ignore[reportAttributeAccessIssue]


def test_importing_it_loads_little():
    script = (
        "import hyperheat, sys\nhyperheat.kg.load\n"
        "print([name for name in ('numpy', 'torch', 'safetensors') if name in sys.modules])\n"
        "hyperheat.kg.Questions, hyperheat.kg.Completer, hyperheat.kg.Protocol\n"
        "print([name for name in ('torch', 'safetensors', 'pyarrow') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_statements_are_read(data: Path):
    found = kg.read(data)
    assert (len(found.train), len(found.valid), len(found.test)) == (4, 0, 1)
    assert found.train[0] == kg.Statement("film", "award", "Oscar", (("winner", "Ann"),))
    assert found.labels == {"film": "The Film"}
    other = data.parent / "labels.tsv"
    other.write_text("play\tThe Play\n")
    assert kg.read(str(data / "train.txt"), format="wd50k", labels=str(other)).labels == {"play": "The Play"}


def test_a_model_is_trained_evaluated_calibrated_and_asked(data: Path, tmp_path: Path):
    run = tmp_path / "run"
    outcome = kg.train(data, run, recipe="smallest", set=QUICK)
    assert (outcome.step, outcome.ended_by) == (2, "max_steps")
    evaluation = kg.evaluate(run / "best", data)
    assert (evaluation.statements, evaluation.protocol) == (1, kg.Protocol())
    assert kg.calibrate(run / "best", data).questions == 2
    model = kg.load(run / "best")
    found = model.ask("The Film | award | ?", k=2)
    assert len(found) == 2
    assert kg.complete("The Film | award | ?", model=run / "best", k=2) == found
    together = list(model.ask_all(["The Film | award | ?", "? | award | Tony"], k=2))
    assert [str(completion.question) for completion in together] == [
        "The Film | award | ?",
        "? | award | Tony",
    ]
    assert [answer.id for answer in together[0]] == [answer.id for answer in found]


def blind_scorer(training: kg.Statements):
    """A model that knows nothing."""
    return lambda questions: np.zeros((len(questions), len(training.entities)))


def test_candidates_of_stare_are_all_entities_where_its_code_ranks_all(data: Path):
    dataset = kg.read(data)
    for format, expected in (("wd50k", 6), ("jf17k", 7), ("wikipeople", 7)):
        found = kg.evaluate(blind_scorer, replace(dataset, format=format))
        assert (found.candidates, found.to_json()["protocol"]["name"]) == (expected, "stare")
        main = kg.evaluate(blind_scorer, replace(dataset, format=format), kg.Protocol(candidates="main"))
        assert main.candidates == 6


def test_any_scorer_can_be_evaluated(data: Path):
    """A model that knows nothing, and one that always answers Globe for objects and play for subjects."""
    dataset = kg.read(data)
    blind = kg.evaluate(blind_scorer, dataset)
    assert blind.candidates == 6  # all but Ann, who is neither subject nor object
    # Five others tie with Globe. Film, too, has the award Globe and is no wrong answer: four tie with play.
    assert blind.ranking.ranks.tolist() == [[3.5], [3.0]]

    def constant(training: kg.Statements):
        liked = [training.entities.index(name) for name in ("play", "Globe")]

        def score(questions: kg.Questions) -> np.ndarray:
            scores = np.zeros((len(questions), len(training.entities)))
            scores[np.arange(len(questions)), np.array(liked)[questions.blank]] = 1
            return scores

        return score

    assert kg.evaluate(constant, dataset).ranking.ranks.tolist() == [[1.0], [1.0]]
