"""Records with fixed figures."""

from typing import Any

from hyperheat.reproduce.row_records import RowRecord


def sample_record(
    *,
    row: str,
    seed: int = 0,
    samples: int = 100_000,
    joint: float = 0.5,
    sha256: str = "b" * 64,
    task: str = "bugs",
    size: str = "small",
    set: list[str] | None = None,
    final: dict[str, Any] | None = None,
) -> RowRecord:
    """A run of a row."""
    bugs = {"joint": joint, "loc": joint + 0.05, "repair": joint + 0.3}
    figures = bugs if task == "bugs" else {"mrr": joint, "h1": joint - 0.05, "h10": joint + 0.1}
    watched = "joint" if task == "bugs" else "mrr"
    return RowRecord(
        task=task,
        row=row,
        size=size,
        seed=seed,
        set=set or [],
        samples=samples,
        whole=100_000 if task == "bugs" else 1_600_000,
        samples_seen=samples + 7,
        steps=250,
        data={
            "name": "full",
            "sha256": sha256,
            "packages": {"train": 120, "valid": 15},
            "samples": {"train": 9},
        },
        settings={},
        parameters=1_308_229,
        minutes=12.5,
        processor_seconds=700.0,
        training_samples_per_second=161.4,
        inference_samples_per_second=400.2,
        peak_mb=900,
        valid={"all": figures},
        final=final or {},
        curve=[{"samples": float(at), "seconds": at / 10, watched: joint * at / 1000} for at in (500, 1000)],
        command=f"hyperheat reproduce table1 --row {row} --seed {seed} --samples {samples}",
        hyperheat="0.1",
        python="3.11.7",
        torch="2.13.0",
    )
