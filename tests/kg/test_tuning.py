"""The search for settings: its rungs, its grid, its budget, and what it prints."""

import json
from pathlib import Path

import pytest
from tests.kg.neural_data import dataset, random_statements

from hyperheat.cli.kg_tune import tune as tune_command
from hyperheat.kg.neural import tuning
from hyperheat.kg.neural.recipes import RECIPES
from hyperheat.kg.neural.tuning import GRID, Budget, Trial, Tuning, tune
from hyperheat.kg.readers.json_lines import write_json_lines

ALL = random_statements(60)
DATA = dataset(ALL[:45], ALL[45:55], ALL[55:])
VARY = {"train.lr": ("1e-3", "1e-2"), "model.encoder.dim": ("8", "16")}
SMALL = ("train.threads=1", "validation=5")


def test_the_best_third_goes_on_with_equal_budgets_for_all_rungs(tmp_path: Path):
    budget = Budget(steps=90)
    found = tune(DATA, tmp_path, budget, recipe="smallest", fixed=SMALL, vary=VARY, trials=4)
    by_rung = [[trial for trial in found.trials if trial.rung == rung] for rung in (0, 1)]
    assert [len(trials) for trials in by_rung] == [4, 1]
    assert [{trial.steps for trial in trials} for trials in by_rung] == [
        {11},
        {45},
    ]  # 90 / (2 * 4), 90 / (2 * 1)
    assert by_rung[0][0].settings == ()
    assert len({trial.settings for trial in by_rung[0]}) == 4
    assert by_rung[1][0].settings == max(by_rung[0], key=lambda trial: trial.mrr).settings
    assert found.best == by_rung[1][0]
    again = tune(DATA, tmp_path / "again", budget, recipe="smallest", fixed=SMALL, vary=VARY, trials=4)
    assert [(t.settings, t.mrr) for t in again.trials] == [(t.settings, t.mrr) for t in found.trials]
    other = tune(DATA, tmp_path / "other", Budget(steps=8), recipe="smallest", fixed=SMALL, trials=3, seed=5)
    assert all(setting.split("=")[0] in GRID for trial in other.trials for setting in trial.settings)


def test_a_search_is_resumed_without_running_a_trial_twice(tmp_path: Path, monkeypatch):
    ran = []

    def fake_run(rung, settings, shaped, data, run):
        ran.append((rung, settings))
        if len(ran) == 3:
            raise KeyboardInterrupt
        return Trial(rung=rung, settings=settings, mrr=0.1 * len(ran), steps=5, seconds=1.0)

    monkeypatch.setattr(tuning, "_run", fake_run)
    search = {"recipe": "smallest", "vary": VARY, "trials": 4}
    with pytest.raises(KeyboardInterrupt):
        tune(DATA, tmp_path, Budget(steps=90), **search)
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="holds the trials of another search; resume it"):
        tune(DATA, tmp_path, Budget(steps=90), **search)
    found = tune(DATA, tmp_path, Budget(steps=90), **search, resume=True)
    assert len(ran) == 3 + 3  # the one that was killed, the last, and the one of the second rung
    assert [trial.mrr for trial in found.trials] == pytest.approx([0.1, 0.2, 0.4, 0.5, 0.6])
    assert found.best.settings == found.trials[3].settings


def test_minutes_shape_the_schedule_of_each_trial():
    shaped = tuning._shaped(RECIPES["heat"](), Budget(minutes=60), 6)
    assert (shaped.train.max_minutes, shaped.train.max_steps) == (10.0, None)
    assert shaped.train.schedule == "cosine"


def test_validation_statements_are_taken_from_train_if_there_are_none_and_test_is_gone():
    for data in (DATA, dataset(ALL[:55], ALL[:0], ALL[55:])):
        prepared = tuning._with_validation(data)
        assert prepared.valid
        assert not prepared.test
        assert not {str(s) for s in ALL[55:]} & {str(s) for s in prepared.every()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 1}, "trials: expected at least 2, got 1"),
        ({"vary": {}}, "vary: expected settings with their values"),
        ({"vary": {"train.rate": ["1"]}}, "train.rate"),
        ({"recipe": "best"}, "recipe: expected one of heat, .*, got 'best'"),
    ],
)
def test_what_cannot_be_searched_is_said_before_anything_runs(options, message, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        tune(DATA, tmp_path / "out", Budget(steps=9), **{"recipe": "smallest", **options})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("limits", [{}, {"minutes": 1.0, "steps": 1}, {"minutes": 0.0}, {"steps": -1}])
def test_a_budget_is_minutes_or_steps(limits):
    with pytest.raises(ValueError, match="expected a budget of minutes or of steps above 0"):
        Budget(**limits)


def test_the_table_has_the_best_of_each_rung_first():
    trials = [(0, (), 0.2), (0, ("train.lr=1e-3",), 0.4), (1, ("train.lr=1e-3",), 0.5)]
    found = Tuning(
        trials=tuple(Trial(rung=r, settings=s, mrr=m, steps=1_000, seconds=1.0) for r, s, m in trials)
    )
    assert str(found).splitlines() == [
        "rung  steps    MRR  settings",
        "   0  1,000  0.400  train.lr=1e-3",
        "   0  1,000  0.200  the recipe as it is",
        "   1  1,000  0.500  train.lr=1e-3",
    ]


def test_the_command_prints_how_to_train(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name, statements in (("train", ALL[:45]), ("valid", ALL[45:])):
        write_json_lines(statements, tmp_path / f"{name}.jsonl")
    out = tmp_path / "out"
    options = {"recipe": "smallest", "trials": 2, "set": SMALL, "vary": ("model.encoder.dim=8",)}
    tune_command(data=str(tmp_path), out=out, steps=8, **options)
    printed = capsys.readouterr().out
    best = max(
        (json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()[2:]),
        key=lambda t: t["mrr"],
    )
    settings = " ".join([*SMALL, *best["settings"]])
    assert f"  hyperheat kg train --data {tmp_path} --out RUN --recipe smallest --set {settings}\n" in printed
    with pytest.raises(SystemExit):
        tune_command(data=str(tmp_path), out=out, steps=8, resume=True, vary=("train.lr",))
    assert (
        "--vary: expected a setting and its values, such as train.lr=1e-3,2e-3, got 'train.lr'"
        in capsys.readouterr().err
    )
