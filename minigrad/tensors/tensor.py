"""The public `Tensor` class: methods and properties.

Storage and autograd fields are in core/variable.py, the mathematics in ops/, in-place writes in autograd/inplace.py. Methods that only
forward to a function or a row are in the table of methods.py.
"""

from __future__ import annotations

import builtins
import copy as copy_module
import math
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from .. import autograd
from ..autograd import inplace
from ..core import dtypes, errors, facts, provenance, variable
from ..core.arguments import forgiving
from ..core.constants import as_tensor_like
from ..core.devices import CPU, META, STRIDED, contiguous_format, row_by_row
from ..core.devices import device as make_device
from ..core.devices import memory_format as formats
from ..core.dispatch import state
from ..core.meta import MetaArray, no_numbers
from ..core.node import add_hook, hooks_of
from ..core.storage import address, array_at, in_order, owner_of, place_of
from ..core.variable import ANY, INFERENCE, Size, Variable, leaf_edge, refresh, wrap
from ..ops import elementwise, linalg, shape, views
from ..ops import index as index_ops
from ..ops.dims import wrap_dim
from . import indexing, printing
from .methods import Methods, number_first, with_array

if TYPE_CHECKING:
    from ..core import devices
    from ..core.devices import DeviceLike, layout, memory_format
    from ..core.node import GradientEdge, Node, RemovableHandle
    from ..random import Generator

_new = object.__new__


def _no_gradient_for_hook() -> RuntimeError:
    return errors.new(
        RuntimeError,
        "cannot register a hook on a tensor that doesn't require gradient",
        facts=facts.NoGradientToObserve("register_hook"),
    )


class Storage:
    """Where a tensor's numbers are: tells whether tensors share it."""

    def __init__(self, array: np.ndarray, itemsize: int) -> None:
        self.array, self.itemsize = owner_of(array), itemsize

    def data_ptr(self) -> int:
        return address(self.array)

    def nbytes(self) -> int:
        return self.array.nbytes

    def size(self) -> int:
        return self.array.nbytes // self.itemsize

    __len__ = size

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, Storage) and other.array is self.array

    def __hash__(self) -> int:
        return id(self.array)


_TO = """to() received an invalid combination of arguments - got ({}), but expected one of:
 * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)
 * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)
"""  # noqa: E501


