"""The temperature is found again, errors by hand, folders, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.kg.neural_data import new_model, random_statements

from hyperheat import kg
from hyperheat.cli.kg import calibrate as command
from hyperheat.kg import Statement, Statements
from hyperheat.kg.neural.trained_model import save_model
from hyperheat.kg.questions import OBJECT, Questions
from hyperheat.kg.temperature import Temperature, choose_temperature, read_temperature, save_temperature


def test_the_temperature_of_overconfident_scores_is_found():
    """Answers are drawn from softmax(scores); the scorer tells twice the scores, so T = 2 undoes it."""
    random = np.random.default_rng(0)
    scores = random.normal(0, 2, 30)
    p = np.exp(scores) / np.exp(scores).sum()
    drawn = random.choice(30, 600, p=p)
    names = [f"e{i:02}" for i in range(30)]
    facts = [Statement(f"s{row}", "r", names[answer]) for row, answer in enumerate(drawn)]
    statements = Statements.build([*facts, *(Statement(name, "is", name) for name in names)])
    held_out = statements[: len(facts)]
    is_answer = np.array([name.startswith("e") for name in statements.entities])

    def twice(questions: Questions) -> np.ndarray:
        everyone = np.full((len(questions), len(statements.entities)), -50.0)
        everyone[:, is_answer] = 2 * scores
        return everyone

    found = choose_temperature(twice, held_out, known=held_out, candidates=is_answer, batch_size=200)
    assert found.temperature == pytest.approx(2, rel=0.2)
    assert found.questions == 1_200


def test_the_error_by_hand():
    """One question whose best of two candidates has p = 1 / (1 + e^-1) and is wrong, and T flattens it."""
    statements = Statements.build([Statement("a", "r", "b")])

    def scorer(questions: Questions) -> np.ndarray:
        return np.array([[1.0, 0.0]] if questions.blank[0] == OBJECT else [[0.0, 1.0]])

    found = choose_temperature(scorer, statements, known=statements, candidates=np.ones(2, bool))
    sure = 1 / (1 + np.exp(-1))
    assert found.error_before == pytest.approx(sure)
    assert found.temperature == 5
    assert found.error == pytest.approx(1 / (1 + np.exp(-0.2)))


def test_a_folder_keeps_it(tmp_path: Path):
    assert read_temperature(tmp_path) is None
    calibration = Temperature(temperature=1.5, questions=10, error_before=0.2, error=0.1)
    save_temperature(calibration, tmp_path)
    assert read_temperature(tmp_path) == calibration
    for text in (
        "{",
        "[]",
        '{"temperature": 2}',
        (tmp_path / "calibration.json").read_text().replace("1.5", "0"),
    ):
        (tmp_path / "calibration.json").write_text(text)
        with pytest.raises(ValueError, match=r"calibration\.json: not a calibration"):
            read_temperature(tmp_path)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    every = random_statements(40)
    data, model = tmp_path / "data", tmp_path / "model"
    data.mkdir()
    for split, part in (("train", every[:30]), ("test", every[30:])):
        rows = [
            ",".join([s.subject, s.relation, s.object, *(x for pair in s.qualifiers for x in pair)])
            for s in part
        ]
        (data / f"{split}.txt").write_text("\n".join(rows))
    save_model(new_model(every[:30]), model)
    return data, model


def test_the_command_calibrates_what_complete_prints(folders, capsys: pytest.CaptureFixture[str]):
    data, model = folders
    question = "e0 | r0 | ?"
    before = kg.complete(question, model=model, k=20)
    command(model=model, data=str(data))
    written = json.loads((model / "calibration.json").read_text())
    assert capsys.readouterr().out.startswith(
        f"temperature {written['temperature']:.2f}, chosen on 20 questions of test"
    )
    after = kg.complete(question, model=model, k=20)
    assert [a.score for a in after] == [a.score for a in before]
    weights = np.exp((np.array([a.score for a in after]) - after[0].score) / written["temperature"])
    assert [a.probability for a in after] == pytest.approx((weights / weights.sum()).tolist(), rel=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"on": "valid"}, "cannot evaluate on valid a model that was trained on train+valid"),
        ({"on": "valid", "train_on": "train"}, "there are no held-out statements to calibrate on"),
        ({"limit": 0}, "limit: expected at least 1, got 0"),
        ({"data": "nowhere"}, "nowhere: no such file or folder, and not one of"),
        ({"model": Path("nowhere")}, "not the folder of a trained model"),
    ],
)
def test_what_cannot_be_calibrated_is_said(settings, message, folders, capsys: pytest.CaptureFixture[str]):
    data, model = folders
    with pytest.raises(SystemExit):
        command(**{"model": model, "data": str(data), **settings})
    assert message in capsys.readouterr().err
