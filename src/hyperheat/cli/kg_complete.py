"""`hyperheat kg complete`: fill in the blank of a statement."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from hyperheat.cli.refusal import fail
from hyperheat.kg.asking import Question, parse_line, parse_question
from hyperheat.kg.completion import Completer, Completion
from hyperheat.kg.explaining import Explanation
from hyperheat.kg.models import load
from hyperheat.kg.readers.stream import ReadError, lines
from hyperheat.report.safe import dump_json, visible

__all__ = ["complete"]

_TOGETHER = 32  # questions of a batch that are scored at once


def complete(
    question: str | None = None,
    *,
    model: str,
    data: str | None = None,
    k: Annotated[int, Parameter(name=["-k"])] = 10,
    exclude_known: bool = False,
    candidates: Path | None = None,
    explain: int | None = None,
    batch: Path | None = None,
    labels: Path | None = None,
    json: bool = False,
) -> None:
    r"""Fill in the blank of 'Albert Einstein | educated at | ? | academic degree=PhD': an entity in whatever place.

    Parameters
    ----------
    question
        subject | relation | object | qualifier=value | ..., by ids or labels, one of them ?; a | inside a name is \|.
    model
        The folder of a trained model, such as best/ of a run; or heuristic: co-occurrence in --data, which needs no torch.
    data
        For the heuristic: a file or folder of statements, or the name of a published data set.
    k
        The number of answers.
    exclude_known
        Leave out the answers that the model's statements hold already.
    candidates
        A file with one id or label a line: only these may answer.
    explain
        Say why for the answer of this rank: the effect of each qualifier, and the nearest known statements.
    batch
        A file of questions, one a line, as text or as JSON objects with null for the blank; - reads standard input.
        The answers are printed as JSON, one line each.
    labels
        A file with one id, a tab and its label a line, for a model that has none.
    json
        Print one JSON object.
    """
    if (question is None) == (batch is None):
        fail("expected either a question or --batch, got " + ("neither" if question is None else "both"))
    if explain is not None and not 1 <= explain <= k:
        fail(f"--explain: expected the rank of an answer, 1 to {k}, got {explain}")
    try:
        asked = None if question is None else parse_question(question)
        completer = load(model, data=data, labels=labels)
        teller = _Teller(completer, k, exclude_known, _mask(completer, candidates), explain)
        if asked is not None:
            _write_one(teller, asked, json)
        elif batch is not None and (failed := _write_batch(teller, batch)):
            sys.stderr.write(f"{failed:,} questions could not be answered\n")
            raise SystemExit(1)
    except (ValueError, OSError) as error:
        fail(error)


@dataclass(frozen=True)
class _Teller:
    """A model, and how it is asked."""

    completer: Completer
    k: int
    exclude_known: bool
    mask: np.ndarray | None
    explain: int | None

    def answer(self, questions: list[Question]) -> Iterator[tuple[Completion, Explanation | None]]:
        """The answers, with reasons if they are wanted and so many answers were found."""
        completions = self.completer.ask_all(
            questions, k=self.k, exclude_known=self.exclude_known, mask=self.mask
        )
        for completion in completions:
            if self.explain is None or self.explain > len(completion):
                yield completion, None
            else:
                yield completion, self.completer.explain(completion, self.explain)


def _write_one(teller: _Teller, question: Question, json: bool) -> None:
    ((completion, explanation),) = teller.answer([question])
    if json:
        sys.stdout.write(dump_json(_record(completion, explanation), indent=1) + "\n")
        return
    text = f"{completion}\n" + ("" if explanation is None else f"\n{explanation}\n")
    sys.stdout.writelines(f"{visible(line)}\n" for line in text.splitlines())


def _write_batch(teller: _Teller, path: Path) -> int:
    """Write a line of JSON for each question; how many could not be answered."""
    failed = 0
    from_terminal = path == Path("-")  # whoever writes questions there may wait for each answer
    numbered = enumerate(sys.stdin, start=1) if from_terminal else lines(path)
    while chunk := list(islice(numbered, 1 if from_terminal else _TOGETHER)):
        read = {number: _question(teller.completer, text) for number, text in chunk if text.strip()}
        questions = [question for question in read.values() if isinstance(question, Question)]
        answers = teller.answer(questions)
        for number, question in read.items():
            if isinstance(question, Question):
                record = {"line": number, **_record(*next(answers))}
            else:
                record = {"line": number, "error": question}
                failed += 1
            sys.stdout.write(dump_json(record) + "\n")
        sys.stdout.flush()
    return failed


def _question(completer: Completer, text: str) -> Question | str:
    """The question of a line, or why it cannot be asked."""
    try:
        question = parse_line(text)
        completer.resolve(question, [])
    except ValueError as error:
        return str(error)
    return question


def _record(completion: Completion, explanation: Explanation | None) -> dict[str, Any]:
    return completion.to_json() | ({} if explanation is None else {"explanation": explanation.to_json()})


def _mask(completer: Completer, path: Path | None) -> np.ndarray | None:
    """The candidates of a file; one that the model does not know is refused with its line."""
    if path is None:
        return None
    names = []
    for number, line in lines(path):
        try:
            names.append(completer.entities.names[completer.entities.find(line.strip())])
        except ValueError as error:
            raise ReadError(path, number, str(error)) from None
    return completer.mask(names)
