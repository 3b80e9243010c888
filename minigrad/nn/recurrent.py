"""Recurrent layers: a cell that carries a state from step to step.

What lives here: RNN, LSTM and GRU with their cells, as plain loops over time; the input's part of the gates is computed for all steps at
once. What does not: how sequences are packed (utils/rnn.py).

A layer's weights are stacked gate by gate as PyTorch stacks them: input, forget, cell, output in an LSTM; reset, update, new in a GRU.
"""

import math
import warnings
from typing import Any

from ..ops.joins import cat, stack
from ..ops.views import unbind
from ..tensors.create import empty, zeros
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

State = Any  # a Tensor, or for an LSTM a pair (hidden, cell)


def _rnn_step(activation):
    def step(gates: Tensor, hidden: Tensor, w: Tensor, b: Tensor | None, _: Any = None) -> tuple[Tensor, Tensor]:
        hidden = activation(gates + F.linear(hidden, w, b))
        return hidden, hidden

    return step


def _lstm_step(
    gates: Tensor, state: State, w: Tensor, b: Tensor | None, projection: Tensor | None = None
) -> tuple[Tensor, State]:
    hidden, cell = state
    gates = gates + F.linear(hidden, w, b)
    i, f, g, o = gates.chunk(4, -1) if gates.shape[-1] else (gates,) * 4
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    hidden = o.sigmoid() * cell.tanh()
    if projection is not None:
        hidden = F.linear(hidden, projection)
    return hidden, (hidden, cell)


def _gru_step(gates: Tensor, hidden: Tensor, w: Tensor, b: Tensor | None, _: Any = None) -> tuple[Tensor, Tensor]:
    r, z, n = gates.chunk(3, -1) if gates.shape[-1] else (gates,) * 3
    hr, hz, hn = F.linear(hidden, w, b).chunk(3, -1) if gates.shape[-1] else (hidden,) * 3
    r, z = (r + hr).sigmoid(), (z + hz).sigmoid()
    n = (n + r * hn).tanh()
    hidden = n + z * (hidden - n)
    return hidden, hidden


