"""Convolutions, and the padding and unfolding that go with them. The derivatives are in ops/convolution.py."""

from typing import Any

import numpy as np

from ...core import errors
from ...core.facts import ChannelMismatch
from ...ops import convolution as rows
from ...ops.dims import wrap_dim
from ...ops.resample import ROWS
from ...ops.shape import slice_, unsqueeze
from ...tensors.tensor import Tensor
from ._arguments import several


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """input (N, C, L) or (C, L), weight (O, C / groups, k); result (N, O, L') or (O, L')."""
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """A window slides over the image; each result is the sum of products of the window and a kernel, plus bias.

    input    (N, C, H, W) or (C, H, W); weight (O, C / groups, kH, kW); bias (O,)
    stride   how far the window moves; padding: zeros around the image, or "same" or "valid"; dilation: the distance of a window's cells
    groups   split the channels into groups that do not see each other
    Result (N, O, H', W') with H' = (H + 2 * padding - dilation * (kH - 1) - 1) // stride + 1.
    Raises RuntimeError for sizes that do not fit.
    """
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """As conv2d, with three spatial dimensions."""
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)


def _batched(n: int, name: str, input: Tensor) -> tuple[Tensor, bool]:
    if input.ndim == n + 2:
        return input, True
    if input.ndim == n + 1:
        return unsqueeze(input, 0), False
    raise RuntimeError(
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(input.shape)}"
    )


