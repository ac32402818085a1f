"""A trained detector as a folder to give away: what `hyperheat check --model` takes, with a model card.

A run writes the same folders, without the card and in float32; `detector.manifest` says what is in them.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch

import hyperheat
from hyperheat.bugs.trained_detector import MODEL_CARD, TrainedDetector, save_trained
from hyperheat.detector.manifest import CALIBRATION, WEIGHTS
from hyperheat.detector.scorer import MAX_SLOTS
from hyperheat.files import parse_json, write_whole_text
from hyperheat.nn import HeatConfig, RoleConfig
from hyperheat.rewrites import KINDS

__all__ = ["Precision", "export_detector", "facts_of_corpora"]

Precision = Literal["float32", "float16"]


def export_detector(
    detector: TrainedDetector,
    folder: str | Path,
    *,
    facts: Mapping[str, str],
    licence: str,
    precision: Precision = "float32",
) -> None:
    """Write a detector whose encoder is HEAT, or a variant of it, for `Scorer.load`; each file appears whole.

    `facts` are lines of the model card, such as what it was trained on.
    """
    if not isinstance(detector.config.model, HeatConfig | RoleConfig):
        name = type(detector.config.model).__name__.removesuffix("Config")
        raise ValueError(
            f"expected a detector with HEAT or a variant of it, got {name}, which only torch runs"
        )
    folder = Path(folder)
    model = deepcopy(detector.model).to(getattr(torch, precision))
    save_trained(replace(detector, model=model), folder)
    write_whole_text(folder / MODEL_CARD, _card(detector, folder, facts, licence, precision))


def facts_of_corpora(folders: Sequence[str | Path]) -> dict[str, str]:
    """What the model card says of the samples that a model was trained on, from the manifests of its corpora."""
    counts = [_counts(Path(folder) / "manifest.json") for folder in folders]
    packages, samples, clean = (sum(column) for column in zip(*counts, strict=True))
    return {
        "Trained on": f"{samples:,} samples from {packages:,} packages, {samples - clean:,} of them with a planted bug",
    }


def _counts(path: Path) -> tuple[int, int, int]:
    """Packages, samples, and samples without a bug of the training split."""
    try:
        counts = parse_json(path.read_text(encoding="utf-8"))["counts"]
        clean = counts["kinds"]["train"].get("clean", 0)
        return counts["packages"]["train"], counts["samples"]["train"], clean
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: not the manifest of a corpus: {error!r}") from error


def _card(
    detector: TrainedDetector, folder: Path, facts: Mapping[str, str], licence: str, precision: Precision
) -> str:
    model, vocab = detector.config.model, detector.vocab
    assert isinstance(model, HeatConfig | RoleConfig)
    with_roles = isinstance(model, RoleConfig)
    third = ("kinds of slots", model.roles) if with_roles else ("heads", model.heads)
    megabytes = (folder / WEIGHTS).stat().st_size / 1e6
    rows = {
        "Parameters": f"{detector.parameters:,}",
        f"Width, layers, {third[0]}, hidden width": f"{model.dim}, {model.layers}, {third[1]}, {model.hidden}",
        "Vocabulary": f"{len(vocab.labels):,} subtokens of labels, {len(vocab.names):,} of names",
        "Reads": "hypergraphs cut into pairs" if detector.config.binarise else "hypergraphs",
        "Weights": f"stored in {precision}, computed in float32",
        "File": f"{WEIGHTS}, {megabytes:.1f} MB, sha256 in manifest.json",
        "Exported by": f"hyperheat {hyperheat.__version__}",
        "Licence": licence,
        **facts,
    }
    table = "\n".join(f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items())
    network = (
        "HEAT with a matrix for each kind of slot" if with_roles else "HEAT, a hyperedge attention network,"
    )
    return _TEMPLATE.format(
        network=network, table=table, kinds=", ".join(KINDS), slots=MAX_SLOTS, calibration=CALIBRATION
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_TEMPLATE = """# A detector of bugs in Python functions

{network} with a head that points at the place of a bug, or at none, and chooses the repair
from a list of small rewrites. `hyperheat check` runs it.

| | |
|---|---|
{table}

## What it finds

One wrong place in one function, of these kinds: {kinds}. The repair is one of the rewrites that hyperheat lists for the
function.

## Limits

- It sees one function at a time: no types from elsewhere, no tests, no intent beyond names and structure.
- Its probabilities are those of its training data, in which bugs are frequent. In real code they are rare, so
  the raw probability of a finding is too high. Where `{calibration}` lies beside this file, its measured figures hold.
- A finding is a suspicion to read, not a proof; no finding does not mean no bug.
- Functions with a relation of more than {slots} nodes, about as many tokens, are not scored.
"""