STEPS = {"RNN_TANH": _rnn_step(Tensor.tanh), "RNN_RELU": _rnn_step(Tensor.relu), "LSTM": _lstm_step, "GRU": _gru_step}
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """What RNN, LSTM and GRU share.

    Input (L, N, input_size), with batch_first (N, L, input_size), or without batch (L, input_size).
    Returns the last layer's outputs for all steps, and the last state of each layer and direction.

    num_layers     layers on top of each other, with dropout between them
    bidirectional  a second set of weights reads the sequence backwards; outputs are concatenated
    proj_size      (LSTM only) the hidden state is projected to this size
    Parameters: weight_ih_l0 (gates * hidden_size, input_size), weight_hh_l0, bias_ih_l0, bias_hh_l0, ..._reverse, weight_hr_l0, ...
    All are uniform in ±1 / sqrt(hidden_size).
    Raises ValueError for an unknown mode and for inputs without 2 or 3 dimensions, RuntimeError for a sequence of no steps.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        _check(dropout, num_layers, bias, batch_first, input_size, hidden_size, proj_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        rows, out = GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            for suffix in self._suffixes():
                size = input_size if layer == 0 else out * len(self._suffixes())
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, size), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", Parameter(empty(*shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        kinds = [
            "weight_ih",
            "weight_hh",
            *(["bias_ih", "bias_hh"] if self.bias else []),
            *(["weight_hr"] if self.proj_size else []),
        ]
        return [
            [getattr(self, f"{k}_l{n}{s}") for k in kinds] for n in range(self.num_layers) for s in self._suffixes()
        ]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self) -> None:
        """Does nothing: there is no GPU memory to arrange."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        return text + "".join(
            f", {name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value
        )

    def forward(self, input: Any, hx: State = None) -> tuple[Any, State]:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        batched = input.ndim == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = self._each(hx, lambda h: self._one_sample(h))
        self._check_input(input)
        steps = input.transpose(0, 1) if self.batch_first else input
        if not steps.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        hx = self._start(steps.shape[1], steps.dtype) if hx is None else self._checked(hx, steps.shape[1])
        steps, last = self._layers(steps, hx)
        if self.batch_first:
            steps = steps.transpose(0, 1)
        if not batched:
            steps, last = steps.squeeze(0 if self.batch_first else 1), self._each(last, lambda h: h.squeeze(1))
        return steps, last

    def _forward_packed(self, input: PackedSequence, hx: State) -> tuple[PackedSequence, State]:
        self._check_input(input.data)
        sizes = input.batch_sizes.tolist()
        if hx is None:
            hx = self._start(sizes[0], input.data.dtype)
        else:
            hx = self._checked(hx, sizes[0])
            if input.sorted_indices is not None:
                hx = self._each(hx, lambda h: h.index_select(1, input.sorted_indices))
        data, last = self._layers(input.data, hx, sizes)
        if input.unsorted_indices is not None:
            last = self._each(last, lambda h: h.index_select(1, input.unsorted_indices))
        return PackedSequence(data, *input[1:]), last

    def _layers(self, steps: Tensor, hx: State, sizes: list[int] | None = None) -> tuple[Tensor, State]:
        """All layers: the last one's outputs, and every last state. sizes: how many samples have each step of a packed sequence."""
        step = STEPS[self.mode]
        ends: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes():
                state = self._each(hx, lambda h: h[len(ends)])  # noqa: B023
                out, end = self._run(step, steps, state, f"_l{layer}{suffix}", bool(suffix), sizes)
                outputs.append(out)
                ends.append(end)
            steps = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                steps = F.dropout(steps, self.dropout, self.training)
        return steps, tuple(
            [stack(list(parts)) for parts in zip(*ends, strict=True)]
        ) if self.mode == "LSTM" else stack(ends)

    def _run(
        self, step, inputs: Tensor, state: State, name: str, backwards: bool, sizes: list[int] | None = None
    ) -> tuple[Tensor, State]:
        """One layer in one direction: outputs in the order of the input, and the last state."""
        w_ih, w_hh = getattr(self, "weight_ih" + name), getattr(self, "weight_hh" + name)
        b_ih, b_hh = (getattr(self, kind + name) if self.bias else None for kind in ("bias_ih", "bias_hh"))
        projection = getattr(self, "weight_hr" + name) if self.proj_size else None
        outputs: list[Tensor] = []
        if sizes is not None:
            return self._run_packed(
                step, F.linear(inputs, w_ih, b_ih).split(sizes), state, (w_hh, b_hh, projection), backwards
            )
        gates = unbind(F.linear(inputs, w_ih, b_ih), 0)
        for g in reversed(gates) if backwards else gates:
            out, state = step(g, state, w_hh, b_hh, projection)
            outputs.append(out)
        return stack(outputs[::-1] if backwards else outputs), state

    def _run_packed(self, step, gates: Any, start: State, weights: tuple, backwards: bool) -> tuple[Tensor, State]:
        """As _run: a sample that has ended keeps its state; backwards, it joins with its first state at its last step."""
        outputs: list[Tensor] = []
        ended: list[State] = []
        count = len(gates[-1] if backwards else gates[0])
        state = self._each(start, lambda h: h[:count])
        for g in reversed(gates) if backwards else gates:
            n = len(g)
            if n < count:
                ended.append(self._each(state, lambda h: h[n:]))  # noqa: B023
                state = self._each(state, lambda h: h[:n])  # noqa: B023
            elif n > count:
                state = self._both(state, self._each(start, lambda h: h[count:n]))  # noqa: B023
            count = n
            out, state = step(g, state, *weights)
            outputs.append(out)
        for rest in reversed(ended):
            state = self._both(state, rest)
        return cat(outputs[::-1] if backwards else outputs), state

    def _both(self, a: State, b: State) -> State:
        """The states of two groups of samples as one."""
        return tuple([cat(pair) for pair in zip(a, b, strict=True)]) if self.mode == "LSTM" else cat([a, b])

    def _each(self, hx: State, fn: Any) -> State:
        """`fn` applied to the state, or to both parts of an LSTM's."""
        if hx is None:
            return None
        return tuple([fn(h) for h in hx]) if self.mode == "LSTM" else fn(hx)

    def _start(self, batch: int, dtype: Any) -> State:
        layers = self.num_layers * len(self._suffixes())
        hidden = zeros(layers, batch, self.proj_size or self.hidden_size, dtype=dtype)
        return (hidden, zeros(layers, batch, self.hidden_size, dtype=dtype)) if self.mode == "LSTM" else hidden

    def _one_sample(self, h: Tensor) -> Tensor:
        if h.ndim != 2:
            what = "batched" if self.mode != "LSTM" else "(h_0, c_0)"
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {h.ndim}-D tensor ({what})")
        return h.unsqueeze(1)

    def _checked(self, hx: State, batch: int) -> State:
        layers = self.num_layers * len(self._suffixes())
        expected = (layers, batch, self.proj_size or self.hidden_size)
        if self.mode == "LSTM":
            for h, size, what in (
                (hx[0], expected, "hidden[0]"),
                (hx[1], (layers, batch, self.hidden_size), "hidden[1]"),
            ):
                if tuple(h.shape) != size:
                    raise RuntimeError(f"Expected {what} size {size}, got {list(h.shape)}")
        elif tuple(hx.shape) != expected:
            raise RuntimeError(f"Expected hidden size {expected}, got {list(hx.shape)}")
        return hx

    def _check_input(self, input: Tensor) -> None:
        dtype = self.weight_ih_l0.dtype
        if input.dtype is not dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert input: input.to({dtype}), or convert "
                f"model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )


