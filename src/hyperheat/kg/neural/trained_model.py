"""A trained model: the folder that keeps it, its scores, and its vectors as a file.

The folder holds no code:

    config.json              the parts of the model
    model.safetensors        its weights
    names.json               entities, relations and labels
    statements.safetensors   the statements that it was trained on, which its encoder reads
    questions.json           the kinds of questions that it was trained on
    tokenizer.json           of labels, where they are read
    calibration.json         its temperature, if it was calibrated (hyperheat/kg/temperature.py)
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from torch import Tensor

from hyperheat.configuration import from_dict, to_dict
from hyperheat.files import parse_json, whole_file, write_whole_text
from hyperheat.kg.neural.decoder import tokenise
from hyperheat.kg.neural.graph_encoders import HeatGraph, Table
from hyperheat.kg.neural.labels import BpeLabels
from hyperheat.kg.neural.pieces import encode_in_pieces
from hyperheat.kg.neural.stare import StareDecoder
from hyperheat.kg.neural.statement_model import ModelConfig, ModelNames, StatementModel
from hyperheat.kg.neural.surroundings import SurroundingsIndex, add_surroundings
from hyperheat.kg.questions import Practice, Questions
from hyperheat.kg.statements import Statements
from hyperheat.nn.weights import load_weights, save_weights
from hyperheat.tensors.indices import to_tensors

__all__ = [
    "ModelScorer",
    "TrainedModel",
    "encode_all",
    "export_embeddings",
    "load_model",
    "save_model",
    "scorer_for",
]

T = TypeVar("T")
_Names = dict[str, tuple[str, ...]]
_Vectors = dict[str, np.ndarray]
_AT_ONCE = 1 << 16
"""Statements that are encoded at once where no gradient is needed."""
_COLUMNS = ("subject", "relation", "object", "offsets", "qualifier", "value")


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedModel:
    """A model with everything needed to ask it."""

    config: ModelConfig
    names: ModelNames
    statements: Statements
    """what the encoder reads: the distinct statements of the training data"""
    model: StatementModel
    practice: Practice = Practice()

    @classmethod
    def new(
        cls,
        config: ModelConfig,
        names: ModelNames,
        statements: Statements,
        practice: Practice | None = None,
    ) -> "TrainedModel":
        """A model with fresh weights from torch's random numbers."""
        model = StatementModel(config, names)
        return cls(
            config=config, names=names, statements=statements, model=model, practice=practice or Practice()
        )

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())