def to_what(args: tuple[dtypes.dtype | str, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """(dtype, copy, memory format, device) of the arguments of `to`, None for what is not given. Raises TypeError for others, and the
    device's error for a device that does not exist."""
    names = ["non_blocking", "copy"]
    if args and isinstance(args[0], (dtypes.dtype, Variable)):
        names = ["like", *names]
    else:
        names = ["device", "dtype", *names]
        kwargs = {"device" if k == "tensor" else k: v for k, v in kwargs.items()}
    arguments = dict(zip(names, args, strict=False))
    fits = len(args) <= len(names) and not arguments.keys() & kwargs.keys()
    arguments.update(kwargs)
    device, dtype = arguments.pop("device", None), arguments.pop("dtype", None)
    like, copy = arguments.pop("like", None), arguments.pop("copy", False)
    fits = fits and isinstance(copy, builtins.bool) and isinstance(arguments.pop("non_blocking", False), builtins.bool)
    order = arguments.pop("memory_format", None)
    fits = (
        fits
        and (dtype is None or isinstance(dtype, dtypes.dtype))
        and not arguments
        and isinstance(order, (formats, type(None)))
    )
    if isinstance(device, Variable):
        like, device = device, None
    if not fits or not isinstance(device, (str, int, make_device, type(None))) or isinstance(device, builtins.bool):
        kinds = [type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
        raise errors.new(TypeError, _TO.format(", ".join(kinds)))
    if isinstance(like, Variable):
        device = like.device
    target = None if device is None else make_device(device)
    return (like.dtype if isinstance(like, Variable) else dtype if like is None else like), copy, order, target


class Tensor(Methods):
    """Numbers of one dtype in a rectangular arrangement, able to remember how they were computed."""

    __slots__ = ("__dict__",)  # for attributes that users set; created with the first one
    __array_priority__ = 1000  # numpy leaves `array * tensor` to us

    # Making -----------------------------------------------------------------------------------------------------------

    def __new__(cls, *args: Any, dtype: dtypes.dtype | None = None) -> Tensor:
        """Tensor(2, 3): sizes, numbers undefined. Tensor([1, 2]): values as float32. Better: tensor(...), empty(...)."""
        if len(args) == 1 and not isinstance(args[0], int):
            values = args[0].array if isinstance(args[0], Variable) else args[0]
            return cls._wrap(dtypes.native(np.array(values, dtype=dtypes.get_default_dtype().numpy)))
        return cls._wrap(np.zeros(args or (0,), dtypes.get_default_dtype().numpy))

    @classmethod
    def _wrap(cls, array: np.generic | np.ndarray) -> Tensor:
        """A constant Tensor around an ndarray (not a copy); on a subclass, one of that class."""
        t = wrap(array)
        if cls is Tensor:
            return t
        out = _new(cls)
        for slot in Variable.__slots__[1:]:
            if hasattr(t, slot):
                setattr(out, slot, getattr(t, slot))
        return out

    # Attributes -------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return Size(self.array.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the size of one dimension."""
        return Size(self.array.shape) if dim is None else self.array.shape[wrap_dim(dim, self.array.ndim, scalar=False)]

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def dim(self) -> int:
        return self.array.ndim

    ndimension = dim

    def numel(self) -> int:
        return self.array.size

    nelement = numel

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.from_numpy_dtype(self.array.dtype)

    @property
    def device(self) -> devices.device:
        return META if isinstance(self.array, MetaArray) else CPU

    @property
    def itemsize(self) -> int:
        return self.array.itemsize

    def element_size(self) -> int:
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """How many elements to step in the storage for one step along each dimension (or along `dim`)."""
        strides = tuple([s // self.array.itemsize for s in self.array.strides])
        # Of a new array numpy counts an empty dimension as 0, PyTorch as 1
        if not self.array.size and not any(strides):
            strides = tuple([math.prod([max(n, 1) for n in self.array.shape[d + 1 :]]) for d in range(self.array.ndim)])
        return strides if dim is None else strides[wrap_dim(dim, self.array.ndim, scalar=False)]

    def storage_offset(self) -> int:
        return place_of(self.array)[1]

    def data_ptr(self) -> int:
        return address(self.array)

    def is_contiguous(self, memory_format: memory_format | None = None) -> bool:
        row_by_row(memory_format, "is_contiguous")
        return self.array.flags.c_contiguous

    @property
    def layout(self) -> layout:
        return STRIDED

    def get_device(self) -> int:
        return -1

    def untyped_storage(self) -> Storage:
        """The storage, for asking whether two tensors share one: data_ptr(), nbytes(), len()."""
        return Storage(self.array if self.view_meta is None else self.view_meta.base.array, 1)

    def storage(self) -> Storage:
        """As untyped_storage, but counted in elements."""
        return Storage(self.array if self.view_meta is None else self.view_meta.base.array, self.array.itemsize)

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        return False

    is_conj = is_neg = is_complex

    def is_signed(self) -> bool:
        return self.array.dtype.kind in "fi"

    def is_inference(self) -> bool:
        return self.version is INFERENCE

    is_cuda = is_sparse = is_quantized = is_mps = False

    @property
    def is_meta(self) -> bool:
        return isinstance(self.array, MetaArray)

    @property
    def is_cpu(self) -> bool:
        return not isinstance(self.array, MetaArray)

    # Its place in the graph ----------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return variable.requires(self)

    @requires_grad.setter
    def requires_grad(self, requires_grad: bool) -> None:
        if not isinstance(requires_grad, builtins.bool):
            raise errors.new(RuntimeError, "requires_grad must be a bool")
        if self.edge is not None:
            if requires_grad:
                return
            raise errors.new(
                RuntimeError,
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
                "doesn't require differentiation use var_no_grad = var.detach().",
                chapter="chapter 10, Controlling the graph",
                facts=facts.FlagOfResult(),
            )
        if requires_grad and self.array.dtype.kind != "f":
            raise errors.new(
                RuntimeError,
                "only Tensors of floating point dtype can require gradients",
                f"The tensor holds {self.dtype}.",
                "A derivative asks what a small change does; whole numbers have no small changes.",
                "make the tensor with decimal points (torch.tensor([1., 2.])) or convert it with .float().",
                "chapter 09, Tensors",
                facts.NotDifferentiable(str(self.dtype)),
            )
        if requires_grad and self.version is INFERENCE and not state.inference:
            raise errors.new(
                RuntimeError,
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
                facts=facts.InferenceTensor(),
            )
        self._attach(requires_grad)
        self.requires = requires_grad
        if self.view_meta is not None:
            self.view_meta.leaf = requires_grad

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise errors.new(RuntimeError, "requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record operations on this tensor from now on (or no longer). Raises RuntimeError for integers and for results of operations,
        TypeError for other types than bool."""
        _not_transformed("requires_grad_")
        if not isinstance(requires_grad, builtins.bool):
            kind = errors.type_name(requires_grad)
            raise errors.new(
                TypeError, f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {kind}"
            )
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        if self.view_meta is not None:
            refresh(self, always=True)
        return self.edge is None

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made this tensor; None for leaves and constants."""
        if self.view_meta is not None:
            refresh(self, always=True)
        return None if self.edge is None else self.edge[0]

    @property
    def output_nr(self) -> int:
        return 0 if self.edge is None else self.edge[1]

    @property
    def grad(self) -> Any:
        if self._grad is None and self.edge is not None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
                "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() "
                "on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
                "github.com/pytorch/pytorch/pull/30531 for more information.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Variable):
                raise errors.new(
                    TypeError,
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}",
                )
            if value is self:
                raise errors.new(RuntimeError, "can't assign Variable as its own grad")
            expected = self.array.dtype if self.meta is None or self.meta.grad_dtype is ANY else self.meta.grad_dtype
            if expected is not None and value.array.dtype is not expected:
                got, kind = (
                    errors.TYPE_NAMES[dtype.name].removesuffix("Tensor") for dtype in (value.array.dtype, expected)
                )
                raise errors.new(
                    RuntimeError,
                    f"attempting to assign a gradient with dtype '{got.lower()}' to a tensor with grad_dtype '{kind}'. The gradient "
                    "must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute "
                    "with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
                    "its gradient may break downstream systems that assume they match.",
                )
            if value.array.shape != self.array.shape:
                raise errors.new(
                    RuntimeError,
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. Please "
                    "ensure that the gradient and the tensor are the same size",
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> dtypes.dtype | None:
        """The dtype of a leaf's gradient: the leaf's own unless set; None for any. Raises RuntimeError for other tensors."""
        if not self.is_leaf:
            raise errors.new(RuntimeError, "grad_dtype can only be accessed on leaf tensors.")
        if self.meta is None or self.meta.grad_dtype is ANY:
            return self.dtype
        return None if self.meta.grad_dtype is None else dtypes.from_numpy_dtype(self.meta.grad_dtype)

    @grad_dtype.setter
    def grad_dtype(self, dtype: dtypes.dtype | None) -> None:
        if not self.is_leaf:
            raise errors.new(RuntimeError, "grad_dtype can only be set on leaf tensors.")
        if dtype is not None and not isinstance(dtype, dtypes.dtype):
            raise errors.new(RuntimeError, f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
        kind = None if dtype is None else dtype.numpy
        if kind is not None and self._grad is not None and self._grad.array.dtype is not kind:
            expected, there = (errors.TYPE_NAMES[k.name].removesuffix("Tensor") for k in (kind, self._grad.array.dtype))
            raise errors.new(
                RuntimeError,
                f"Cannot set grad_dtype to '{expected}' because there is already a gradient with dtype '{there.lower()}'. Please clear the "
                "gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype.",
            )
        meta = variable.meta_of(self)
        meta.grad_dtype = kind
        node = meta.accumulator and meta.accumulator()
        if node:
            node.dtype = kind

    @property
    def volatile(self) -> bool:
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @property
    def _version(self) -> int:
        if self.version is INFERENCE:
            raise errors.new(RuntimeError, "Inference tensors do not track version counter.")
        return self.version[0] - len(self.version) + 1  # detach_() is no write

    @property
    def _base(self) -> Tensor | None:
        return None if self.view_meta is None else self.view_meta.base

    def _is_view(self) -> bool:
        return self.view_meta is not None

    @property
    def data(self) -> Tensor:
        """The same storage outside of every graph; writes to it are not counted. Better: detach(), or no_grad."""
        out = Tensor._wrap(self.array)
        if self.requires:
            out.detached_by = "detach"
        provenance.cut(out, (self,), "detach")
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Variable):
            raise errors.new(TypeError, f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and value.array.dtype.kind != "f":
            raise errors.new(
                RuntimeError, "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        if self.meta is not None and (self.array.shape, self.array.dtype) != (value.array.shape, value.array.dtype):
            self.meta.accumulator = None  # graphs recorded so far go on with the old shape
        self.array = value.array

    @data.deleter
    def data(self) -> None:
        raise errors.new(RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!")

    def detach(self) -> Tensor:
        """The same numbers (shared storage, shared version) outside of the graph."""
        out = Tensor._wrap(self.array)
        out.version = self.version
        if self.requires:
            out.detached_by = "detach"
        provenance.cut(out, (self,), "detach")
        return out

    def detach_(self) -> Self:
        """Cut this tensor from its history. Raises RuntimeError for a view, whose base would keep it."""
        if self.view_meta is not None:
            raise errors.new(
                RuntimeError,
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
                "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. "
                "To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
            )
        if self.requires:
            self.detached_by = "detach"
        if self.edge is not None and self.version is not INFERENCE:
            self.version[0] += 1
            self.version.append(self.version[0])
            variable.meta_of(self).detached_at = self.version[0]
        self._attach(False)
        self.edge, self.requires = None, False
        if self.meta is not None:
            self.meta.tangents = None
        return self

    def _attach(self, attached: bool) -> None:
        """Graphs recorded so far give this leaf its gradient only as long as it requires gradients."""
        node = self.meta and self.meta.accumulator and self.meta.accumulator()
        if node:
            node.variable = self if attached else wrap(self.array)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor | GradientEdge] | None = None,
    ) -> None:
        """Compute the gradient of this tensor with respect to the leaves of its graph and add it to their `.grad`.

        gradient: the gradient of something further with respect to this tensor, of its shape; not needed for a single number.
        """
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep `.grad` of this result of an operation, too. No effect on leaves. Raises RuntimeError if it requires no gradient."""
        _not_transformed("retain_grad")
        if not self.requires_grad:
            raise errors.new(
                RuntimeError,
                "can't retain_grad on Tensor that has requires_grad=False",
                facts=facts.NoGradientToObserve("retain_grad"),
            )
        if not self.is_leaf:
            node, number = self.edge
            hooks_of(node).retain[number] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        if self.edge is None:
            return False
        node, number = self.edge
        ref = node.hooks.retain.get(number) if node.hooks is not None else None
        return ref is not None and ref() is self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """`hook(grad)` runs when the gradient of this tensor is complete; a Tensor it returns is used instead. Returns a handle.

        Raises RuntimeError for a tensor that needs no gradient.
        """
        if not self.requires_grad:
            raise _no_gradient_for_hook()
        edge = leaf_edge(self) if self.is_leaf else self.edge
        if edge is None:  # a view made under no_grad: no gradient reaches it
            return add_hook({}, hook)
        node, number = edge
        return add_hook(hooks_of(node).tensor.setdefault(number, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(tensor)` runs after `.grad` of this leaf was updated. Returns a handle.

        Raises RuntimeError for a tensor that is not a leaf or needs no gradient.
        """
        if not self.requires_grad:
            raise _no_gradient_for_hook()
        if not self.is_leaf:
            raise errors.new(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors")
        edge = leaf_edge(self)
        return add_hook({}, hook) if edge is None else hooks_of(edge[0]).add("accumulated", hook)

    # Out to Python and numpy ---------------------------------------------------------------------------------------------

    def item(self) -> Any:
        """The one number as a Python number. Raises RuntimeError if there are several."""
        if self.array.size != 1:
            raise errors.new(
                RuntimeError,
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar",
                f"The tensor has shape {tuple(self.array.shape)}.",
                instead="reduce it first (x.sum().item()), pick an element (x[0].item()), or use x.tolist().",
                facts=facts.NotOneNumber(self.array.size),
            )
        return self.array.item()

    def tolist(self) -> Any:
        return self.array.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The numbers as an ndarray that shares the storage. Raises RuntimeError if gradients are required, unless `force`."""
        if self.requires_grad and not force and state.grad:
            raise errors.numpy_of_recorded()
        if isinstance(self.array, MetaArray):
            raise no_numbers()
        return self.array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        try:
            grad_fn = None if self.grad_fn is None else type(self.grad_fn).__name__
        except RuntimeError:  # a view whose place in the graph is forbidden, see variable.refresh
            grad_fn = "Invalid"
        tangent = None
        if self.meta is not None and self.meta.tangents:
            for level in state.handlers:
                result = level.tangent(self)
                tangent = tangent if result is None else result
        if isinstance(self.array, MetaArray):
            return printing.meta_str(self.array.shape, self.dtype, self.requires_grad, grad_fn)
        tangent = None if tangent is None else repr(tangent)
        return printing.tensor_str(
            self.array, self.dtype, requires_grad=self.requires_grad, grad_fn=grad_fn, tangent=tangent
        )

    def __format__(self, spec: str) -> str:
        if self.array.ndim == 0:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise errors.new(TypeError, "len() of a 0-d tensor", facts=facts.NoDimension())
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        if self.array.ndim == 0:
            raise errors.new(TypeError, "iteration over a 0-d tensor", facts=facts.NoDimension())
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        return builtins.bool((self == element).array.any())

    def __bool__(self) -> bool:
        if self.array.size == 1:
            return builtins.bool(self.array.item())
        if not self.array.size:
            raise errors.new(
                RuntimeError, "Boolean value of Tensor with no values is ambiguous", facts=facts.AmbiguousTruth(0)
            )
        raise errors.new(
            RuntimeError,
            "Boolean value of Tensor with more than one value is ambiguous",
            f"A condition needs one answer, the tensor of shape {tuple(self.array.shape)} has {self.array.size}.",
            instead="(x > 0).all() or (x > 0).any(); to choose element by element, torch.where(x > 0, a, b).",
            facts=facts.AmbiguousTruth(self.array.size),
        )

    def _scalar(self) -> Any:
        if self.array.size != 1:
            raise errors.new(
                ValueError,
                "only one element tensors can be converted to Python scalars",
                facts=facts.NotOneNumber(self.array.size),
            )
        return self.array.item()

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __index__(self) -> int:
        if self.array.size != 1 or self.array.dtype.kind == "f":
            raise errors.new(TypeError, "only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __hash__(self) -> int:
        return id(self)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in _UNSUPPORTED]

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise errors.new(
                RuntimeError,
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
                "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001",
                instead="x.detach().clone().",
                facts=facts.ResultCopied(),
            )
        if id(self) in memo:
            return memo[id(self)]
        if isinstance(self.array, MetaArray):
            return self.detach().requires_grad_(self.requires)
        owner, offset, strides = place_of(self.array)  # copied once for all tensors that lie there
        out = _rebuild(type(self), copy_module.deepcopy(owner, memo), offset, self.array.shape, strides, self.requires)
        out._grad = copy_module.deepcopy(self._grad, memo)
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        owner, offset, strides = place_of(self.array)
        return (_rebuild, (type(self), in_order(owner), offset, self.array.shape, strides, self.requires_grad))

    # What methods.py has no line for ----------------------------------------------------------------------------------------

    def __sub__(self, other: Tensor | float | np.ndarray) -> Tensor:
        if isinstance(other, builtins.bool):
            raise errors.no_bools("sub", False)
        return (
            elementwise.sub.call(self, other)
            if isinstance(other, Variable)
            else number_first(elementwise.sub, self, other)
        )

    def __rsub__(self, other: Tensor | float | np.ndarray) -> Tensor:
        if isinstance(other, builtins.bool):
            raise errors.no_bools("sub", False)
        return (
            elementwise.rsub.call(self, other)
            if isinstance(other, Variable)
            else number_first(elementwise.rsub, self, other)
        )

    def __rtruediv__(self, other: float | np.ndarray) -> Tensor:
        return (
            elementwise.reciprocal(self) * other
            if isinstance(other, (int, float, np.generic, np.ndarray))
            else NotImplemented
        )

    def __matmul__(self, other: Tensor | np.ndarray) -> Tensor:
        if isinstance(other, np.ndarray):
            return with_array(linalg.matmul, self, other)
        return linalg.matmul(self, other) if isinstance(other, Variable) else NotImplemented

    def __rmatmul__(self, other: Tensor | np.ndarray) -> Tensor:
        if isinstance(other, np.ndarray):
            return with_array(lambda x, y: linalg.matmul(y, x), self, other)
        return linalg.matmul(other, self) if isinstance(other, Variable) else NotImplemented

    def add(self, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        """self + alpha * other"""
        return self + other if alpha == 1 else elementwise.add_times(self, other, alpha=alpha)

    def sub(self, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        """self - alpha * other"""
        return self - other if alpha == 1 else elementwise.sub_times(self, other, alpha=alpha)

    def mul(self, other: Tensor | float) -> Tensor:
        """self * other"""
        return self * other

    multiply, subtract = mul, sub

    def polygamma(self, n: int) -> Tensor:
        """The n-th derivative of digamma. Raises RuntimeError for a negative n."""
        return elementwise.polygamma(n, self)

    def polygamma_(self, n: int) -> Tensor:
        return inplace.write(self, lambda x: elementwise.polygamma(n, x))

    def where(self, condition: Tensor, other: Tensor | float) -> Tensor:
        """The elements of this tensor where `condition` is True, those of `other` elsewhere."""
        return elementwise.where(condition, self, other)

    def view_as(self, other: Tensor) -> Tensor:
        """The view with the shape of `other`."""
        return views.view_as_shape(self, other.array.shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        """The numbers in the shape of `other`."""
        return shape.reshape(self, other.array.shape)

    def expand_as(self, other: Tensor) -> Tensor:
        """Repeated to the shape of `other`, without copying."""
        return views.expand_checked(self, other.array.shape)

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order (a view). Warns unless there are 2, as PyTorch."""
        if self.array.ndim not in (0, 2):
            _warn_of_T(self.array.ndim)
        return shape.permute(self, tuple(range(self.array.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged (a view). Raises RuntimeError for a vector."""
        if self.array.ndim == 1:
            raise errors.new(
                RuntimeError,
                f"tensor.mT is only supported on matrices or batches of matrices. Got {self.array.ndim}-D tensor.",
            )
        return shape.transpose(self, -2, -1) if self.array.ndim else self

    @property
    def H(self) -> Tensor:
        """A matrix with rows and columns exchanged (a view). Raises RuntimeError unless there are 0 or 2 dimensions."""
        if self.array.ndim not in (0, 2):
            raise errors.new(
                RuntimeError, f"tensor.H is only supported on matrices (2-D tensors). Got {self.array.ndim}-D tensor."
            )
        return shape.transpose(self, 0, 1)

    @property
    def mH(self) -> Tensor:
        """As mT: the numbers are real."""
        return self.mT

    def adjoint(self) -> Tensor:
        """The last two dimensions exchanged (a view). Raises RuntimeError for a vector."""
        if self.array.ndim == 1:
            raise errors.new(
                RuntimeError, "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
            )
        return self.mT

    def conj(self) -> Tensor:
        """The tensor itself: its numbers are real."""
        return self

    conj_physical = resolve_conj = resolve_neg = conj
    real = property(conj)

    @property
    def imag(self) -> None:
        """Raises RuntimeError: there are no complex numbers here."""
        raise errors.new(RuntimeError, "imag is not implemented for tensors with non-complex dtypes.")

    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
        """A copy with `values` written (or added) at the positions that a tuple of tensors names."""
        values = as_tensor_like(values, self)
        indexing.check_written(self, values)
        positions = indexing.positions_of(indices)
        indexing.check_fits(self, positions, values)
        return index_ops.index_put(self, values, positions, accumulate)

    def __getitem__(self, key: Any) -> Tensor:
        return indexing.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.setitem(self, key, value)

    def __delitem__(self, key: Any) -> None:
        raise errors.new(
            TypeError, "Tensor does not support deleting items", instead="pick what stays: x[1:], x[mask]."
        )

    # Copies and conversions -------------------------------------------------------------------------------------------------

    def clone(self, *, memory_format: memory_format | None = None) -> Tensor:
        """A copy, in the same order in memory, or with torch.contiguous_format row by row. Gradients flow through it."""
        return shape.clone(self, "C") if row_by_row(memory_format, "clone") else shape.clone(self)

    def contiguous(self, memory_format: memory_format | None = None) -> Tensor:
        is_contiguous = self.array.flags.c_contiguous
        row_by_row(
            memory_format,
            "contiguous",
            None if is_contiguous else "preserve memory format is unsupported by the contiguous operator",
        )
        return self if is_contiguous else shape.clone(self, "C")

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Another dtype (or the dtype of another tensor), or the device "meta", which drops the numbers. Returns self if nothing
        changes. Raises NotImplementedError if a meta tensor should get numbers."""
        kind, copy, order, device = to_what(args, kwargs)
        if device is not None and device != self.device:
            if device != META:
                raise no_numbers("it cannot be moved to the CPU")
            kind = self.dtype if kind is None else kind
            out = variable.wrap(MetaArray(self.array.shape, kind.numpy))
            out.requires_grad = self.requires_grad and kind.is_floating_point
            return out
        if kind is None or kind.numpy is self.array.dtype:
            return self.clone(memory_format=order) if copy else self
        # Whole numbers carry no gradient
        out = shape.cast(self if kind.is_floating_point else self.detach(), kind.numpy)
        return out.contiguous() if order is contiguous_format else out

    def type(self, dtype: dtypes.dtype | str | None = None) -> Any:
        if dtype is None:
            return "torch." + errors.TYPE_NAMES[self.array.dtype.name]
        name = dtype.removeprefix("torch.") if isinstance(dtype, str) else getattr(dtype, "__name__", None)
        kind = next((kind for kind, old in errors.TYPE_NAMES.items() if old == name), None)
        return self.to(dtype if kind is None else getattr(dtypes, "bool_" if kind == "bool" else kind))

    def cpu(self) -> Self:
        if isinstance(self.array, MetaArray):
            raise no_numbers("it cannot be moved to the CPU")
        return self

    def type_as(self, other: Tensor) -> Tensor:
        return self.to(other.dtype)

    # In place: inplace.py ---------------------------------------------------------------------------------------------------

    def add_(self, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        return inplace.write(self, elementwise.add, elementwise.times(alpha, self, other))

    def sub_(self, other: Tensor | float, *, alpha: float = 1) -> Tensor:
        if alpha != 1:
            return inplace.write(self, lambda x: elementwise.sub_times(x, other, alpha=alpha))
        return inplace.write(self, elementwise.sub, other)

    def mul_(self, other: Tensor | float) -> Tensor:
        return inplace.write(self, elementwise.mul, other)

    multiply_, subtract_ = mul_, sub_

    def zero_(self) -> Tensor:
        """Zeros, in place."""
        return inplace.write(self, shape.zero)

    def fill_(self, value: Tensor | float) -> Tensor:
        """A number (or 0-d tensor) everywhere, in place. Raises RuntimeError for a tensor with dimensions."""
        if not isinstance(value, Variable):
            return inplace.write(self, shape.fill, value)
        if value.array.ndim:
            raise errors.new(
                RuntimeError,
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions.",
            )
        return inplace.write(self, shape.fill_tensor, value)

    @forgiving
    def copy_(self, src: Tensor, non_blocking: bool = False) -> Tensor:
        """The numbers of `src`, a tensor that broadcasts or a number, in place. Raises TypeError for anything else."""
        if not isinstance(src, (Variable, int, float)):
            raise errors.new(
                TypeError, f"copy_(): argument 'other' (position 1) must be Tensor, not {errors.type_name(src)}"
            )
        return inplace.copy_(self, as_tensor_like(src, self))

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Self:
        """The diagonal of this matrix set to a number. Raises RuntimeError for other dimensions, and for wrap=True."""
        if self.array.ndim != 2 or wrap:
            raise RuntimeError(
                "minigrad's fill_diagonal_() fills the diagonal of a matrix, without wrapping around. Write x.diagonal(...).fill_(...)."
            )
        views.diagonal(self).fill_(fill_value)
        return self

    # Another shape in place: the numbers stay where they are.
    def t_(self) -> Tensor:
        """Rows and columns exchanged, in place. Raises RuntimeError for more than 2 dimensions."""
        if self.array.ndim > 2:
            raise errors.new(
                RuntimeError, f"t_() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D"
            )
        return inplace.reshape_(self, views.t_checked)

    def transpose_(self, dim0: int, dim1: int) -> Tensor:
        """Two dimensions exchanged, in place."""
        return inplace.reshape_(self, lambda x: views.transpose_checked(x, dim0, dim1))

    def squeeze_(self, dim: int | tuple[int, ...] | None = None) -> Tensor:
        """Without dimensions of size 1 (all, or those of `dim`), in place."""
        return inplace.reshape_(self, views.squeeze_checked if dim is None else lambda x: views.squeeze_checked(x, dim))

    def unsqueeze_(self, dim: int) -> Tensor:
        """With a new dimension of size 1, in place."""
        return inplace.reshape_(self, lambda x: views.unsqueeze_checked(x, dim))

    swapaxes_ = swapdims_ = forgiving(transpose_)

    def as_strided_(self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
        """With other sizes and strides over the same storage, in place."""
        return inplace.reshape_(self, lambda x: x.as_strided(size, stride, storage_offset))

    def resize_(self, *sizes: Any, memory_format: memory_format | None = None) -> Self:
        """Another shape in place: the same storage row by row if it is large enough, else a larger one; further numbers are not set.

        Raises RuntimeError where a gradient is needed, and for sizes beyond 2**63 bytes.
        """
        rows = row_by_row(memory_format, "resize_", "Unsupported memory formatPreserve")
        if self.requires_grad and not (self.version is INFERENCE and state.inference):
            raise errors.new(RuntimeError, "cannot resize variables that require grad")
        sizes = tuple(sizes[0]) if len(sizes) == 1 and not hasattr(sizes[0], "__index__") else sizes
        count, item = math.prod(sizes), self.array.itemsize
        if count * item >= 2**63:
            raise errors.new(RuntimeError, f"Storage size calculation overflowed with sizes={list(sizes)}")
        if math.prod([max(n, 1) for n in sizes[1:]]) >= 2**63:
            raise errors.new(RuntimeError, "Stride calculation overflowed")
        if self.array.shape == sizes and not rows:
            return self
        owner, offset, _ = place_of(self.array)
        if offset + count <= owner.size and np.may_share_memory(owner, self.array):
            steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
            self.array = array_at(owner, offset, sizes, steps)
        else:
            larger = np.empty(offset + count, owner.dtype)
            larger[: owner.size] = owner.ravel(order="K")
            self.array = larger[offset:].reshape(sizes)
        if self.version is not INFERENCE:
            self.version[0] += 1  # for the nodes that saved it
            self.version = [self.version[0]]
        self.view_meta = None  # old views keep the storage that they had
        return self

    def resize_as_(self, other: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        """resize_ to the shape of `other`; with any memory format row by row."""
        row_by_row(memory_format, "resize_as_")
        return self.resize_(other.array.shape, memory_format=memory_format and contiguous_format)

    # Random numbers: create.py

    def bernoulli(self, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probability that the element holds (or with the probability p), else 0."""
        return create.bernoulli(self.detach(), p, generator=generator)

    def multinomial(self, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
        return create.multinomial(self.detach(), num_samples, replacement, generator=generator)

    # Random numbers in place: create.py ---------------------------------------------------------------------------------------

    def uniform_(self, from_: float = 0, to: float = 1, *, generator: Generator | None = None) -> Tensor:
        """Numbers uniform in [from_, to)."""
        _check_draw(self)
        return inplace.copy_(
            self, create.rand(self.array.shape, dtype=self.dtype, generator=generator) * (to - from_) + from_
        )

    def normal_(self, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
        """Normal numbers with that mean and standard deviation."""
        _check_draw(self)
        return inplace.copy_(self, create.normal(mean, std, self.array.shape, dtype=self.dtype, generator=generator))

    def bernoulli_(self, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """1 with probability p, else 0."""
        _check_draw(self, p)
        if isinstance(p, Variable):
            return inplace.copy_(self, create.bernoulli(p.detach().expand(self.array.shape), generator=generator))
        return inplace.copy_(
            self, create.bernoulli(create.empty(self.array.shape, dtype=self.dtype), p, generator=generator)
        )

    def exponential_(self, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
        """Numbers from the exponential distribution with the mean 1 / lambd."""
        _check_draw(self)
        return inplace.copy_(self, create.exponential(self.array.shape, lambd, dtype=self.dtype, generator=generator))

    def cauchy_(self, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
        """Numbers from the Cauchy distribution, which has no mean: half of them are within sigma of the median. Raises RuntimeError for
        sigma <= 0, and for tensors of whole numbers."""
        _check_draw(self)
        if not self.dtype.is_floating_point or sigma <= 0:
            why = f"found sigma={sigma:g}" if sigma <= 0 else f"found {self.dtype}"
            raise errors.new(RuntimeError, f"cauchy_ expects sigma > 0.0 and a floating-point dtype, but {why}")
        drawn = create.rand(self.array.shape, dtype=dtypes.float64, generator=generator)
        return inplace.copy_(self, ((drawn - 0.5) * math.pi).tan() * sigma + median)

    def log_normal_(self, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
        """exp of normal numbers with that mean and standard deviation."""
        _check_draw(self)
        return inplace.copy_(self, (create.one_by_one(self.array.shape, generator=generator) * std + mean).exp())

    def geometric_(self, p: float, *, generator: Generator | None = None) -> Tensor:
        """How many trials it takes until the first success, if each succeeds with probability p. Raises RuntimeError unless 0 < p < 1."""
        _check_draw(self)
        if not 0 < p < 1:
            raise errors.new(RuntimeError, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        drawn = create.rand(self.array.shape, dtype=dtypes.float64, generator=generator)
        return inplace.copy_(self, (drawn.log() / math.log1p(-p)).ceil())

    def random_(self, from_: int | None = None, to: int | None = None, *, generator: Generator | None = None) -> Tensor:
        """Whole numbers from from_ to to - 1; random_(n): from 0 to n - 1; without arguments as many as the dtype can hold exactly."""
        _check_draw(self)
        if to is None:
            kind = self.array.dtype
            digits = (
                np.finfo(kind).nmant + 1
                if kind.kind == "f"
                else 1
                if kind.kind == "b"
                else np.iinfo(kind).bits - (kind.kind == "i")
            )
            from_, to = 0, 2**digits + (kind.kind == "f") if from_ is None else from_
        return inplace.copy_(self, create.randint(from_, to, self.array.shape, dtype=self.dtype, generator=generator))

    def set_(
        self,
        source: Storage | Tensor | None = None,
        storage_offset: int = 0,
        size: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
    ) -> Self:
        """Use the storage of `source`, a tensor or a storage (default: none), from now on. Raises RuntimeError for a tensor in a graph, or
        of another dtype."""
        if self.requires and state.grad:
            raise errors.new(
                RuntimeError, "set_() of a tensor that requires gradients is not supported.", instead="x.data = source."
            )
        source = create.empty(0, dtype=self.dtype) if source is None else source
        if isinstance(source, Storage):
            flat = source.array.reshape(-1, order="A").view(self.array.dtype)
            sizes = (flat.size,) if size is None else tuple(size)
            steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))] if stride is None else stride
            array = array_at(flat, storage_offset, sizes, steps)
        else:
            if source.array.dtype is not self.array.dtype:
                raise errors.new(
                    RuntimeError, f"Could not set tensor of type {source.type()} to a tensor of type {self.type()}"
                )
            array = source.array
        # A tensor of its own, though the source is a view
        self.array, self.version, self.view_meta = (
            array,
            [self.version[0] + 1],
            None,
        )
        if self.meta is not None:
            self.meta.accumulator = None  # earlier graphs no longer pass gradients to this tensor
        return self

    # Others of the same dtype: create.py --------------------------------------------------------------------------------------

    def new(self, *args: Any) -> Tensor:
        """An old name: x.new(2, 3) is empty, x.new([1, 2]) holds these numbers, both of the dtype of x."""
        if len(args) == 1 and isinstance(args[0], Size):
            return create.empty(args[0], dtype=self.dtype)
        sizes = all(isinstance(a, int) for a in args)
        return create.empty(*(args or (0,)), dtype=self.dtype) if sizes else create.tensor(*args, dtype=self.dtype)

    def new_zeros(
        self, *size: Any, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Tensor:
        return create.zeros(*size, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def new_ones(
        self, *size: Any, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Tensor:
        return create.ones(*size, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def new_empty(
        self, *size: Any, dtype: dtypes.dtype | None = None, device: DeviceLike = None, requires_grad: bool = False
    ) -> Tensor:
        return create.empty(*size, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def new_empty_strided(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        *,
        dtype: dtypes.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return create.empty_strided(size, stride, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def new_full(
        self,
        size: int | Sequence[int],
        fill_value: float,
        *,
        dtype: dtypes.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return create.full(size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: dtypes.dtype | None = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return create.tensor(data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    def cuda(self, device: DeviceLike = None) -> None:
        make_device("cuda")

    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
        return indexing.index_put_(self, indexing.positions_of(indices), as_tensor_like(values, self), accumulate)


variable.TENSOR = Tensor
from . import create  # noqa: E402  (which makes Tensors)


class _Missing:
    """A method of PyTorch's tensors that minigrad does not have. (A __getattr__ would slow down every access to a tensor.)"""

    def __init__(self, name: Any) -> None:
        self.name = name

    def __get__(self, x: Tensor | None, owner: type) -> None:
        if self.name in errors.LEFT_OUT:
            raise errors.left_out(AttributeError, f"'Tensor' object has no attribute '{self.name}'", self.name)
        existing = [name for name in dir(owner) if name not in _UNSUPPORTED]
        raise errors.new(
            AttributeError,
            f"'Tensor' object has no attribute '{self.name}'",
            f"PyTorch has it, minigrad does not support '{self.name}'.",
            instead=errors.nearest(self.name, existing, "x."),
        )


_UNSUPPORTED = frozenset(
    """
    angle apply_ bfloat16 cholesky eig
    erfinv frexp i0 igamma index_reduce isreal istft lstsq lu
    lu_solve map_ matrix_exp mvlgamma pin_memory qr resize resize_as share_memory_ solve stft
    svd symeig to_dense to_sparse triangular_solve
    """.split()
)
for _name in _UNSUPPORTED:
    if hasattr(Tensor, _name):
        raise TypeError(
            f"Tensor.{_name} exists, and _UNSUPPORTED says that it does not: take the name out of the list."
        )
    setattr(Tensor, _name, _Missing(_name))


def _check_draw(x: Tensor, p: Tensor | float | None = None) -> None:
    """Raise PyTorch's errors where vmap could not give each sample of `x` random numbers of its own."""
    if state.vmap is None or state.vmap.looping:  # in a loop over the samples each has its own
        return
    state.vmap.check_random(p)
    if x.batched:
        return
    if isinstance(p, Tensor) and p.batched:
        p.store(x, p)
    if state.vmap.randomness == "different":
        raise errors.new(
            RuntimeError,
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
            "necessary for your usage, please file an issue with functorch.",
        )


def _warn_of_T(ndim: int) -> None:
    if ndim > 2:
        errors.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a "
            "future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )


def _not_transformed(method: str) -> None:
    if state.transforms:
        functional = " (or perhaps using torch.autograd.functional.* APIs)" if method == "requires_grad_" else ""
        raise errors.new(
            RuntimeError,
            f"You are attempting to call Tensor.{method}(){functional} inside of a function being transformed by a functorch transform. "
            "This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
            f"{method}() outside of a function being transformed instead.",
        )


def _rebuild(
    cls: Any, owner: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], requires: bool
) -> Tensor:
    """A leaf in the memory of `owner`, with a version counter of its own (which PyTorch starts at 1)."""
    out = cls._wrap(array_at(owner, offset, shape, strides))
    out.requires, out.version = requires, [1]
    return out
