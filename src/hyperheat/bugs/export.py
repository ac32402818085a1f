"""A trained detector as a folder for the scanner, which needs neither torch nor onnx.

model.onnx      the graph with its weights       config.json     how to feed it, and its settings
vocab.json      the subtokens                    manifest.json   size and sha256 of these files
MODEL_CARD.md   what it is, for people           calibration.json  is added by `detector.calibration`
"""

import json
from collections.abc import Mapping
from pathlib import Path

import hyperheat
from hyperheat.bugs.folder import TrainedDetector
from hyperheat.bugs.onnx.graph import Precision
from hyperheat.bugs.onnx.heat import detector_graph
from hyperheat.configuration import to_dict
from hyperheat.detector.checks import OPSET, check_graph
from hyperheat.detector.interface import MAX_SLOTS
from hyperheat.detector.manifest import CALIBRATION, FILES, FORMAT, describe_file
from hyperheat.detector.sample import TEXTS
from hyperheat.files import parse_json, whole_file
from hyperheat.nn import HeatConfig
from hyperheat.rewrites import KINDS

__all__ = ["export_detector", "facts_of_corpus"]


def export_detector(
    detector: TrainedDetector,
    folder: str | Path,
    *,
    facts: Mapping[str, str],
    licence: str,
    precision: Precision = "float32",
) -> None:
    """Write a detector whose encoder is HEAT, or a variant of it, for `Scorer.load`; each file appears whole.

    `facts` are lines of the model card, such as what it was trained on. The manifest is written last, so that a folder
    that was left half-written is refused.
    """
    if not isinstance(detector.config.model, HeatConfig):
        name = type(detector.config.model).__name__.removesuffix("Config")
        raise ValueError(
            f"expected a detector with HEAT or a variant of it, got {name}, which has no ONNX form"
        )
    model = detector_graph(detector.model, precision).SerializeToString()
    check_graph(model)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(missing_ok=True)
    (folder / CALIBRATION).unlink(missing_ok=True)  # that of the model before
    with whole_file(folder / "model.onnx") as temporary:
        temporary.write_bytes(model)
    detector.vocab.save(folder / "vocab.json")
    config = {
        "format": FORMAT,
        "dim": detector.config.model.dim,
        "binarise": detector.config.binarise,
        "parameters": detector.parameters,
        "precision": precision,
        "texts": TEXTS,
        "model": to_dict(detector.config)["model"],
    }
    _write(folder / "config.json", json.dumps(config, indent=1) + "\n")
    _write(folder / "MODEL_CARD.md", _card(detector, folder, facts, licence, precision))
    listed = {name: describe_file(folder / name) for name in FILES}
    manifest = {"format": FORMAT, "hyperheat": hyperheat.__version__, "opset": OPSET, "files": listed}
    _write(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")


def facts_of_corpus(folder: str | Path) -> dict[str, str]:
    """What the model card says of the samples that a model was trained on, from the corpus' manifest."""
    path = Path(folder) / "manifest.json"
    try:
        counts = parse_json(path.read_text(encoding="utf-8"))["counts"]
        packages, samples = counts["packages"]["train"], counts["samples"]["train"]
        clean = counts["kinds"]["train"].get("clean", 0)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: not the manifest of a corpus: {error!r}") from error
    return {
        "Trained on": f"{samples:,} samples from {packages:,} packages, {samples - clean:,} of them with a planted bug",
    }


def _write(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _card(
    detector: TrainedDetector, folder: Path, facts: Mapping[str, str], licence: str, precision: Precision
) -> str:
    model, vocab = detector.config.model, detector.vocab
    assert isinstance(model, HeatConfig)
    megabytes = (folder / "model.onnx").stat().st_size / 1e6
    rows = {
        "Parameters": f"{detector.parameters:,}",
        "Width, layers, heads, hidden width": f"{model.dim}, {model.layers}, {model.heads}, {model.hidden}",
        "Vocabulary": f"{len(vocab.labels):,} subtokens of labels, {len(vocab.names):,} of names",
        "Reads": "hypergraphs cut into pairs" if detector.config.binarise else "hypergraphs",
        "Weights": f"stored in {precision}, computed in float32",
        "File": f"model.onnx, {megabytes:.1f} MB, ONNX opset {OPSET}, sha256 in manifest.json",
        "Exported by": f"hyperheat {hyperheat.__version__}",
        "Licence": licence,
        **facts,
    }
    table = "\n".join(f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items())
    return _TEMPLATE.format(table=table, kinds=", ".join(KINDS), slots=MAX_SLOTS, calibration=CALIBRATION)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_TEMPLATE = """# A detector of bugs in Python functions

HEAT, a hyperedge attention network, with a head that points at the place of a bug, or at none, and chooses the repair
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
