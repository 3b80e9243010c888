"""Drivers of chapter 17: an optimizer, attention, a small model."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from ..plain import odd
from .calls import by_hand, import_torch, leaf64


def _adamw_run(entry: Any, params: list, grads: list, settings: dict[str, Any]) -> Any:
    """The parameters as tensors, and their values after each step as one list of numbers."""
    tensors, state, path = [leaf64(p) for p in params], {}, []  # type: ignore[var-annotated]
    copies = list(tensors)
    for at_step in grads:
        for p, g in zip(tensors, at_step, strict=True):
            p.grad = leaf64(g).detach()
        with by_hand(tensors=True):
            entry(copies, state, **settings)
        path.append([n for p in tensors for n in p.detach().reshape(-1).tolist()])
    return tensors, copies, path


def adamw_steps(entry: Any, params: list, grads: list, settings: dict[str, Any]) -> Any:
    """The learner's step, once for each list of gradients: all parameters after each step."""
    return _adamw_run(entry, params, grads, settings)[2]


def adamw_leaves(entry: Any, params: list, grads: list) -> Any:
    """What became of the tensors themselves."""
    tensors, copies, path = _adamw_run(entry, params, grads, {})
    changed = all(a is b for a, b in zip(tensors, copies, strict=True)) and path[0] != path[1]
    recorded, seen = any(p.grad_fn is not None for p in tensors), all(p._version for p in tensors)
    return {
        "changed in place": changed,
        "still leaves": all(p.is_leaf for p in tensors),
        "still require gradients": all(p.requires_grad for p in tensors),
        "nothing recorded": not recorded and (seen or "hidden from autograd"),
    }


class Borrowed(Exception):
    """The answer calls the library's function instead of computing."""


def attention_of(entry: Any, q: Any, k: Any, v: Any, causal: bool, g: Any) -> Any:
    """The learner's attention, and the gradients of its product with g at q, k and v. The library's own is switched off meanwhile."""
    functional = import_torch().nn.functional
    library = functional.scaled_dot_product_attention

    def refuse(*_: Any, **__: Any) -> Any:
        raise Borrowed("the library's attention; this exercise asks for its parts")

    leaves = [leaf64(x) for x in (q, k, v)]
    functional.scaled_dot_product_attention = refuse
    try:
        out = entry(*leaves, causal)
    finally:
        functional.scaled_dot_product_attention = library
    if not getattr(out, "requires_grad", False):
        return odd("an output without a graph") if hasattr(out, "requires_grad") else out
    if tuple(out.shape) != tuple(leaf64(g).shape):
        return odd(f"an output of shape {tuple(out.shape)}")
    out.backward(leaf64(g).detach())
    # An unused parameter has no gradient
    return [
        out.detach().tolist(),
        *((x * 0 if x.grad is None else x.grad).tolist() for x in leaves),
    ]


def on_a_tensor(entry: Any, numbers: list) -> Any:
    """The learner's function of one tensor."""
    return entry(import_torch().tensor(numbers))


@cache
def _forms_of_digits() -> tuple[Any, Any, Any, Any]:
    """Ten forms of moved digits to train on; of the four others, 500 digits that are not moved yet, with a rim of two pixels."""
    from ...datasets import digits

    images, labels = digits(seed=None, shift=1)
    others = import_torch().nn.functional.pad(digits(seed=None)[0][-500:], (2, 2, 2, 2))
    return images[:1287] / 16, labels[:1287], others / 16, labels[-500:]


def small_model(entry: Any, seed: int) -> Any:
    """Train the learner's model, count its parameters, and how many digits it reads that it has never seen."""
    torch = import_torch()
    images, labels, others, expected = _forms_of_digits()
    model = entry(images.clone(), labels.clone())
    places = random.Random(seed)
    new = torch.stack(
        [image[:, (y := places.randint(0, 2)) : y + 10, (x := places.randint(0, 2)) : x + 10] for image in others]
    )
    with torch.no_grad():
        model.eval()
        dtype = next((p.dtype for p in model.parameters()), new.dtype)  # a model may be .double()
        right = (model(new.to(dtype)).argmax(1) == expected).sum().item()
    return {"parameters": sum(p.numel() for p in model.parameters()), "right": right}
