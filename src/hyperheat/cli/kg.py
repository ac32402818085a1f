"""`hyperheat kg import|train|eval|calibrate|complete|demo`: statements from files, models of them, and their answers."""

import json as json_module
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hyperheat import kg
from hyperheat.cli.refusal import fail

if TYPE_CHECKING:
    import numpy as np

    from hyperheat.kg import Completer, Completion, Explanation, Questions, RankEvaluation
    from hyperheat.kg.breakdown import Breakdown

__all__ = ["calibrate", "complete", "demo", "evaluate", "import_statements", "train"]

DataFormat = Literal["wd50k", "wikipeople", "jf17k", "table", "jsonl", "parquet", "rdf", "wikidata"]
TrainOn = Literal["train", "train+valid"]
On = Literal["valid", "test"]
_TOGETHER = 32  # questions of a batch file that are scored at once


def import_statements(
    source: str, *, to: Path, format: DataFormat | None = None, labels: Path | None = None, json: bool = False
) -> None:
    """Read statements with qualifiers, convert them to JSON lines, and report what was kept, dropped, repeated and leaked.

    Parameters
    ----------
    source
        A file, a folder with train, valid and test files, or the name of a published data set such as wd50k_100.
    to
        The folder to write train.jsonl, valid.jsonl, test.jsonl, labels.tsv and report.json to.
    format
        The format of the files; by default detected from the extension and the first lines.
    labels
        A file with an id, a tab and a label on each line.
    json
        Print the report as JSON.
    """
    from hyperheat.kg.audit import save_dataset

    try:
        report = save_dataset(kg.read(source, format=format, labels=labels), to)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    text = json_module.dumps(report, indent=1, ensure_ascii=False) if json else _report(report, to)
    sys.stdout.write(text + "\n")


def train(
    *,
    data: str,
    out: Path,
    recipe: str = "heat",
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    labels: Path | None = None,
    validate_on: str | None = None,
    resume: bool = False,
) -> None:
    """Train a model of statements. Start it with torchrun to use several processes.

    Parameters
    ----------
    data
        A folder of statements, such as one written by kg import, or the name of a published data set.
    out
        The folder of the run: best/ is the model, metrics.jsonl the log, checkpoints/ what --resume needs.
    recipe
        heat, heat-surroundings, heat-crossatt, heat-labels, heat-large, heat-unseen, heat-inductive, no-encoder, stare,
        stare-labels or smallest; as published:
        published-stare, published-stare-labels, published-heat, published-heat-crossatt, published-heat-crossatt-labels
        or hy-transformer.
    set
        Settings that differ from the recipe, such as train_on=train model.encoder.dim=64 train.max_minutes=30.
    labels
        A file with an id, a tab and a label on each line.
    validate_on
        A folder of statements about other entities: keep the model that answers its valid split best after reading its
        train split, for models that will be asked about entities they were not trained on.
    resume
        Continue the run in the folder.
    """
    from hyperheat.train import TrainingError

    try:
        dataset = kg.read(data, labels=labels)
        outcome = kg.train(dataset, out, recipe=recipe, set=set, validate_on=validate_on, resume=resume)
    except (ValueError, OSError, TrainingError) as error:
        fail(error)
    if outcome.ended_by == "signal":
        raise SystemExit(130)


def evaluate(
    *,
    model: str,
    data: str,
    train_on: TrainOn = "train+valid",
    on: On = "test",
    filter: Literal["qualifiers", "triple"] = "qualifiers",
    candidates: Literal["stare", "main", "training", "all"] = "stare",
    without_leaks: bool = False,
    ask: Literal["main", "values", "relations"] = "main",
    by: Literal["qualifiers", "degree", "relation"] = "qualifiers",
    without_graph: bool = False,
    inductive: bool = False,
    export: Path | None = None,
    json: bool = False,
) -> None:
    """Rank the true object and the true subject of every statement. The defaults are StarE's protocol.

    Parameters
    ----------
    model
        The folder of a trained model, such as best/ of a run; demo; or heuristic: co-occurrence in the training data.
    data
        A folder of statements, such as one written by kg import; demo; or the name of a published data set.
    train_on
        The splits that the model was trained on.
    on
        The split to evaluate on.
    filter
        Which known answers do not count as wrong: those to the same entity, relation and qualifiers, or those to the same
        entity and relation (triple).
    candidates
        main: entities that are subject or object in any split; training: in the training data; all: every entity; stare:
        all for JF17K and WikiPeople, main for other data, as in StarE's code.
    without_leaks
        Leave out statements whose subject, relation and object occur together in the training data.
    ask
        main: objects and subjects; values: the values of qualifiers; relations: the relations of main triples.
    by
        Group the ranks by the number of qualifiers, by relation, or by the degree of the answer: the number of training
        statements that it is in.
    without_graph
        Hide all statements from the encoder, to see what the graph is worth.
    inductive
        The model was trained on other data: let it read the training data of --data without training.
    export
        Write the vectors of entities and relations to this .safetensors or .parquet file.
    json
        Print one JSON object.
    """
    try:
        protocol = kg.Protocol(
            train_on=train_on,
            evaluate_on=on,
            filter_key=filter,
            candidates=candidates,
            without_leaks=without_leaks,
            ask=ask,
        )
        reading = {"without_graph": without_graph, "inductive": inductive}
        evaluation, identity = _evaluate(model, data, protocol, by, reading, export)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        record = {"model": model, **identity, **evaluation.to_json()}
        sys.stdout.write(json_module.dumps(record, indent=1) + "\n")
    else:
        sys.stdout.write(f"{model} on {evaluation}\n")