def _options(n: int, weight: Tensor, groups: int, **options: Any) -> list[tuple[int, ...]]:
    """The options, one number per spatial dimension; raises PyTorch's errors about impossible ones."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    sizes = [several(value, n, name) for name, value in options.items()]
    if weight.ndim != n + 2:
        raise RuntimeError(
            f"expected stride to be a single integer value or a list of {weight.ndim - 2} values to match the convolution dimensions, but "
            f"got stride={list(sizes[0])}"
        )
    for name, value in zip(options, sizes, strict=True):
        if name == "padding" and min(value) < 0:
            raise RuntimeError("negative padding is not supported")
        if name == "stride" and min(value) <= 0:
            raise RuntimeError("non-positive stride is not supported")
        if name == "dilation" and min(value) <= 0:
            raise RuntimeError(f"dilation should be greater than zero, but got {list(value)}")
    if 0 in weight.shape[2:]:
        raise RuntimeError(f"kernel size should be greater than zero, but got {list(weight.shape[2:])}")
    if weight.shape[0] < groups:
        what = f"at least {groups} at dimension 0, but got weight of size {list(weight.shape)} instead"
        raise RuntimeError(f"Given groups={groups}, expected weight to be {what}")
    if weight.shape[0] % groups:
        what = f"divisible by {groups} at dimension 0, but got weight of size [{list(weight.shape)}] instead"
        raise RuntimeError(f"Given groups={groups}, expected weight to be {what}")
    return sizes


def _check(
    input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, channels: int, out_channels: int, given: str
) -> None:
    if input.shape[1] != channels:
        raise errors.new(
            RuntimeError,
            f"Given {given}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have {channels} "
            f"channels, but got {input.shape[1]} channels instead",
            "Channels are dimension 1 of a batch of images (N, C, H, W).",
            instead=f"a layer with in_channels={input.shape[1]}, or permute the image's dimensions if channels come last.",
            facts=ChannelMismatch(tuple(weight.shape), tuple(input.shape), channels),
        )
    if bias is not None and tuple(bias.shape) != (out_channels,):
        raise RuntimeError(
            f"Given {'' if given[0] == 'g' else given + ', '}weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{out_channels} elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_empty(input: Tensor) -> None:
    if 0 in input.shape[2:] and 0 not in input.shape[:2]:
        text = [*input.shape[:2], *[1] * (input.ndim == 3), *input.shape[2:]]
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {text}")


def _convolve(n, input, weight, bias, stride, padding, dilation, groups):
    input, batched = _batched(n, f"conv{n}d", input)
    stride, dilation = _options(n, weight, groups, stride=stride, dilation=dilation)
    kernel = weight.shape[2:]
    _check(input, weight, bias, groups, weight.shape[1] * groups, weight.shape[0], f"groups={groups}")
    if isinstance(padding, str):
        if padding == "valid":
            padding = (0,) * n
        elif padding == "same":
            if any(s != 1 for s in stride):
                raise RuntimeError("padding='same' is not supported for strided convolutions")
            total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
            padding = tuple([t // 2 for t in total])
            extra = [t % 2 for t in total]  # an odd row or column of padding is added at the end
            if any(extra):
                input = pad(input, [m for e in reversed(extra) for m in (0, e)])
        else:
            raise RuntimeError(f"Invalid padding string: '{padding}'")
    (padding,) = _options(n, weight, groups, padding=padding)
    size = [m + 2 * p for m, p in zip(input.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if any(r > m for r, m in zip(reach, size, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, size))}). Kernel size: ({' x '.join(map(str, kernel))}). "
            "Kernel size can't be greater than actual input size"
        )
    _check_empty(input)
    if input.shape[1] == 0:  # as in PyTorch: without channels in, none come out
        weight, bias = weight[:0], bias if bias is None else bias[:0]
    if bias is None:
        out = rows.convolution(input, weight, stride, padding, dilation, groups)
    else:
        out = rows.convolution_bias(input, weight, bias, stride, padding, dilation, groups)
    return out if batched else out.squeeze(0)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, output_padding=0, groups=1, dilation=1,
) -> Tensor:  # fmt: skip
    """input (N, C, L), weight (C, O / groups, k); result (N, O, L')."""
    return _transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, output_padding=0, groups=1, dilation=1,
) -> Tensor:  # fmt: skip
    """The transpose of conv2d: each input cell adds a multiple of the kernel to the result. It makes images larger.

    input (N, C, H, W), weight (C, O / groups, kH, kW); H' = (H - 1) * stride - 2 * padding + dilation * (kH - 1) + output_padding + 1.
    """
    return _transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, output_padding=0, groups=1, dilation=1,
) -> Tensor:  # fmt: skip
    """As conv_transpose2d, with three spatial dimensions."""
    return _transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _transpose(n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    input, batched = _batched(n, f"conv_transpose{n}d", input)
    stride, padding, more, dilation = _options(
        n, weight, groups, stride=stride, padding=padding, output_padding=output_padding, dilation=dilation
    )
    _check(input, weight, bias, groups, weight.shape[0], weight.shape[1] * groups, "transposed=1")
    for m, s, d in zip(more, stride, dilation, strict=True):
        if m >= max(s, d):
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got output_padding: "
                f"{list(more)} stride: {list(stride)} dilation: {list(dilation)}"
            )
    kernel = weight.shape[2:]
    size = tuple([
        (m - 1) * s - 2 * p + d * (k - 1) + o + 1
        for m, s, p, d, k, o in zip(input.shape[2:], stride, padding, dilation, kernel, more, strict=True)
    ])  # fmt: skip
    _check_empty(input)
    if min(size) < 1:
        before, after = (" x ".join(map(str, s)) for s in (input.shape[2:], size))
        raise RuntimeError(
            f"Given input size per channel: ({before}). Calculated output size per channel: ({after}). Output size is too small"
        )
    positions = rows.out_size(size, kernel, stride, padding, dilation)
    if positions != tuple(input.shape[2:]):  # output_padding beyond the stride: as if the input went on with zeros
        extra = [p - m for p, m in zip(positions, input.shape[2:], strict=True)]
        input = pad(input, [p for e in reversed(extra) for p in (0, e)])
    out = rows.conv_transpose(input, weight, size, stride, padding, dilation, groups)
    if bias is not None:
        out = out + bias.reshape((-1,) + (1,) * n)
    return out if batched else out.squeeze(0)


