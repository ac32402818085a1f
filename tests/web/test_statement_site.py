"""What the pages about statements say, and what they refuse."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import ADDRESS
from tests.web.test_code_site import Parts

from hyperheat.kg.completion import Completer
from hyperheat.kg.heuristic import Heuristic
from hyperheat.kg.statements import Statement, Statements
from hyperheat.web.serving import make_app
from hyperheat.web.statement_site import MAX_ANSWERS, StatementSite

HARM = "<script>window.harmed=1</script>"
STATEMENTS = [
    Statement("Q1", "P1", "Q2", (("P2", "Q3"),)),
    Statement("Q1", "P1", "Q4"),
    Statement("Q5", "P1", "Q2", (("P2", "Q3"),)),
    Statement("Q6", "P1", "Q7\u202e"),
]
LABELS = {
    "Q1": "Ada",
    "Q5": "Ada",
    "Q2": HARM,
    "Q3": "maths",
    "P1": "studied at",
    "P2": "subject",
    "Q6": "Zoe",
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    statements = Statements.build(STATEMENTS)
    completer = Completer(Heuristic(statements), statements, LABELS)
    app = make_app(StatementSite(completer, "heuristic").readers(), ADDRESS)
    with TestClient(app, base_url="http://127.0.0.1:8000") as made:
        yield made


def ask(client: TestClient, path: str, status: int = 200, **parameters: str | list[str]) -> str:
    answer = client.get(f"/secret/{path}", params=parameters)
    assert answer.status_code == status, answer.text
    assert answer.text.isascii()
    return answer.text


def test_the_page_has_examples_and_counts(client: TestClient):
    page = Parts(ask(client, ""))
    assert "Statements" in page.text
    assert len(page.values("data-example")) == 3
    assert [tag for tag, _ in page.tags].count("script") == 1


def test_a_question_is_answered(client: TestClient):
    text = ask(
        client,
        "answers",
        subject="Q1",
        relation="studied at",
        object="",
        qualifier=["P2", ""],
        value=["maths", ""],
    )
    page = Parts(text)
    assert page.values("data-rank")[0] == "1"
    assert HARM in page.text
    assert "<script" not in text
    assert page.text.count("Q2") == 1
    assert len(page.values("data-rank")) <= MAX_ANSWERS


def test_an_answer_has_evidence_and_a_neighbourhood(client: TestClient):
    text = ask(client, "evidence", subject="Zoe", relation="P1", object="?", rank="1")
    page = Parts(text)
    assert "Nearest statements" in text
    assert "<svg" in text
    assert "studied at" in page.text
    assert "\\u202e" in page.text
    assert "style" not in {name for _, attributes in page.tags for name in attributes}
    assert "style" not in [tag for tag, _ in page.tags]


def test_what_is_known_can_be_left_out(client: TestClient):
    assert "known, score" in ask(client, "answers", subject="Q6", relation="P1", object="")
    assert "known, score" not in ask(client, "answers", subject="Q6", relation="P1", object="", new="1")


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"subject": "Q1", "relation": "P1", "object": "Q2"}, "Expected one blank"),
        ({"subject": "", "relation": "P1", "object": ""}, "Expected one blank"),
        ({"subject": "Q1", "relation": "", "object": ""}, "Expected names"),
        ({"subject": "Zo", "relation": "P1", "object": ""}, "Unknown entity"),
        ({"subject": "Ada", "relation": "P1", "object": ""}, "Ambiguous entity"),
        ({"subject": "x" * 501, "relation": "P1", "object": ""}, "subject: expected at most 1 values"),
        ({"subject": "Q1", "relation": "P1", "object": "", "qualifier": ["P2"] * 33}, "qualifier: expected"),
        ({"subject": f"{HARM}!", "relation": "P1", "object": ""}, "Unknown entity"),
    ],
)
def test_questions_that_cannot_be_asked(client: TestClient, parameters: dict[str, str], reason: str):
    text = ask(client, "answers", status=400, **parameters)
    assert text.startswith(reason)
    assert "<" not in text
    assert text.count("\n") == 0


def test_evidence_needs_an_answer_of_that_rank(client: TestClient):
    for rank in ("0", "99", "x", ""):
        ask(client, "evidence", status=404, subject="Q6", relation="P1", object="", rank=rank)


def test_names_are_suggested(client: TestClient):
    assert Parts(ask(client, "names", of="entity", text="ad")).values("value") == ["Q1", "Q5"]
    assert Parts(ask(client, "names", of="relation", text="STUD")).values("value") == ["studied at"]
    assert Parts(ask(client, "names", of="entity", text="script")).values("value") == [HARM]
    assert ask(client, "names", of="entity", text="nothing like it") == ""
    ask(client, "names", status=400, of="entity", text="x" * 201)