def save_model(trained: TrainedModel, folder: str | Path) -> None:
    """Write a model to a folder; each file appears complete or not at all."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = asdict(trained.names)
    tokenizer = names.pop("tokenizer")
    texts = {
        "config.json": json.dumps(to_dict(trained.config), indent=2),
        "names.json": json.dumps(names),
        "questions.json": json.dumps(asdict(trained.practice)),
    }
    if tokenizer is not None:
        texts["tokenizer.json"] = tokenizer
    for name, text in texts.items():
        write_whole_text(folder / name, text + "\n")
    with whole_file(folder / "statements.safetensors") as temporary:
        columns = {name: np.ascontiguousarray(getattr(trained.statements, name)) for name in _COLUMNS}
        save_file(columns, temporary)
    save_weights(trained.model, folder / "model.safetensors")


def load_model(folder: str | Path) -> TrainedModel:
    """Read a folder that `save_model` wrote."""
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder}: not the folder of a trained model: it has no config.json")
    config = _read(folder / "config.json", lambda values: from_dict(ModelConfig, values))
    tokenizer = _read_tokenizer(folder / "tokenizer.json") if isinstance(config.labels, BpeLabels) else None
    names = _read(folder / "names.json", lambda values: _names(values, tokenizer))
    path = folder / "statements.safetensors"
    try:
        columns = {name: array for name, array in load_file(path).items() if name in _COLUMNS}
        statements = Statements(entities=names.entities, relations=names.relations, **columns)
    except (SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the statements of a model: {error}") from error
    path = folder / "questions.json"
    practice = _read(path, lambda values: from_dict(Practice, values)) if path.exists() else Practice()
    trained = TrainedModel.new(config, names, statements, practice)
    load_weights(trained.model, folder / "model.safetensors")
    trained.model.eval()
    return trained


def _names(values: dict[str, Any], tokenizer: str | None) -> ModelNames:
    labels = dict(values["labels"])
    entities, relations = tuple(values["entities"]), tuple(values["relations"])
    for text in (*entities, *relations, *labels, *labels.values()):
        if not isinstance(text, str):
            raise ValueError(f"expected names and labels, got {text!r}")
    return ModelNames(entities=entities, relations=relations, labels=labels, tokenizer=tokenizer)


def _read_tokenizer(path: Path) -> str:
    from tokenizers import Tokenizer

    text = path.read_bytes().decode("utf-8", "replace")
    try:
        Tokenizer.from_str(text)
    except Exception as error:  # the package has no class of its own for what it cannot read
        raise ValueError(f"{path}: not a tokenizer: {error}") from error
    return text


def _read(path: Path, build: Callable[[Any], T]) -> T:
    try:
        return build(parse_json(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: not a file of a trained model: {error}") from error


@torch.no_grad()
def encode_all(model: StatementModel, statements: Statements, *, at_once: int = _AT_ONCE) -> Table:
    """The table of all entities and relations in the graph of all statements; larger graphs are encoded in pieces.

    The pieces keep memory bounded and give the same vectors, up to rounding.
    """
    if len(statements) <= at_once or not isinstance(model.encoder, HeatGraph):
        return model.encode(to_tensors(model.plan(statements), model.entity.device))
    first = model.first()
    return model.pass_by(first, encode_in_pieces(model.encoder, first, model.cut(statements)))


class ModelScorer:
    """Scores all entities; the graph is encoded once, at construction.

    With `without_graph` the encoder reads no statements, which shows what the graph is worth.
    """

    @torch.no_grad()
    def __init__(self, trained: TrainedModel, *, without_graph: bool = False) -> None:
        self.trained = trained
        self._model, self._statements = trained.model, trained.statements
        self._device = trained.model.entity.device
        seen = trained.statements[:0] if without_graph else trained.statements
        self.table = encode_all(trained.model, seen)
        surroundings = trained.config.surroundings
        self._around = None if surroundings is None else SurroundingsIndex(surroundings, seen)
        self.reads_labels = trained.names.tokenizer is not None
        self.practice = trained.practice
        self.asks_all = not isinstance(trained.config.decoder, StareDecoder)

    def with_statements(self, statements: Statements) -> "ModelScorer":
        """The scorer of the model with these statements in its graph."""
        from hyperheat.kg.neural.extension import extend_model

        return ModelScorer(extend_model(self.trained, statements))

    def __call__(self, questions: Questions) -> np.ndarray:
        """Scores of all entities [B, entities], or of all relations [B, relations] if those are asked for."""
        return self.logits(questions)

    @torch.no_grad()
    def logits(self, questions: Questions) -> np.ndarray:
        """Scores of the model's entities [B, entities], or of its relations [B, relations] if those are asked for.

        Names that follow those of the model in the table of the questions are unseen entities, known by their text.
        """
        asked = questions.statements
        used = np.unique(asked.memberships()[1])
        few = asked.narrowed(used)
        tokens, order = tokenise(Questions(few, questions.blank))
        z = self._model.read(self._table_of(few.entities, used), to_tensors(tokens, self._device))
        entities, relations = self.table
        candidates = relations[: len(relations) // 2] if questions.asks_relation else entities
        scores = np.empty((len(asked), len(candidates)), np.float32)
        scores[order] = (z @ candidates.T).cpu().numpy()
        reader = self._model.surroundings
        if reader is not None and self._around is not None and not questions.asks_relation:
            z = z[torch.as_tensor(np.argsort(order), device=self._device)]
            add_surroundings(scores, reader, self._around, self.table, questions, z)
        return scores

    def _table_of(self, names: Sequence[str], used: np.ndarray) -> Table:
        """The rows of some entities in rising order; the unseen ones are last."""
        known = used[used < len(self.table.entities)]
        rows = self.table.entities[torch.as_tensor(known, dtype=torch.int64, device=self._device)]
        unseen = names[len(known) :]
        if unseen:
            rows = torch.cat([rows, self._encode_unseen(unseen)])
        return Table(rows, self.table.relations)

    def _encode_unseen(self, texts: Sequence[str]) -> Tensor:
        """The vectors of entities that are in no statement, from their labels alone."""
        model = self._model
        if model.entity_label is None:
            raise ValueError(f"unknown entities {', '.join(texts)}: this model reads no labels")
        alone = Statements(
            entities=tuple(texts),
            relations=self._statements.relations,
            **{name: np.zeros(0) for name in ("subject", "relation", "object", "qualifier", "value")},
            offsets=np.zeros(1),
        )
        first = Table(model.entity_label.of(texts), model.first_relations())
        encoded = model.encoder(first, to_tensors(model.plan(alone), self._device))
        return model.pass_by(first, encoded).entities


def scorer_for(trained: TrainedModel, training: Statements, *, without_graph: bool = False) -> ModelScorer:
    """The scorer of a model, which must have been trained on exactly these statements."""
    known = trained.statements
    if (known.entities, known.relations) != (training.entities, training.relations):
        raise ValueError(
            f"the model was trained on other data: it knows {len(known.entities):,} entities and {len(known.relations):,} "
            f"relations, but the data has {len(training.entities):,} and {len(training.relations):,}; --inductive lets it "
            "read them without training"
        )
    asked = training.distinct()
    if known.digest() != asked.digest():
        raise ValueError(
            f"the model was trained on {len(known):,} statements that are not the {len(asked):,} of the protocol; "
            "--train-on must name the splits that it was trained on"
        )
    return ModelScorer(trained, without_graph=without_graph)


def export_embeddings(trained: TrainedModel, path: str | Path) -> None:
    """Write the vectors by which the decoder knows entities and relations, by the ending of the path.

    `.safetensors` holds the matrices `entities` and `relations` and, as metadata, JSON lists of their ids under the same
    names. `.parquet` holds the columns kind, id, label and vector.
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix)
    if write is None:
        raise ValueError(f"{path}: expected a name that ends in {' or '.join(_WRITERS)}, got {path.suffix!r}")
    entities, relations = (vectors.cpu().numpy() for vectors in ModelScorer(trained).table)
    names = {"entities": trained.names.entities, "relations": trained.names.relations}
    vectors = {"entities": entities, "relations": relations[: len(names["relations"])].copy()}
    with whole_file(path) as temporary:
        write(temporary, names, vectors, trained.names.labels)


def _write_safetensors(path: Path, names: _Names, vectors: _Vectors, labels: Mapping[str, str]) -> None:
    save_file(vectors, path, metadata={kind: json.dumps(ids) for kind, ids in names.items()})


def _write_parquet(path: Path, names: _Names, vectors: _Vectors, labels: Mapping[str, str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    ids = [*names["entities"], *names["relations"]]
    every = np.concatenate(list(vectors.values()))
    table = pa.table(
        {
            "kind": ["entity"] * len(names["entities"]) + ["relation"] * len(names["relations"]),
            "id": ids,
            "label": pa.array([labels.get(name) for name in ids], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(every.reshape(-1)), every.shape[1]),
        }
    )
    parquet.write_table(table, path)


_WRITERS = {".safetensors": _write_safetensors, ".parquet": _write_parquet}
