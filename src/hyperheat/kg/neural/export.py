"""Encoded entities and relations as a file: safetensors with the ids as metadata, or Parquet with a row per id."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from hyperheat.files import whole_file
from hyperheat.kg.neural.folder import TrainedModel
from hyperheat.kg.neural.scorer import ModelScorer

__all__ = ["export_embeddings"]

_Names = dict[str, tuple[str, ...]]
_Vectors = dict[str, np.ndarray]


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
