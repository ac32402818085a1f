"""The demo: its data, its model, and the page that shows them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperheat import kg
from hyperheat.cli import app
from hyperheat.cli.kg import demo
from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.datasets import read_dataset
from hyperheat.kg.demo import DATA, MODEL
from hyperheat.kg.neural.trained_model import load_model, scorer_for
from hyperheat.kg.ranking import evaluate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "completion.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_all_of_it_is_small():
    sizes = [path.stat().st_size for path in MODEL.parent.rglob("*") if path.is_file()]
    assert sum(sizes) < 2_000_000


def test_the_data_holds_no_statement_twice_and_asks_for_known_names():
    data = read_dataset(DATA)
    assert (len(data.train), len(data.test)) == (772, 56)
    assert len(set(data.every())) == 828
    # Frederick Sanger took two degrees at Cambridge
    assert [s.subject for s in data.test[has_equal_triple(data.train, data.test)]] == ["Frederick Sanger"]
    trained = set(data.train.memberships()[1].tolist())
    assert set(data.test.memberships()[1].tolist()) <= trained
    assert not set(data.train.entities) & set(data.train.relations)


def test_every_shared_prize_is_told_by_all_who_share_it():
    told = {
        (s.subject, s.object, v)
        for s in read_dataset(DATA).every()
        for q, v in s.qualifiers
        if q == "together with"
    }
    assert len(told) > 100
    assert {(other, prize, one) for one, prize, other in told} == told


def test_every_teacher_has_the_student():
    pairs = {(s.relation, s.subject, s.object) for s in read_dataset(DATA).every()}
    advisors = {(teacher, student) for r, student, teacher in pairs if r == "doctoral advisor"}
    assert advisors == {(teacher, student) for r, teacher, student in pairs if r == "doctoral student"}


def test_the_model_was_trained_on_this_data_and_finds_held_out_statements():
    trained = load_model(MODEL)
    evaluation = evaluate(read_dataset(DATA), lambda training: scorer_for(trained, training))
    metrics = evaluation.ranking.metrics()
    found = [metrics["both"].mrr, metrics["both"].h1, metrics["both"].h10]
    found += [metrics["object"].mrr, metrics["subject"].mrr]
    (row,) = re.findall(r"\| demo model \| (.*) \|", PAGE)
    assert [float(cell) for cell in row.split(" | ")] == pytest.approx(found, abs=0.01)


def test_the_demo_shows_known_and_new_answers_and_qualifiers_at_work(capsys: pytest.CaptureFixture[str]):
    demo()
    text = capsys.readouterr().out
    assert re.search(r"1 +0\.\d+ +[\d.]+ +ETH Zurich +known", text)
    assert re.search(r"1 +0\.\d+ +[\d.]+ +John Archibald Wheeler +new", text)
    assert re.search(r"1 +0\.\d+ +[\d.]+ +Frédéric Joliot-Curie +new", text)
    assert re.search(r"1 +0\.\d+ +[\d.]+ +1903 +known", text)
    assert re.search(r"academic degree=diploma: \+0\.[2-9]", text)


def test_without_torch_the_demo_says_what_it_needs():
    script = "import sys\nsys.modules['torch'] = None\nsys.argv[1:] = ['kg', 'demo']\nfrom hyperheat.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs the package 'torch': pip install 'hyperheat[train]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_answers_that_are_new_are_true():
    held_out = {(s.subject, s.relation, s.object) for s in read_dataset(DATA).test}
    assert ("Richard Feynman", "doctoral advisor", "John Archibald Wheeler") in held_out
    assert ("Frédéric Joliot-Curie", "award received", "Nobel Prize in Chemistry") in held_out


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]):
    (code,) = blocks("python")
    scope: dict = {}
    exec(code, scope)
    assert (scope["best"].id, scope["best"].known) == ("John Archibald Wheeler", "new")
    assert "John Archibald Wheeler" in capsys.readouterr().out
    assert scope["winner"].id == "Frédéric Joliot-Curie"
    assert scope["year"].id == "1903"
    asked = kg.complete("Richard Feynman | doctoral advisor | ?", model="demo", k=3)
    assert asked == scope["found"]


def test_the_command_of_the_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str]):
    (block,) = blocks("console")
    line, *shown = block.splitlines()
    command, bound, _ = app.parse_args(shlex.split(line.removeprefix("$ hyperheat ")))
    command(*bound.args, **bound.kwargs)
    printed = capsys.readouterr().out.splitlines()
    number = re.compile(r"[-+]?\d+\.\d+")
    assert [number.sub("#", row) for row in printed] == [number.sub("#", row) for row in shown]
    numbers = [np.array(number.findall("\n".join(rows)), float) for rows in (printed, shown)]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=0.02)
