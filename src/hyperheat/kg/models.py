"""Models that can be asked: folders of trained ones, and the heuristic on any statements."""

from collections.abc import Iterable
from pathlib import Path

from hyperheat.kg.asking import Question
from hyperheat.kg.calibration import read_calibration
from hyperheat.kg.completion import Completer, Completion
from hyperheat.kg.datasets import load as load_dataset
from hyperheat.kg.datasets import read_labels
from hyperheat.kg.demo import MODEL
from hyperheat.kg.heuristic import Heuristic

__all__ = ["complete", "load"]


def load(model: str | Path, *, data: str | Path | None = None, labels: Path | None = None) -> Completer:
    """Load the folder of a trained model, such as best/ of a run, which holds all that is needed to ask it.

    `demo` is the small model that comes with the package; `heuristic` asks the co-occurrence of the statements of
    `data` instead. `labels` is a file of ids and labels with a tab between, for a model that was trained without them.
    """
    more = {} if labels is None else read_labels(labels)
    if model == "heuristic":
        if data is None:
            raise ValueError("data: expected the statements that the heuristic is made from, got none")
        dataset = load_dataset(data)
        statements = dataset.every()
        return Completer(Heuristic(statements), statements, {**dataset.labels, **more})
    if data is not None:
        raise ValueError(f"data: expected none beside a trained model, which has its own, got {data}")
    folder = MODEL if model == "demo" else Path(model)
    if not folder.is_dir():
        raise ValueError(
            f"model: expected demo, heuristic or the folder of a trained model, got {str(model)!r}"
        )
    from hyperheat.kg.neural.folder import load_model
    from hyperheat.kg.neural.scorer import ModelScorer

    trained = load_model(folder)
    return Completer(
        ModelScorer(trained),
        trained.statements,
        {**trained.names.labels, **more},
        calibration=read_calibration(folder),
    )


def complete(
    question: Question | str,
    *,
    model: str | Path | Completer,
    k: int = 10,
    exclude_known: bool = False,
    candidates: Iterable[str] | None = None,
) -> Completion:
    """The k best answers to a question such as `Albert Einstein | educated at | ? | academic degree=PhD`.

    To ask more than once, `load` the model.
    """
    completer = model if isinstance(model, Completer) else load(model)
    return completer.ask(question, k=k, exclude_known=exclude_known, candidates=candidates)
