"""The pages about statements: ask a question, see the answers, and for each its evidence and its neighbourhood."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from string import Template

from starlette.requests import Request

from hyperheat.hypergraph import Hypergraph
from hyperheat.hypergraph.draw import to_svg
from hyperheat.kg.completion import Answer, Completer, Completion
from hyperheat.kg.demo import QUESTIONS
from hyperheat.kg.explanation import Effect, Explanation
from hyperheat.kg.questions import FIRST_QUALIFIER, Questions, parse_question
from hyperheat.kg.statements import Statement, Statements
from hyperheat.report.markup import shown
from hyperheat.web.bars import bar
from hyperheat.web.serving import PageError, Reader, texts, whole

__all__ = ["MAX_ANSWERS", "StatementSite"]

MAX_ANSWERS = 20
"""The most answers to a question."""
_SUGGESTIONS = 20
_NEAR = 6  # statements that are shown as evidence
_DRAWN = 3  # of these that are drawn
_KNOWN = {
    "known": "in the statements of the model",
    "with other qualifiers": "in the statements of the model, with other qualifiers",
    "new": "in none of the statements of the model",
}


class StatementSite:
    """The pages of one model."""

    def __init__(self, completer: Completer, name: str) -> None:
        self._completer, self._name = completer, name
        self._lock = threading.Lock()  # one question at a time: a model uses all that the machine has
        self._names = {
            "entity": _searchable(completer.entities.names, completer),
            "relation": _searchable(completer.relations.names, completer),
        }

    def readers(self) -> dict[str, Reader]:
        """What the server answers, by the last part of the path."""
        return {
            "": self._page,
            "names": self._suggest,
            "answers": self._show_answers,
            "evidence": self._show_evidence,
        }

    def _page(self, request: Request) -> str:
        template = files("hyperheat.web").joinpath("static", "statements.html").read_text(encoding="ascii")
        completer = self._completer
        counts = {
            "Statements": len(completer.statements),
            "Entities": len(completer.entities.names),
            "Relations": len(completer.relations.names),
        }
        return Template(template).substitute(
            model=shown(f"Model {self._name}"),
            counts="".join(f"<div><dt>{name}</dt><dd>{count:,}</dd></div>" for name, count in counts.items()),
            examples="".join(self._examples()),
        )

    def _examples(self) -> Iterator[str]:
        """Questions to begin with: those of the demo, or some made from the first statements."""
        questions = QUESTIONS if self._name == "demo" else tuple(_made_questions(self._completer))
        for text in questions:
            statement = next(iter(parse_question(text).statements))
            main = {"subject": statement.subject, "relation": statement.relation, "object": statement.object}
            blank = int(parse_question(text).blank[0])
            slots = ["subject", "object"]
            if blank < FIRST_QUALIFIER:
                main[slots[blank]] = ""
            pairs = [
                [name, "" if blank == FIRST_QUALIFIER + place else value]
                for place, (name, value) in enumerate(statement.qualifiers)
            ]
            example = json.dumps({"main": main, "qualifiers": pairs})
            yield f'<li><button type="button" data-example="{shown(example)}">{shown(text)}</button></li>'

    def _suggest(self, request: Request) -> str:
        """Names that contain a text, as options of a field."""
        kind = "relation" if request.query_params.get("of") == "relation" else "entity"
        (text,) = texts(request, "text", longest=200, most=1) or [""]
        folded = text.casefold().strip()
        found = [
            (not key.startswith(folded), len(key), name) for key, name in self._names[kind] if folded in key
        ]
        return "".join(
            f'<option value="{shown(name)}"></option>' for *_, name in sorted(found)[:_SUGGESTIONS]
        )

    def _show_answers(self, request: Request) -> str:
        return "\n".join(_answers_view(self._ask(request)))

    def _show_evidence(self, request: Request) -> str:
        completion = self._ask(request)
        rank = whole(request, "rank", among=range(1, len(completion) + 1))
        with self._lock:
            explanation = self._completer.explain(completion, rank, support=_NEAR)
        return "\n".join(_evidence_view(explanation, _completed(completion, explanation.answer)))

    def _ask(self, request: Request) -> Completion:
        try:
            question = _question(request)
            with self._lock:
                without_known = request.query_params.get("new") == "1"
                return self._completer.ask(question, k=MAX_ANSWERS, exclude_known=without_known)
        except ValueError as error:
            raise PageError(_sentence(str(error)), 400) from None


def _searchable(names: tuple[str, ...], completer: Completer) -> list[tuple[str, str]]:
    """Each name as it is searched for and as it is shown: its label, or its id if others have the label too."""
    labels = [completer.labels.get(name, name) for name in names]
    counts: dict[str, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return [
        (f"{label} {name}".casefold(), label if counts[label] == 1 else name)
        for name, label in zip(names, labels, strict=True)
    ]


def _made_questions(completer: Completer) -> Iterator[str]:
    for statement in completer.statements[: min(3, len(completer.statements))]:
        labels = completer.labels
        pairs = {labels.get(name, name): labels.get(value, value) for name, value in statement.qualifiers}
        subject, relation = (labels.get(name, name) for name in (statement.subject, statement.relation))
        yield str(Questions.of(subject, relation, None, pairs))


def _question(request: Request) -> Questions:
    """The question that the fields of the form ask; an empty field, or `?`, is the blank."""
    subject, relation, thing = (
        (texts(request, name, most=1) or [""])[0] for name in ("subject", "relation", "object")
    )
    pairs = zip(texts(request, "qualifier"), texts(request, "value"), strict=False)
    given = [(name.strip(), _blank(value)) for name, value in pairs if name.strip() or value.strip()]
    return Questions.of(_blank(subject), relation.strip(), _blank(thing), given)


def _blank(text: str) -> str | None:
    return None if text.strip() in ("", "?") else text.strip()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def _answers_view(completion: Completion) -> Iterator[str]:
    yield f'<h2 class="message">{shown(str(completion.question))}</h2>'
    yield from (f'<p class="note">{shown(note)}</p>' for note in completion.notes)
    if not len(completion):
        yield "<p>The model has no answer.</p>"
        return
    yield f'<p class="faint">The {len(completion)} most likely of {int(completion.allowed.sum()):,} candidates.</p>'
    yield '<ul class="choices answers" role="listbox" aria-label="Answers">'
    for answer in completion:
        yield (
            f'<li role="option" tabindex="-1" aria-selected="false" data-rank="{answer.rank}" id="answer-{answer.rank}">'
            f'<span class="rank">{answer.rank}</span><span class="what">{_name(answer)}</span>{bar(answer.probability)}'
            f'<span class="where" title="{_KNOWN[answer.known]}">{answer.known}, score {answer.score:.2f}</span></li>'
        )
    yield "</ul>"


def _name(answer: Answer) -> str:
    if answer.label in (None, answer.id):
        return shown(answer.id)
    return f'{shown(answer.label or "")} <span class="faint">{shown(answer.id)}</span>'


def _evidence_view(explanation: Explanation, completed: Statement) -> Iterator[str]:
    answer = explanation.answer
    yield f'<h2 class="message">{_name(answer)}</h2>'
    yield (
        f'<p class="faint">rank {answer.rank}, probability {answer.probability:.3f}; '
        f"{_KNOWN[answer.known]}</p>"
    )
    if explanation.effects:
        yield "<h3>What each qualifier does</h3>"
        yield '<ul class="weighed">'
        yield from (_effect(effect, answer.probability) for effect in explanation.effects)
        yield "</ul>"
    if not explanation.support:
        yield "<p>No statement of the model is near.</p>"
        return
    yield "<h3>Nearest statements</h3>"
    yield '<ul class="weighed">'
    for support in explanation.support:
        yield f"<li>{bar(min(support.closeness, 1.0))}<span>{shown(str(support.statement))}</span></li>"
    yield "</ul>"
    yield (
        '<p class="faint">The bar is how much of the completed statement they share, rare parts counting more. '
        "This is evidence from the data, and says nothing about the inside of the network.</p>"
    )
    yield "<h3>Neighbourhood</h3>"
    near = [support.statement for support in explanation.support[:_DRAWN]]
    drawing = to_svg(_neighbourhood(completed, near), styled=False)
    yield f'<div class="canvas statements" role="region" tabindex="0" aria-label="Neighbourhood">{drawing}</div>'
    yield '<p class="legend">Boxes are statements, ovals are entities, and the word on a line is the part of the entity. '
    yield "The statement with a question mark is the completed one.</p>"


def _completed(completion: Completion, answer: Answer) -> Statement:
    """The question with the answer in its blank."""
    (asked,) = completion.question.statements
    slots = [asked.subject, asked.object, *(value for _, value in asked.qualifiers)]
    slots[int(completion.question.blank[0])] = answer.label or answer.id
    names = (name for name, _ in asked.qualifiers)
    return Statement(slots[0], asked.relation, slots[1], tuple(zip(names, slots[2:], strict=True)))


def _neighbourhood(completed: Statement, near: list[Statement]) -> Hypergraph:
    """The completed statement and those near it; it is drawn as one of them if they hold it."""
    known = any(replace(statement, qualifiers=()) == replace(completed, qualifiers=()) for statement in near)
    more = [] if known else [replace(completed, relation=f"{completed.relation} ?")]
    return Statements.build([*more, *near]).to_hypergraph()


def _effect(effect: Effect, probability: float) -> str:
    gain = probability - effect.probability
    return (
        f"<li>{bar(abs(gain), f'{gain:+.3f}')}<span>{shown(effect.qualifier)} = {shown(effect.value)} "
        f'<span class="faint">without it {effect.probability:.3f}, rank {effect.rank}</span></span></li>'
    )
