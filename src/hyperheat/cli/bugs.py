"""`hyperheat bugs train|average|eval|export|confirm`: train, average and measure detectors, and follow their findings."""

import json as json_module
import sys
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

from hyperheat.cli.refusal import fail
from hyperheat.files import file_sha256
from hyperheat.progress import Progress

__all__ = ["average", "confirm", "evaluate", "export", "train"]

if TYPE_CHECKING:
    from hyperheat.bugs.evaluation import Evaluation
    from hyperheat.bugs.metrics import Metrics
    from hyperheat.bugs.mining.archive import Archive
    from hyperheat.bugs.mining.confirmation import CheckedRelease
    from hyperheat.bugs.trained_detector import TrainedDetector
    from hyperheat.detector.calibration import Calibration
    from hyperheat.detector.detector import Detector
    from hyperheat.detector.scorer import Scorer


_Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
_Factor = Annotated[float, Parameter(validator=validators.Number(gt=0))]
_YEARS = 2


def train(
    *,
    data: Annotated[tuple[Path, ...], Parameter(consume_multiple=True, negative="")],
    out: Path,
    recipe: str = "heat",
    set: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    real: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    start: Path | None = None,
    resume: bool = False,
    kernel: bool | None = None,
) -> None:
    """Train a detector. Run it under torchrun to use several processes.

    Parameters
    ----------
    data
        A folder of samples that bugs corpus wrote, or several, which are trained on as one corpus.
    out
        The folder of the run: best/ is the model, metrics.jsonl the log, checkpoints/ what --resume needs.
    recipe
        heat, gnn, great, allset, binarised, smallest, or a variant of HEAT such as no-qualifiers.
    set
        Settings that override the recipe, such as model.dim=64 train.max_minutes=30.
    real
        Folders of real bugs that bugs mine or bugs realise wrote, to train on among samples of --data.
    start
        The folder of a trained detector, such as best/ of a run, to start from its weights and vocabulary.
    resume
        Continue the run in the folder.
    kernel
        Use the compiled kernels; by default if there is a C compiler.
    """
    from hyperheat.bugs.recipes import RECIPES
    from hyperheat.bugs.training import train_detector
    from hyperheat.configuration import settings_from_recipe

    try:
        settings = settings_from_recipe(RECIPES, recipe, set)
        _use_kernels(kernel)
        outcome = train_detector(settings, data, out, real=real, start=start, resume=resume)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        fail(error)
    if outcome.ended_by == "signal":
        raise SystemExit(130)


def _use_kernels(wanted: bool | None) -> None:
    """Load the compiled kernels, or say why they are missing if nobody asked for them."""
    from hyperheat.nn.fast import kernel

    if wanted is not None:
        kernel.use(wanted)
        return
    try:
        kernel.load()
    except RuntimeError as error:
        sys.stderr.write(f"{error}: training is slower without\n")


