"""`hyperheat kg import|train|eval`: statements from files, training a model, and how well it completes them."""

import json as json_module
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from hyperheat.cli.refusal import fail
from hyperheat.files import file_sha256
from hyperheat.kg.datasets import load
from hyperheat.kg.evaluation import MODELS, STARE, Candidates, Evaluation, Protocol
from hyperheat.kg.evaluation import evaluate as evaluate_scorer
from hyperheat.kg.importing import save
from hyperheat.kg.ranking import FilterKey, Scorer
from hyperheat.kg.statements import Statements

__all__ = ["evaluate", "import_statements", "train"]

Format = Literal["wd50k", "wikipeople", "jf17k", "table", "jsonl", "parquet", "rdf", "wikidata"]


def import_statements(
    source: str, *, to: Path, format: Format | None = None, labels: Path | None = None, json: bool = False
) -> None:
    """Read statements with qualifiers, write them in one form, and report what was kept, dropped, repeated and leaked.

    Parameters
    ----------
    source
        A file, a folder with train, valid and test files, or the name of a published data set such as wd50k_100.
    to
        The folder that gets train.jsonl, valid.jsonl, test.jsonl, labels.tsv and report.json.
    format
        The format of the files; detected from extension and content unless given.
    labels
        A file with one id, a tab and its label a line.
    json
        Print the report as JSON.
    """
    try:
        report = save(load(source, format, labels), to)
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
    resume: bool = False,
) -> None:
    """Train a model of statements; under torchrun in several processes.

    Parameters
    ----------
    data
        A folder of statements, such as one that kg import wrote, or the name of a published data set.
    out
        The folder of the run: best/ is the model, metrics.jsonl the log, checkpoints/ what --resume needs.
    recipe
        heat, heat-crossatt, heat-labels, no-encoder, stare, published-stare, published-heat or smallest.
    set
        Settings that differ from the recipe, such as train_on=train model.encoder.dim=64 train.max_minutes=30.
    labels
        A file with one id, a tab and its label a line.
    resume
        Go on with the run in the folder.
    """
    from hyperheat.kg.neural.recipes import RECIPES
    from hyperheat.kg.neural.training import train_model
    from hyperheat.options import cook
    from hyperheat.train import TrainingError

    try:
        settings = cook(RECIPES, recipe, set)
        outcome = train_model(settings, load(data, labels=labels), out, resume=resume)
    except (ValueError, OSError, TrainingError) as error:
        fail(error)
    if outcome.ended_by == "signal":
        raise SystemExit(130)


def evaluate(
    *,
    model: str,
    data: str,
    train_on: Literal["train", "train+valid"] = STARE.train_on,
    on: Literal["valid", "test"] = STARE.evaluate_on,
    filter: FilterKey = STARE.filter_key,
    candidates: Candidates = STARE.candidates,
    without_leaks: bool = STARE.without_leaks,
    export: Path | None = None,
    json: bool = False,
) -> None:
    """Rank the true object and the true subject of every statement; the defaults are StarE's protocol.

    Parameters
    ----------
    model
        The folder of a trained model, such as best/ of a run; or heuristic: co-occurrence in the training data, untrained.
    data
        A folder of statements, such as one that kg import wrote, or the name of a published data set.
    train_on
        The splits that the model may know.
    on
        The split that is evaluated.
    filter
        Other known answers are not counted as wrong if they answer the same entity, relation and qualifiers, or the same
        entity and relation alone (triple).
    candidates
        main: entities that are subject or object in any split; training: in the training data; all: every entity.
    without_leaks
        Leave out the statements whose subject, relation and object stand in the training data.
    export
        Write the vectors of entities and relations into this file, which ends in .safetensors or .parquet.
    json
        Print one JSON object.
    """
    try:
        protocol = Protocol(
            train_on=train_on,
            evaluate_on=on,
            filter_key=filter,
            candidates=candidates,
            without_leaks=without_leaks,
        )
        make, identity = _scorer(model, export)
        evaluation = evaluate_scorer(load(data), make, protocol)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        sys.stdout.write(
            json_module.dumps({"model": model, **identity, **evaluation.to_json()}, indent=1) + "\n"
        )
    else:
        sys.stdout.write(_table(model, evaluation) + "\n")


def _scorer(model: str, export: Path | None) -> tuple[Callable[[Statements], Scorer], dict[str, Any]]:
    """How to make the scorer, and what identifies the model; vectors are written on the way if asked for."""
    if model in MODELS:
        if export is not None:
            raise ValueError(f"export: expected a trained model, got {model}, which has no vectors")
        return MODELS[model], {"weights_sha256": None, "parameters": 0}
    if not Path(model).is_dir():
        raise ValueError(
            f"model: expected {' or '.join(MODELS)}, or the folder of a trained model, got {model!r}"
        )
    from hyperheat.kg.neural.export import export_embeddings
    from hyperheat.kg.neural.folder import load_model
    from hyperheat.kg.neural.scorer import scorer_for

    trained = load_model(model)
    if export is not None:
        export_embeddings(trained, export)
    digest = file_sha256(Path(model) / "model.safetensors")
    return partial(scorer_for, trained), {"weights_sha256": digest, "parameters": trained.parameters}


def _table(model: str, evaluation: Evaluation) -> str:
    protocol = evaluation.protocol
    name = "StarE's protocol" if protocol == STARE else "protocol"
    settings = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in asdict(protocol).items())
    rows = [
        f"{model} on {evaluation.dataset}: {evaluation.statements:,} statements (SHA-256 {evaluation.sha256[:12]}), "
        f"{evaluation.candidates:,} candidates, {evaluation.ranking.tied:,} answers tied",
        f"{name}: {settings}",
        "",
        f"{'':<14} {'queries':>8} {'MRR':>6} {'H@1':>6} {'H@3':>6} {'H@10':>6}",
    ]
    for group, m in evaluation.ranking.metrics().items():
        rows.append(f"{group:<14} {m.queries:>8,} {m.mrr:>6.3f} {m.h1:>6.3f} {m.h3:>6.3f} {m.h10:>6.3f}")
    return "\n".join(rows)


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
