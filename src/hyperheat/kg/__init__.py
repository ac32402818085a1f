"""Knowledge graphs of statements with qualifiers: read, train, evaluate and complete them.

    from hyperheat import kg

    model = kg.load("demo")  # a small model that comes with the package
    print(model.ask("Albert Einstein | educated at | ? | academic degree=diploma", k=3))

    model = kg.fit("statements.csv", recipe="smallest", hold_out=0.1)  # or a data frame
    print(model.evaluate())
    model.save("model/")

Read `statements.py` and `questions.py` first: they hold the two types that everything else works on. Trained models need
torch (`pip install 'hyperheat[train]'`); reading, ranking and the co-occurrence heuristic do not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from hyperheat.lazy_names import lazy_names

if TYPE_CHECKING:
    from hyperheat.kg.breakdown import Breakdown
    from hyperheat.kg.completion import Answer, Completer, Completion
    from hyperheat.kg.datasets import StatementDataset, TrainingSplits
    from hyperheat.kg.explanation import Explanation
    from hyperheat.kg.neural.fitted_model import Embeddings, FittedModel, Neighbour
    from hyperheat.kg.neural.trained_model import TrainedModel
    from hyperheat.kg.questions import Questions
    from hyperheat.kg.ranking import Protocol, RankEvaluation, ScoreFunction
    from hyperheat.kg.statements import Statement, Statements
    from hyperheat.kg.temperature import Temperature
    from hyperheat.train import TrainOutcome

_HOMES = {
    "Answer": "completion",
    "Completer": "completion",
    "Completion": "completion",
    "Embeddings": "neural.fitted_model",
    "Explanation": "explanation",
    "FittedModel": "neural.fitted_model",
    "Neighbour": "neural.fitted_model",
    "Protocol": "ranking",
    "Questions": "questions",
    "RankEvaluation": "ranking",
    "Statement": "statements",
    "StatementDataset": "datasets",
    "Statements": "statements",
}

__all__ = [
    "Answer",
    "Completer",
    "Completion",
    "Embeddings",
    "Explanation",
    "FittedModel",
    "Neighbour",
    "Protocol",
    "Questions",
    "RankEvaluation",
    "Statement",
    "StatementDataset",
    "Statements",
    "calibrate",
    "complete",
    "evaluate",
    "fit",
    "load",
    "model_folder",
    "read",
    "train",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, __all__)


def read(
    source: str | Path, *, format: str | None = None, labels: str | Path | None = None
) -> "StatementDataset":
    """Read statements from a file, a folder with train, valid and test files, or a published data set by its name.

    If `format` is None, it is detected. `labels` is a file with an id, a tab and a label on each line.

        data = kg.read("wd50k_100", labels="wd50k_labels.tsv")
        print(len(data.train), data.train[0])
    """
    from hyperheat.kg.datasets import read_dataset

    return read_dataset(source, format, None if labels is None else Path(labels))


@overload
def load(model: str | Path, *, data: None = None, labels: str | Path | None = None) -> "FittedModel": ...


@overload
def load(model: str | Path, *, data: str | Path | None, labels: str | Path | None = None) -> "Completer": ...


def load(
    model: str | Path, *, data: str | Path | None = None, labels: str | Path | None = None
) -> "Completer":
    """Load a model, ready to be asked.

    `model` is the folder of a trained model, such as best/ of a run; or `demo`, a small model that comes with the package;
    or `heuristic`, the co-occurrence of the statements of `data`. `labels` is a file with an id, a tab and a label on each
    line, for a model that was trained without labels.

        model = kg.load("demo")
        found = model.complete("Richard Feynman", "doctoral advisor", None, k=3)
        print(found, model.explain(found), sep="\\n")
    """
    from hyperheat.kg.completion import Completer
    from hyperheat.kg.datasets import read_labels

    more = {} if labels is None else read_labels(Path(labels))
    if model == "heuristic":
        from hyperheat.kg.heuristic import Heuristic

        if data is None:
            raise ValueError("data: the heuristic needs the statements that it is made from")
        dataset = read(data)
        statements = dataset.every()
        return Completer(Heuristic(statements), statements, {**dataset.labels, **more})
    if data is not None:
        raise ValueError(f"data: a trained model has its own statements, got {data}")
    folder = model_folder(model)
    from hyperheat.kg.neural.fitted_model import FittedModel
    from hyperheat.kg.neural.trained_model import load_model
    from hyperheat.kg.temperature import read_temperature

    return FittedModel(load_model(folder), labels=more, temperature=read_temperature(folder))


def complete(
    question: "Questions | str",
    *,
    model: "str | Path | Completer",
    k: int = 10,
    exclude_known: bool = False,
    candidates: Iterable[str] | None = None,
) -> "Completion":
    """The k best answers to a question.

        print(kg.complete("Richard Feynman | doctoral advisor | ?", model="demo", k=3))

    To ask more than one question, `load` the model first.
    """
    completer = load(model) if isinstance(model, str | Path) else model
    return completer.ask(question, k=k, exclude_known=exclude_known, candidates=candidates)


def fit(
    data: Any,
    *,
    recipe: str = "heat",
    set: Sequence[str] = (),
    labels: "str | Path | Mapping[str, str] | None" = None,
    hold_out: float | None = None,
    out: str | Path | None = None,
) -> "FittedModel":
    """Train a model of statements and return it. Needs torch.

    `data` is a path, the name of a data set, `Statements`, or a data frame (pandas, polars, pyarrow or a mapping of
    columns) with the columns head, relation, tail and, for qualifiers, `q:degree` and so on. `hold_out` moves a share of
    the statements to the test split, for `evaluate`. The folder `out` keeps the run; without it nothing is written.

        model = kg.fit(frame, recipe="heat", hold_out=0.1)
        print(model.evaluate())
        print(model.predict(questions))
        model.save("model/")
    """
    from tempfile import TemporaryDirectory

    from hyperheat.kg.neural.fitted_model import FittedModel
    from hyperheat.kg.neural.trained_model import load_model
    from hyperheat.kg.splitting import hold_out as split

    dataset = _dataset_of(data, labels)
    if hold_out is not None:
        dataset = split(dataset, hold_out)
    with TemporaryDirectory(prefix="hyperheat-") as temporary:
        folder = Path(temporary) / "run" if out is None else Path(out)
        train(dataset, folder, recipe=recipe, set=set)
        return FittedModel(load_model(folder / "best"), labels=dataset.labels, data=dataset)


def _dataset_of(data: Any, labels: "str | Path | Mapping[str, str] | None") -> "StatementDataset":
    """Data of any kind as a data set, with more labels."""
    from dataclasses import replace

    from hyperheat.kg.datasets import StatementDataset, read_labels
    from hyperheat.kg.frames import is_frame, statements_of
    from hyperheat.kg.statements import Statements

    more = read_labels(Path(labels)) if isinstance(labels, str | Path) else dict(labels or {})
    if isinstance(data, str | Path):
        data = read(data)
    elif not isinstance(data, Statements | StatementDataset):
        if not is_frame(data):
            raise ValueError(f"data: expected a path, statements or a data frame, got {type(data).__name__}")
        data = Statements.build(statements_of(data))
    if isinstance(data, Statements):
        if not data:
            raise ValueError("data: expected at least one statement, got none")
        nothing = data[:0]
        data = StatementDataset(
            source="the statements", format="statements", train=data, valid=nothing, test=nothing, labels={}
        )
    return replace(data, labels={**data.labels, **more})


def train(
    data: "str | Path | StatementDataset",
    out: str | Path,
    *,
    recipe: str = "heat",
    set: Sequence[str] = (),
    validate_on: "str | Path | StatementDataset | None" = None,
    resume: bool = False,
) -> "TrainOutcome":
    """Train a model of statements in the folder `out`; its best/ is the model. Needs torch.

    `recipe` is a name in `hyperheat.kg.neural.recipes.RECIPES`, and `set` changes settings of it. `validate_on` is data
    about other entities: the best model is the one that answers its valid split best after reading its train split.

        kg.train("statements/", "run/", recipe="smallest", set=["train.max_minutes=5"])
    """
    from hyperheat.configuration import settings_from_recipe
    from hyperheat.kg.neural.recipes import RECIPES
    from hyperheat.kg.neural.training import train_model

    settings = settings_from_recipe(RECIPES, recipe, set)
    other = read(validate_on) if isinstance(validate_on, str | Path) else validate_on
    dataset = read(data) if isinstance(data, str | Path) else data
    return train_model(settings, dataset, out, validate_on=other, resume=resume)


def evaluate(
    model: "str | Path | TrainedModel | Callable[[Statements], ScoreFunction]",
    data: "str | Path | StatementDataset",
    protocol: "Protocol | None" = None,
    *,
    by: "Breakdown" = "qualifiers",
    without_graph: bool = False,
    inductive: bool = False,
) -> "RankEvaluation":
    """Rank the true object and the true subject of every held-out statement; the default is StarE's protocol.

    With `Protocol(ask="values")` or `Protocol(ask="relations")` the values of qualifiers or the relations are ranked.
    `by` groups the ranks: by the number of qualifiers, by the degree of the answer in the training data, or by relation.

    `model` is `heuristic`, the folder of a trained model, `demo`, or a function from training statements to a scorer. With
    `inductive`, a model that was trained on other statements reads the training data of the protocol instead of its own.

        result = kg.evaluate("heuristic", "wd50k_100", kg.Protocol(train_on="train"))
        print(result, result.metrics()["both"].mrr, sep="\\n")
    """
    from hyperheat.kg.ranking import STARE, evaluate

    dataset = read(data) if isinstance(data, str | Path) else data
    make: Callable[[Statements], ScoreFunction]
    if model == "heuristic":
        from hyperheat.kg.heuristic import Heuristic

        make = Heuristic
    elif callable(model):
        make = model
    else:
        from hyperheat.kg.neural.extension import other_graph, scorer_elsewhere
        from hyperheat.kg.neural.trained_model import load_model, scorer_for

        trained = load_model(model_folder(model)) if isinstance(model, str | Path) else model
        dataset = other_graph(trained, dataset) if inductive else dataset
        make = partial(scorer_elsewhere if inductive else scorer_for, trained, without_graph=without_graph)
    return evaluate(dataset, make, STARE if protocol is None else protocol, by)


def calibrate(
    model: str | Path,
    data: "str | Path | StatementDataset",
    *,
    train_on: "TrainingSplits" = "train+valid",
    on: Literal["valid", "test"] = "test",
    limit: int = 1_000,
) -> "Temperature":
    """Choose the temperature of a model's probabilities on held-out statements.

        print(kg.calibrate("run/best", "statements/").error)

    The temperature is stored in the model's folder and used from then on.
    """
    from hyperheat.kg.audit import has_equal_triple
    from hyperheat.kg.neural.trained_model import load_model, scorer_for
    from hyperheat.kg.ranking import Protocol
    from hyperheat.kg.temperature import choose_temperature, save_temperature

    Protocol(train_on=train_on, evaluate_on=on)  # refuses splits that were trained on
    if limit < 1:
        raise ValueError(f"limit: expected at least 1, got {limit}")
    trained, dataset = load_model(model), read(data) if isinstance(data, str | Path) else data
    training, held_out = dataset.training(train_on), dataset.splits[on]
    held_out = held_out[~has_equal_triple(training, held_out)]
    temperature = choose_temperature(
        scorer_for(trained, training),
        held_out.spaced(limit),
        known=dataset.every(),
        candidates=training.main_entities(),
    )
    save_temperature(temperature, Path(model))
    return temperature


def model_folder(model: str | Path) -> Path:
    """The folder of a trained model, which may be named by its path or as `demo`."""
    from hyperheat.kg.demo import MODEL

    folder = MODEL if model == "demo" else Path(model)
    if not folder.is_dir():
        raise ValueError(
            f"model: expected demo, heuristic or the folder of a trained model, got {str(model)!r}"
        )
    return folder