def evaluate(
    *,
    model: Path,
    data: Path,
    split: Literal["train", "valid", "test"] = "test",
    tag: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    without: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    limit: _Positive | None = None,
    clean: Path | None = None,
    bug_odds: _Factor = 1.0,
    threads: _Positive | None = None,
    png: Path | None = None,
    json: bool = False,
) -> None:
    """Measure a detector: joint accuracy, location, repair, false alarms, by kind, and calibration.

    Parameters
    ----------
    model
        The folder of a model, such as best/ of a run, or of an exported detector.
    data
        A folder of samples that bugs corpus, bugs mine or bugs realise wrote.
    split
        The part of the data.
    tag
        Only samples with these tags, such as fix for real fixes whose message says so.
    without
        No samples with these tags, such as test for those in test files.
    limit
        The maximum number of samples, drawn at random but always the same ones.
    clean
        A folder that bugs corpus wrote: what share of the bugs is found at 100, 30, 10, 3 and 1 alarms per 1,000 of its
        functions without a bug, those of the same split.
    bug_odds
        Multiply the odds of a bug by this: above 1 for a detector that was trained on data with fewer bugs than this data
        has. Choose it on other data than what is reported. The tiers of a calibrated detector are counted only without it.
    threads
        The number of threads of torch; by default, as many as it chooses.
    png
        Draw precision over recall, and calibration, into this file.
    json
        Print one JSON object.
    """
    import torch

    from hyperheat.bugs.dataset import Dataset, draw_indices
    from hyperheat.bugs.evaluation import ask_about_clean, count_tiers, draw, select
    from hyperheat.bugs.evaluation import evaluate as evaluate_detector
    from hyperheat.bugs.metrics import recall_at_alarms
    from hyperheat.detector.scorer import Scorer

    if threads is not None:
        torch.set_num_threads(threads)
    try:
        detector, weights, calibration = _load(model)
        needs_pairs = not isinstance(detector, Scorer) and detector.view.needs_pairs
        samples = Dataset(data, split, pairs=needs_pairs)
        chosen = select(samples, tag, without) if tag or without else list(range(len(samples)))
        if limit is not None:
            chosen = [chosen[index] for index in draw_indices(len(chosen), limit)]
        with Progress("evaluating", every=None) as progress:
            evaluation = evaluate_detector(
                detector,
                samples,
                chosen,
                lambda done, total: progress.show(done / total, f"{done:,} of {total:,} samples"),
                bug_odds=bug_odds,
            )
        recall, functions = {}, 0
        if clean is not None:
            quiet = ask_about_clean(detector, Dataset(clean, split, pairs=needs_pairs), bug_odds=bug_odds)
            recall, functions = recall_at_alarms(evaluation.answers, quiet), len(quiet.kind)
        tiers = {}
        if calibration is not None and bug_odds == 1:
            tiers = count_tiers(evaluation.answers, [samples[index] for index in chosen], calibration)
        if png is not None:
            draw({model.resolve().parent.name: evaluation}, png)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        options = {
            "split": split,
            "tag": list(tag),
            "without": list(without),
            "limit": limit,
            "bug_odds": bug_odds,
        }
        facts = {"weights_sha256": weights, **({"tiers": tiers} if tiers else {})}
        if recall:
            facts |= {"clean": str(clean), "clean_functions": functions, "recall_at_alarms": recall}
        content = {"model": str(model), **facts, "data": str(data), **options, **evaluation.to_json()}
        sys.stdout.write(json_module.dumps(content, indent=1) + "\n")
    else:
        sys.stdout.write("\n".join([_table(evaluation), *_tiers(tiers), *_alarms(recall)]) + "\n")


def average(
    *,
    model: Annotated[tuple[Path, ...], Parameter(consume_multiple=True, negative="")],
    out: Path,
    share: Annotated[tuple[float, ...], Parameter(consume_multiple=True, negative="")] = (),
) -> None:
    """Average the weights of detectors that went on from the same one.

    Parameters
    ----------
    model
        The folders of two or more models, such as best/ of runs that began with the same --start.
    out
        The folder of their mean, to measure, export or start from.
    share
        How much each of them counts; by default, all count alike.
    """
    from hyperheat.bugs.averaging import average_detectors
    from hyperheat.bugs.trained_detector import save_trained

    try:
        save_trained(average_detectors(model, share), out)
    except (ValueError, OSError) as error:
        fail(error)
    sys.stdout.write(f"{out}: the mean of {len(model)} models\n")


def export(
    *,
    model: Path,
    out: Path,
    data: Annotated[tuple[Path, ...], Parameter(consume_multiple=True, negative="")] = (),
    licence: str = "MIT",
    precision: Literal["float32", "float16"] = "float32",
) -> None:
    """Write a trained detector with a model card, for `hyperheat check --model`.

    HEAT and all its variants can be exported; the encoders of other papers are refused.

    Parameters
    ----------
    model
        The folder of a model, such as best/ of a run.
    out
        The output folder; an earlier export in it is replaced.
    data
        The folders of samples that the model was trained on, whose counts go into the model card.
    licence
        The licence of the weights, for the model card.
    precision
        How weights are stored; float16 halves the file and moves log-probabilities by about 0.001.
    """
    from hyperheat.bugs.export import export_detector, facts_of_corpora
    from hyperheat.bugs.trained_detector import load_trained
    from hyperheat.detector.manifest import WEIGHTS

    try:
        facts = facts_of_corpora(data) if data else {}
        detector = load_trained(model)
        export_detector(detector, out, facts=facts, licence=licence, precision=precision)
    except (ValueError, OSError) as error:
        fail(error)
    size = (out / WEIGHTS).stat().st_size
    sys.stdout.write(f"{out}: {detector.parameters:,} parameters, {WEIGHTS} of {size / 1e6:.1f} MB\n")


