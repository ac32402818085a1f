"""What a step changes: the weights, Adam's moments, the average of the weights, the scale of float16.

lr_s = lr * min(1, (s + 1) / warmup) * fall(progress)                                     s steps before this one
lr_s = lr * step_factor ^ floor(epoch / step_epochs)                                      with schedule=steps
a    = d a + (1 - d) w,  d = min(ema, (1 + s) / (10 + s))       so that the random beginning is soon forgotten
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from hyperheat.train.run import State, TrainSettings, progress

__all__ = ["Learner", "learning_rate"]

_FALLS = {
    "constant": lambda done: 1.0,
    "linear": lambda done: 1.0 - done,
    "cosine": lambda done: 0.5 * (1.0 + math.cos(math.pi * done)),
}
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def learning_rate(settings: TrainSettings, state: State) -> float:
    """The learning rate of the next update."""
    if state.step < settings.warmup:
        return settings.lr * (state.step + 1) / settings.warmup
    if settings.schedule == "steps":
        return settings.lr * settings.step_factor ** (state.epoch // settings.step_epochs)
    return settings.lr * _FALLS[settings.schedule](progress(settings, state))


class Learner:
    """A model being trained with AdamW."""

    def __init__(self, model: nn.Module, settings: TrainSettings) -> None:
        self.model = model
        self.settings = settings
        self.rate = settings.lr
        """The learning rate of the last update."""
        self.parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
        device = next(iter(self.parameters.values())).device
        if settings.precision == "float16" and device.type != "cuda":
            raise ValueError("precision: expected float32 or bfloat16 on a CPU, got float16")
        self.autocast = torch.autocast(
            device.type, getattr(torch, settings.precision), enabled=settings.precision != "float32"
        )
        self.scaler = torch.amp.GradScaler(device.type, enabled=settings.precision == "float16")
        matrices = [p for p in self.parameters.values() if p.ndim > 1]
        others = [p for p in self.parameters.values() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=settings.lr, betas=settings.betas, fused=True
        )
        self.average = (
            {} if settings.ema is None else {n: p.detach().clone() for n, p in self.parameters.items()}
        )

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of a loss."""
        self.scaler.scale(loss).backward()

    def update(self, state: State) -> float:
        """Update the weights and clear the gradient; returns its norm before clipping.

        A gradient that is not finite is ignored.
        """
        self.scaler.unscale_(self.optimiser)
        clip = math.inf if self.settings.clip is None else self.settings.clip
        norm = float(nn.utils.clip_grad_norm_(self.parameters.values(), clip))
        if math.isfinite(norm) or self.scaler.is_enabled():
            self.rate = learning_rate(self.settings, state)
            for group in self.optimiser.param_groups:
                group["lr"] = self.rate
            self.scaler.step(self.optimiser)
            self.scaler.update()
            self._update_average(state.step)
        self.optimiser.zero_grad()
        return norm

    @torch.no_grad()
    def _update_average(self, step: int) -> None:
        if self.settings.ema is not None:
            decay = min(self.settings.ema, (1 + step) / (10 + step))
            for name, average in self.average.items():
                average.lerp_(self.parameters[name], 1 - decay)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """The model in eval mode with its averaged weights, if there are any."""
        self._swap()
        self.model.eval()
        try:
            yield
        finally:
            self.model.train()
            self._swap()

    def _swap(self) -> None:
        for name, average in self.average.items():
            parameter = self.parameters[name]
            parameter.data, self.average[name] = average, parameter.data

    def tensors(self) -> dict[str, Tensor]:
        """All tensors that the next steps depend on."""
        held = self._lasting()
        for name, parameter in self.parameters.items():
            moments = self.optimiser.state.get(parameter, {})
            held |= {f"{moment}.{name}": tensor for moment, tensor in moments.items()}
        return {name: tensor.detach().contiguous() for name, tensor in held.items()}

    def _lasting(self) -> dict[str, Tensor]:
        """The weights and their average, which exist from the beginning."""
        held = {f"model.{name}": tensor for name, tensor in _weights(self.model).items()}
        return held | {f"average.{name}": tensor for name, tensor in self.average.items()}

    def restore(self, tensors: Mapping[str, Tensor], scale: Mapping[str, Any]) -> None:
        """Restore what `tensors` and `scaler.state_dict` returned; ValueError if it belongs to another model."""
        targets = self._lasting()
        shapes = {name: tuple(tensor.shape) for name, tensor in targets.items()}
        for name, parameter in self.parameters.items():
            if f"step.{name}" in tensors:
                whole = tuple(parameter.shape)
                shapes |= {f"step.{name}": (), f"exp_avg.{name}": whole, f"exp_avg_sq.{name}": whole}
        for name in sorted(shapes.keys() | tensors.keys()):
            got = tuple(tensors[name].shape) if name in tensors else None
            if shapes.get(name) != got:
                raise ValueError(f"{name}: expected shape {shapes.get(name)}, got {got}")
        for name, target in targets.items():
            target.data.copy_(tensors[name])
        for name, parameter in self.parameters.items():
            if f"step.{name}" in tensors:
                held = {
                    moment: tensors[f"{moment}.{name}"].clone().to(parameter.device) for moment in _MOMENTS
                }
                self.optimiser.state[parameter] = held
        self.scaler.load_state_dict(dict(scale))


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """The entries of the state dict, each tensor once."""
    lasting = model.state_dict().keys()
    return {name: t for name, t in chain(model.named_parameters(), model.named_buffers()) if name in lasting}
