"""What a task gives the loop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from torch import Tensor, nn

__all__ = ["Job"]

B = TypeVar("B")
T = TypeVar("T")


class Job(Protocol[B, T]):
    """A model, its data and its loss. B describes a batch (say, a list of sample numbers), T holds its tensors."""

    model: nn.Module

    def describe(self) -> Mapping[str, Any]:
        """What decides the result beside the settings of the loop, as JSON values; a resumed run must agree with it."""
        ...

    def batches(self, epoch: int) -> Sequence[B]:
        """The batches of an epoch in order: a function of a seed and the epoch alone."""
        ...

    def weight(self, batch: B) -> float:
        """How much a batch counts: the number of its samples."""
        ...

    def load(self, batch: B) -> T:
        """The tensors of a batch, on the CPU; called in a background thread while earlier batches are computed."""
        ...

    def loss(self, tensors: T) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss, and numbers without gradient to log (of the same names in every batch), summed over the samples.

        The loop has moved the model to its device; the tensors are moved here.
        """
        ...

    def validate(self) -> Mapping[str, float]:
        """Numbers on held-out data, one of which the settings watch; called in the first process, in eval mode."""
        ...

    def save(self, folder: Path) -> None:
        """Write what is needed to use the model. Of its files only the weights may change during a run."""
        ...