def confirm(
    *,
    package: tuple[str, ...] = (),
    packages: Path | None = None,
    model: Path | None = None,
    before: str | None = None,
    jobs: int = 2,
    index: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Check an old release of each package, and count the findings that a later release fixed exactly as suggested.

    Those that are still there in the newest release look like false alarms to a user.

    Parameters
    ----------
    package
        A package to check; may be repeated.
    packages
        A file with one package name per line.
    model
        The folder of an exported detector; by default, the one in the package.
    before
        Check the newest release that was uploaded before this date, such as 2024-02-29; by default, two years ago.
    jobs
        The number of worker processes.
    index
        The address of a package index; by default, the one that pip is configured with.
    out
        Write one JSON object per finding to this file.
    json
        Print the counts as JSON.
    """
    from hyperheat.bugs.corpus.packages import normalise, read_names
    from hyperheat.bugs.mining.confirmation import confirm_packages, count_verdicts
    from hyperheat.bugs.mining.registry import Registry
    from hyperheat.detector.detector import load_detector

    try:
        names = [normalise(name) for name in package]
        names += [found.name for found in read_names(packages)] if packages else []
        names = list(dict.fromkeys(names))
        if not names:
            raise ValueError("no packages to check: give --package NAME or --packages FILE")
        day = _day(before)
        detector = load_detector(model)
        registry = Registry(index) if index else Registry.configured()
        rows, counts = confirm_packages(
            names, registry, day, lambda archive: _check_release(archive, detector, jobs)
        )
        if out is not None:
            lines = [json_module.dumps(row, ensure_ascii=False) + "\n" for row in rows]
            out.write_text("".join(lines), encoding="utf-8")
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        raise SystemExit(130) from None
    record = {"before": day, "names": names, **counts, "verdicts": count_verdicts(rows)}
    sys.stdout.write((json_module.dumps(record, indent=1) if json else _confirmation_text(record)) + "\n")


def _check_release(archive: "Archive", detector: "Detector", jobs: int) -> "CheckedRelease":
    """Check all files of a release; findings in files with carriage returns are left out."""
    from hyperheat.bugs.mining.confirmation import CheckedRelease, ReleaseFinding
    from hyperheat.check import Checker, Settings

    sources = archive.sources()
    with TemporaryDirectory(prefix="hyperheat-") as folder:
        sources.unpack(Path(folder))
        checker = Checker(settings=Settings(jobs=jobs, tier="C"), detector=detector, root=Path(folder))
        scan = checker.scan_paths(list(sources.files))
        if scan.interrupted:
            raise KeyboardInterrupt
        report, texts = scan.report(), scan.sources
        findings = tuple(
            ReleaseFinding(
                path=finding.path,
                line=finding.line,
                function=finding.function,
                kind=finding.kind,
                tier=finding.tier,
                confidence=finding.confidence,
                message=finding.message,
                text=source.text,
                repaired=source.edited(finding.fix.edits),
            )
            for finding in report.findings
            if "\r" not in (source := texts[finding.path]).text
        )
    return CheckedRelease(findings, report.summary.functions)


def _load(folder: Path) -> "tuple[TrainedDetector | Scorer, str, Calibration | None]":
    """A detector as torch runs it, or as the checker does if it was exported or calibrated; its hash and calibration."""
    from hyperheat.bugs.trained_detector import MODEL_CARD, load_trained
    from hyperheat.detector.calibration import Calibration
    from hyperheat.detector.manifest import CALIBRATION, WEIGHTS
    from hyperheat.detector.scorer import Scorer

    path = folder / CALIBRATION
    if not path.exists() and not (folder / MODEL_CARD).exists():
        return load_trained(folder), file_sha256(folder / WEIGHTS), None
    scorer = Scorer.load(folder)
    return scorer, scorer.fingerprint, Calibration.parse(path.read_bytes()) if path.exists() else None


def _alarms(recall: dict[int, float | None]) -> list[str]:
    if not recall:
        return []
    rows = ["", "alarms per 1,000 clean functions and the share of bugs that is found"]
    return rows + [
        f"{rate:>10} " + ("too few functions" if share is None else f"{share:>10.1%}")
        for rate, share in recall.items()
    ]


def _tiers(tiers: dict[str, dict[str, int]]) -> list[str]:
    if not tiers:
        return []
    rows = ["", f"{'tier':<8} {'bugs found':>12} {'wrong findings':>15} {'false alarms':>14}"]
    for tier, count in tiers.items():
        name = tier if tier in ("safe", "A") else f"A to {tier}"
        found, alarms = f"{count['right']} of {count['bugs']}", f"{count['alarms']} of {count['clean']}"
        rows.append(f"{name:<8} {found:>12} {count['wrong']:>15} {alarms:>14}")
    return rows


_COLUMNS = ("joint", "loc", "repair", "false_alarms", "found", "quiet", "ece")


def _table(evaluation: "Evaluation") -> str:
    rows = [
        f"{evaluation.all.samples:,} samples, {evaluation.all.buggy:,} with a bug, {evaluation.all.unread:,} "
        f"that the model could not read; {evaluation.parameters:,} parameters",
        "",
        f"{'':<22} {'samples':>8} " + " ".join(f"{name.replace('_', ' '):>12}" for name in _COLUMNS),
        _row("all", evaluation.all),
        *(_row(kind, metrics) for kind, metrics in evaluation.by_kind.items()),
        "",
        "findings at least as sure as the threshold",
        f"{'threshold':>10} {'precision':>10} {'recall':>10} {'shown':>8}",
    ]
    curve = evaluation.curve
    for threshold in (0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5):
        shown = int((curve.threshold >= threshold).sum())
        if shown:
            last = shown - 1
            rows.append(
                f"{threshold:>10.2f} {curve.precision[last]:>10.1%} {curve.recall[last]:>10.1%} "
                f"{curve.shown[last]:>8,}"
            )
    return "\n".join(rows)


def _row(name: str, metrics: "Metrics") -> str:
    values = asdict(metrics)
    shares = ("-" if values[column] is None else f"{values[column]:.1%}" for column in _COLUMNS)
    return f"{name:<22} {metrics.samples:>8,} " + " ".join(f"{share:>12}" for share in shares)


def _day(text: str | None) -> str:
    """A date as in 2024-02-29."""
    if text is None:
        today = datetime.now(UTC).date()
        return today.replace(year=today.year - _YEARS, day=min(today.day, 28)).isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"--before: expected a date such as 2024-02-29, got {text!r}") from None


_SHOWN = {"mended": "fixed"}  # verdicts by their names in files


def _confirmation_text(record: dict[str, Any]) -> str:
    lines = [
        f"{record['packages']} packages, the newest release of each from before {record['before']}: "
        f"{record['functions']:,} functions, followed through {record['later_releases']:,} later releases",
        "",
        f"{'tier':<6}{'findings':>9}"
        + "".join(
            f"{_SHOWN.get(verdict, verdict):>19}" for verdict in next(iter(record["verdicts"].values()))
        ),
    ]
    for tier, verdicts in record["verdicts"].items():
        total = sum(verdicts.values())
        cells = (f"{count:>10,} ({count / max(total, 1):>5.1%})" for count in verdicts.values())
        lines.append(f"{tier:<6}{total:>9,}" + "".join(f"{cell:>19}" for cell in cells))
    return "\n".join(lines)