def _window(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> list[tuple[int, ...]]:
    """What unfold and fold have in common: the options as pairs, and the errors about them."""
    arguments = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    sizes = [several(value, 2, name) for name, value in arguments.items()]
    for name, (h, w) in zip(arguments, sizes, strict=True):
        short = {"kernel_size": "kernel", "padding": "pad"}.get(name, name)
        if min(h, w) < (name != "padding"):
            what = "be non-negative" if name == "padding" else "be greater than zero"
            raise RuntimeError(
                f"{name.replace('_', ' ')} should {what}, but got {short}_height: {h} {short}_width: {w}"
            )
    return sizes


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Every window as a column: (N, C, H, W) -> (N, C * kH * kW, windows). Raises RuntimeError where no window fits."""
    kernel, dilation, padding, stride = _window(kernel_size, dilation, padding, stride)
    if input.ndim < 2:
        wrap_dim(1, input.ndim)
    if input.ndim not in (3, 4) or 0 in input.shape[input.ndim - 3 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
            f"{list(input.shape)}"
        )
    input, batched = _batched(2, "unfold", input)
    blocks = rows.out_size(input.shape[2:], kernel, stride, padding, dilation)
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[2:])}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"calculated shape of the array of sliding blocks as {blocks}, but its components must be at least one."
        )
    out = rows.im2col(input, kernel, stride, padding, dilation)
    return out if batched else out.squeeze(0)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The transpose of unfold: columns are added up where their windows overlap. (N, C * kH * kW, windows) -> (N, C, H, W).
    Raises RuntimeError for sizes that do not fit."""
    size = several(output_size, 2, "output_size")
    kernel, dilation, padding, stride = _window(kernel_size, dilation, padding, stride)
    if input.ndim not in (2, 3) or 0 in input.shape[input.ndim - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
            f"{list(input.shape)}"
        )
    batched = input.ndim == 3
    if not batched:
        input = unsqueeze(input, 0)
    channels, rest = divmod(input.shape[1], kernel[0] * kernel[1])
    if rest:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={input.shape[1]} and kernel_size={kernel}."
        )
    blocks = rows.out_size(size, kernel, stride, padding, dilation)
    if blocks[0] * blocks[1] != input.shape[2]:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, expected size of "
            "input's dimension 2 to match the calculated number of sliding blocks "
            f"{blocks[0]} * {blocks[1]} = {blocks[0] * blocks[1]}, but got input.size(2)={input.shape[2]}."
        )
    if min(blocks) <= 0:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, calculated shape of "
            f"the array of sliding blocks as {blocks}, which is too small (non-positive)"
        )
    out = rows.col2im(input, channels, size, kernel, stride, padding, dilation)
    return out if batched else out.squeeze(0)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """More cells around a tensor; `pad` counts pairs (before, after) from the last dimension on; negative numbers cut off.

    mode "constant" (with `value`), "reflect" (without repeating the edge), "replicate" (the edge) or "circular".
    Raises RuntimeError for an odd or impossible number of cells, NotImplementedError for another mode or number of dimensions.
    """
    pad = [int(p) for p in pad]
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    if mode == "constant":
        return _pad_constant(input, pairs, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if not (1 <= len(pairs) <= 3 and input.ndim - len(pairs) in (1, 2)):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    if mode == "circular" and min(pad) < 0:  # around the rest of the image
        if any(-min(a, 0) - min(b, 0) >= m for (a, b), m in zip(pairs, input.shape[::-1], strict=False)):
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        input = _pad_constant(input, [(min(a, 0), min(b, 0)) for a, b in pairs], 0)
        pairs = [(max(a, 0), max(b, 0)) for a, b in pairs]
    n = len(pairs)
    if mode != "circular" and 0 in input.shape[input.ndim == n + 2 :]:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    maps: list[tuple[np.ndarray, None]] = []
    for i, (before, after) in enumerate(pairs):
        dim = input.ndim - 1 - i
        n = input.shape[dim]
        if mode == "reflect" and max(before, after) >= n:
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at "
                f"dimension {dim} of input {list(input.shape)}"
            )
        if mode == "circular" and max(before, after) > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        along = np.arange(-before, n + after)
        if mode == "reflect":
            along = np.abs(along)
            along = np.where(along >= n, 2 * (n - 1) - along, along)
        else:
            along = np.clip(along, 0, n - 1) if mode == "replicate" else along % n
        maps.insert(0, (along[None], None))
    return ROWS[mode, len(maps)](input, tuple(maps))


def _pad_constant(input: Tensor, pairs: list[tuple[int, int]], value: float) -> Tensor:
    for i, (before, after) in enumerate(pairs):  # negative padding first: a slice
        if before < 0 or after < 0:
            dim = input.ndim - 1 - i
            input = slice_(input, dim, max(0, -before), input.shape[dim] - max(0, -after), 1)
    pairs = [(max(0, a), max(0, b)) for a, b in pairs]
    shape, key = list(input.shape), [slice(None)] * input.ndim
    for i, (before, after) in enumerate(pairs):
        dim = input.ndim - 1 - i
        key[dim] = slice(before, before + shape[dim])
        shape[dim] += before + after
    return rows.constant_pad(input, tuple(shape), tuple(key), value)


__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "pad",
    "unfold",
]