def _evaluate(
    model: str,
    data: str,
    protocol: kg.Protocol,
    by: "Breakdown",
    reading: dict[str, bool],
    export: Path | None,
) -> tuple["RankEvaluation", dict[str, Any]]:
    """The ranks, and what identifies the model; its vectors are written on the way."""
    if model == "heuristic":
        if export is not None:
            raise ValueError("--export: the heuristic has no vectors")
        if reading["without_graph"]:
            raise ValueError("--without-graph: the heuristic has nothing but the graph")
        return kg.evaluate(model, data, protocol, by=by), {"weights_sha256": None, "parameters": 0}
    from hyperheat.files import file_sha256

    folder = kg.model_folder(model)
    from hyperheat.kg.neural.trained_model import export_embeddings, load_model

    trained = load_model(folder)
    if export is not None:
        export_embeddings(trained, export)
    digest = file_sha256(folder / "model.safetensors")
    evaluation = kg.evaluate(trained, data, protocol, by=by, **reading)
    return evaluation, {"weights_sha256": digest, "parameters": trained.parameters}


def calibrate(
    *, model: Path, data: str, train_on: TrainOn = "train+valid", on: On = "test", limit: int = 1_000
) -> None:
    """Choose the temperature of a model's probabilities on held-out statements, and store it in the model's folder.

    Parameters
    ----------
    model
        The folder of a trained model, such as best/ of a run; calibration.json is written to it.
    data
        The statements that it was trained on and those held out: a folder, or the name of a published data set.
    train_on
        The splits that the model was trained on.
    on
        The held-out split.
    limit
        Use at most this many statements of the split, evenly spaced.
    """
    try:
        found = kg.calibrate(model, data, train_on=train_on, on=on, limit=limit)
    except (ValueError, OSError) as error:
        fail(error)
    sys.stdout.write(
        f"temperature {found.temperature:.2f}, chosen on {found.questions:,} questions of {on}: "
        f"calibration error {found.error:.3f}, with temperature 1 {found.error_before:.3f}\n"
    )


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
    with_: Annotated[Path | None, Parameter(name=["--with"])] = None,
    json: bool = False,
) -> None:
    r"""Fill in the blank of a statement such as 'Albert Einstein | educated at | ? | academic degree=PhD'.

    Parameters
    ----------
    question
        subject | relation | object | qualifier=value | ..., by ids or labels, one of them ?; write a | inside a name as \|.
    model
        The folder of a trained model, such as best/ of a run; demo; or heuristic: co-occurrence in --data, without torch.
    data
        For the heuristic: a file or folder of statements, or the name of a published data set.
    k
        The number of answers.
    exclude_known
        Leave out answers that the statements of the model already hold.
    candidates
        A file with an id or label on each line: only these may answer.
    explain
        Explain the answer of this rank: the effect of each qualifier, and the nearest known statements.
    batch
        A file with a question on each line, as text or as a JSON object with null for the blank; - reads standard input.
        Answers are printed as JSON, one line each.
    labels
        A file with an id, a tab and a label on each line, for a model that has none.
    with_
        A file of statements to add to those of the model, without training; they may have entities that it never saw.
    json
        Print one JSON object.
    """
    from hyperheat.kg.questions import parse_question

    if (question is None) == (batch is None):
        fail("give either a question or --batch" + (", not both" if batch else ""))
    if explain is not None and not 1 <= explain <= k:
        fail(f"--explain: expected the rank of an answer, 1 to {k}, got {explain}")
    try:
        asked = None if question is None else parse_question(question)
        completer = kg.load(model, data=data, labels=labels)
        if with_ is not None:
            completer = completer.with_statements(kg.read(str(with_)).every())
        asking = _Asking(completer, k, exclude_known, _mask(completer, candidates), explain)
        if asked is not None:
            _write_one(asking, asked, json)
        elif batch is not None and (failed := _write_batch(asking, batch)):
            sys.stderr.write(f"{failed:,} questions could not be answered\n")
            raise SystemExit(1)
    except (ValueError, OSError) as error:
        fail(error)


@dataclass(frozen=True)
class _Asking:
    """A model, and the options of a question."""

    completer: "Completer"
    k: int
    exclude_known: bool
    mask: "np.ndarray | None"
    explain: int | None

    def answer(self, questions: "Questions") -> Iterator[tuple["Completion", "Explanation | None"]]:
        """The answers, with an explanation if one is wanted and there are that many answers."""
        completions = self.completer.ask_all(
            questions, k=self.k, exclude_known=self.exclude_known, mask=self.mask
        )
        for completion in completions:
            if self.explain is None or self.explain > len(completion):
                yield completion, None
            else:
                yield completion, self.completer.explain(completion, self.explain)