def _check(dropout, num_layers, bias, batch_first, input_size, hidden_size, proj_size) -> None:
    if not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but "
            f"got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Raises ValueError for another nonlinearity and for proj_size."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Gates decide what a cell forgets, takes in and shows: c = f * c + i * g, h = o * tanh(c). The state is the pair (h, c).

    Hochreiter and Schmidhuber 1997; forget gates by Gers et al. 2000.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """h = (1 - z) * n + z * h with n = tanh(W_in x + b_in + r * (W_hn h + b_hn)). Cho et al. 2014, https://arxiv.org/abs/1406.1078

    Raises ValueError for proj_size.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step: (input (N, input_size), state (N, hidden_size)) -> state; both may be without batch.

    Raises ValueError for other dimensions, RuntimeError for other sizes.
    """

    def __init__(self, mode: str, input_size: int, hidden_size: int, bias: bool, device: Any, dtype: Any):
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.bias = mode, input_size, hidden_size, bias
        rows = GATES[mode] * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        self.register_parameter("bias_ih", Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.register_parameter("bias_hh", Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def forward(self, input: Tensor, hx: State = None) -> State:
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        pair = self.mode == "LSTM"
        for h in hx if pair and hx is not None else (hx,):
            if h is not None and h.ndim not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {h.ndim}D instead")
        batched = input.ndim == 2
        x = input if batched else input.unsqueeze(0)
        if x.shape[1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}")
        if hx is None:
            hx = zeros(x.shape[0], self.hidden_size, dtype=x.dtype)
            hx = (hx, hx) if pair else hx
        elif not batched:
            hx = tuple([h.unsqueeze(0) for h in hx]) if pair else hx.unsqueeze(0)
        for number, h in enumerate(hx if pair else (hx,)):
            if h.shape[0] != x.shape[0]:
                raise RuntimeError(
                    f"Input batch size {x.shape[0]} doesn't match hidden{number if pair else ''} batch size {h.shape[0]}"
                )
            if h.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number if pair else ''} has inconsistent hidden_size: got {h.shape[1]}, expected {self.hidden_size}"
                )
        _, state = STEPS[self.mode](F.linear(x, self.weight_ih, self.bias_ih), hx, self.weight_hh, self.bias_hh)
        if batched:
            return state
        return tuple([h.squeeze(0) for h in state]) if pair else state.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an RNN: (input (N, input_size), state (N, hidden_size)) -> state. Raises ValueError for another nonlinearity."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity


class LSTMCell(RNNCellBase):
    """The state is the pair (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__("LSTM", input_size, hidden_size, bias, device, dtype)


class GRUCell(RNNCellBase):
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__("GRU", input_size, hidden_size, bias, device, dtype)
