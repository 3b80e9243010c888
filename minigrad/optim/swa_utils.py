"""Averages of a model's weights over training: stochastic weight averaging (SWA) and exponential moving averages (EMA).

Izmailov et al., Averaging weights leads to wider optima and better generalization, 2018, https://arxiv.org/abs/1803.05407
"""

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ..core import dtypes
from ..core.grad_mode import no_grad
from ..nn.module import Module
from ..nn.norm import _BatchNorm
from ..tensors.create import tensor
from ..tensors.tensor import Tensor
from .lr_scheduler import LRScheduler, _per_group
from .optimizer import Optimizer


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """A function (average, current, count) -> decay * average + (1 - decay) * current."""
    _check_decay(decay)
    return no_grad()(lambda average, current, _: decay * average + (1 - decay) * current)


def get_swa_avg_fn() -> Callable:
    """A function (average, current, count) -> the mean of count + 1 values."""
    return no_grad()(lambda average, current, count: average + (current - average) / (count + 1))


def _of_lists(function: Callable) -> Callable:
    def update(averages: list[Tensor], currents: list[Tensor], count: Any) -> None:
        with no_grad():
            for average, current in zip(averages, currents, strict=True):
                average.copy_(function(average, current, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """As get_ema_avg_fn, for lists of tensors, in place."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable:
    """As get_swa_avg_fn, for lists of tensors, in place."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of `model` whose parameters are averages; call `update_parameters(model)` after each step that counts.

    avg_fn        (average, current, count) -> new average; default: the mean of all
    multi_avg_fn  the same in place, on lists
    use_buffers   average the buffers too, instead of copying the newest
    Raises AssertionError for avg_fn beside multi_avg_fn, and the device's error for another device than the CPU.
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable | None = None, multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ):  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model).to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dtypes.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of `model` into the averages."""

        def averaged(module: Module) -> list[Tensor]:
            return [
                t.detach() for t in itertools.chain(module.parameters(), module.buffers() if self.use_buffers else ())
            ]

        averages, currents = averaged(self.module), averaged(model)
        if self.n_averaged == 0:
            _of_lists(lambda average, current, _: current)(averages, currents, 0)
        else:
            update = self.multi_avg_fn or _of_lists(self.avg_fn or get_swa_avg_fn())
            update(averages, currents, self.n_averaged)
        if not self.use_buffers:
            for buffer, source in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.detach().copy_(source.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of the model's BatchNorm layers as averages over the batches of `loader`, moved to `device`."""
    norms = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to swa_lr in anneal_epochs steps ("cos" or "linear"), then constant.

    Raises ValueError for another strategy and for anneal_epochs below 0.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ):
        for group, lr in zip(optimizer.param_groups, _per_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        self._warn_if_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = float(group["lr"]), group["swa_lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