def _write_one(asking: _Asking, question: "Questions", json: bool) -> None:
    from hyperheat.visible_text import dump_json, visible

    ((completion, explanation),) = asking.answer(question)
    if json:
        sys.stdout.write(dump_json(_record(completion, explanation), indent=1) + "\n")
        return
    text = f"{completion}\n" + ("" if explanation is None else f"\n{explanation}\n")
    sys.stdout.writelines(f"{visible(line)}\n" for line in text.splitlines())


def _write_batch(asking: _Asking, path: Path) -> int:
    """Write a line of JSON for each question; how many could not be answered."""
    from hyperheat.kg.questions import join_questions
    from hyperheat.kg.readers.items import lines
    from hyperheat.visible_text import dump_json

    failed = 0
    from_terminal = path == Path("-")  # answer each question as soon as it is typed
    numbered = enumerate(sys.stdin, start=1) if from_terminal else lines(path)
    while chunk := list(islice(numbered, 1 if from_terminal else _TOGETHER)):
        read = {number: _question(asking.completer, text) for number, text in chunk if text.strip()}
        answers = asking.answer(join_questions(q for q in read.values() if not isinstance(q, str)))
        for number, question in read.items():
            if isinstance(question, str):
                record = {"line": number, "error": question}
                failed += 1
            else:
                record = {"line": number, **_record(*next(answers))}
            sys.stdout.write(dump_json(record) + "\n")
        sys.stdout.flush()
    return failed


def _question(completer: "Completer", text: str) -> "Questions | str":
    """The question on a line, or why it cannot be asked."""
    from hyperheat.kg.questions import parse_line

    try:
        question = parse_line(text)
        completer.resolve(question)
    except ValueError as error:
        return str(error)
    return question


def _record(completion: "Completion", explanation: "Explanation | None") -> dict[str, Any]:
    return completion.to_json() | ({} if explanation is None else {"explanation": explanation.to_json()})


def _mask(completer: "Completer", path: Path | None) -> "np.ndarray | None":
    """The candidates listed in a file; an error names the line."""
    from hyperheat.kg.readers import ReadError
    from hyperheat.kg.readers.items import lines

    if path is None:
        return None
    names = []
    for number, line in lines(path):
        try:
            names.append(completer.entities.names[completer.entities.find(line.strip())])
        except ValueError as error:
            raise ReadError(path, number, str(error)) from None
    return completer.mask(names)


def demo() -> None:
    """Ask a small model of scientists, universities and prizes a few questions, and explain its answers."""
    from hyperheat.kg.demo import DATA, QUESTIONS

    model = kg.load("demo")
    sys.stdout.write(f"{len(model.statements):,} statements, {len(model.entities.names):,} entities\n")
    for question in QUESTIONS:
        found = model.ask(question, k=3)
        sys.stdout.write(f"\n{found}\n{model.explain(found, support=2)}\n")
    sys.stdout.write(
        "\nnew: not in the statements of the model. Ask your own:\n"
        f"  hyperheat kg complete --model demo '{QUESTIONS[0]}' --explain 1\n"
        f"The statements are in {DATA}\n"
    )


def _report(report: dict[str, Any], folder: Path) -> str:
    known = f", which is {report['dataset']}" if report["dataset"] else ""
    rows = [
        f"{report['source']} ({report['format']}){known} -> {folder}",
        f"{report['entities']:,} entities, {report['labelled_entities']:,} with a label; "
        f"{report['relations']:,} relations, {report['labelled_relations']:,} with a label",
    ]
    if report["also_relations"]:
        rows.append(f"{report['also_relations']:,} ids are entity and relation: each role has its own row")
    if report["labels_of_unknown_ids"]:
        rows.append(f"{report['labels_of_unknown_ids']:,} labels belong to ids in no statement")
    for split, facts in report["splits"].items():
        rows.append(
            f"{split}: kept {facts['statements']:,} statements, {facts['with_qualifiers']:,} with qualifiers, "
            f"{facts['duplicates']:,} duplicates"
        )
        rows.extend(f"  dropped {count:,}: {reason}" for reason, count in facts["dropped"].items())
    for split, leaks in report["leaks"].items():
        rows.append(f"leaks into {split}, of {leaks['statements']:,} statements:")
        rows.extend(
            f"  {count:,} ({count / leaks['statements']:.1%}) {_LEAKS[name]}"
            for name, count in leaks.items()
            if name in _LEAKS
        )
        rows.append(f"  {report['unseen_entities'][split]:,} entities are in no earlier split")
    return "\n".join(rows)


_LEAKS = {
    "equal_statements": "are equal to a statement of an earlier split",
    "equal_triples": "have the main triple of one",
    "main_pairs": "have subject and object together in one",
    "entity_sets": "have all entities in one with another main triple, in other roles",
}
