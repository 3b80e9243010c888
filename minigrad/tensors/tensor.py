"""Tensor: what people hold in their hands.

What lives here: the methods, one by one, so that editors and readers find them. What does not: the fields (variable.py), the mathematics
(ops/), printing (printing.py), writing in place (inplace.py) and keys (indexing.py).
"""

import builtins
import copy as copy_module
import warnings
import weakref

import numpy as np

from .. import autograd
from ..autograd import inplace
from ..core import dtypes, errors, variable
from ..core.arguments import forgiving
from ..core.constants import as_tensor_like, constant, numbers
from ..core.devices import CPU
from ..core.devices import device as only_cpu
from ..core.dispatch import state
from ..core.node import add_hook, hooks_of
from ..core.variable import INFERENCE, Size, Variable, extra_of, leaf_edge, refresh, wrap
from ..ops import einsum, elementwise, linalg, neural, order, reduce, scan, shape, strided
from ..ops import index as index_ops
from . import indexing, printing

_new = object.__new__


def _with(op, x, other):
    """op(x, other) where `other` is no Tensor. NotImplemented unless it is a number or ndarray: then Python names the two types."""
    known = numbers.get(type(other))
    if known is not None:
        found = known.get((other, x.array.dtype.char))
        if found is not None and other and x.array.dtype.kind == "f":
            return op.call(x, found)
    if isinstance(other, (int, float, np.generic)):
        return op.call(x, constant(other, dtypes.FROM_NUMPY[x.array.dtype]) if x.array.dtype.kind == "f" else other)
    return op(x, wrap(dtypes.native(other))) if isinstance(other, np.ndarray) else NotImplemented


def _sizes(args):
    """Sizes given as f(2, 3) or f((2, 3)), as a tuple."""
    return tuple(args[0]) if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args


class Tensor(Variable):
    """Numbers of one dtype in a rectangular arrangement, able to remember how they were computed."""

    __slots__ = ()
    __array_priority__ = 1000  # numpy leaves `array * tensor` to us

    # Making -----------------------------------------------------------------------------------------------------------

    def __new__(cls, *args, dtype=None):
        """Tensor(2, 3): sizes, numbers undefined. Tensor([1, 2]): values as float32. Better: tensor(...), empty(...)."""
        if len(args) == 1 and not isinstance(args[0], int):
            values = args[0].array if isinstance(args[0], Variable) else args[0]
            return cls._wrap(dtypes.native(np.array(values, dtype=dtypes.get_default_dtype().numpy)))
        return cls._wrap(np.zeros(args or (0,), dtypes.get_default_dtype().numpy))

    @classmethod
    def _wrap(cls, array):
        """A constant Tensor around an ndarray (not a copy); on a subclass, one of that class."""
        t = wrap(array)
        if cls is Tensor:
            return t
        out = _new(cls)
        for slot in Variable.__slots__[2:]:
            setattr(out, slot, getattr(t, slot))
        return out

    # What it is -------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return Size(self.array.shape)

    def size(self, dim=None):
        """The shape, or the size of one dimension."""
        return Size(self.array.shape) if dim is None else self.array.shape[shape.wrap_dim(dim, self.array.ndim, scalar=False)]

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
    def device(self):
        return CPU

    @property
    def itemsize(self) -> int:
        return self.array.itemsize

    def element_size(self) -> int:
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def stride(self, dim=None):
        """How many elements to step in the storage for one step along each dimension (or along `dim`)."""
        strides = tuple([s // self.array.itemsize for s in self.array.strides])
        return strides if dim is None else strides[shape.wrap_dim(dim, self.array.ndim, scalar=False)]

    def storage_offset(self) -> int:
        base = self.array if self.origin is None else self.origin.base.array
        return (self.array.ctypes.data - base.ctypes.data) // self.array.itemsize

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def is_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        return False

    def is_inference(self) -> bool:
        return self.version is INFERENCE

    is_cuda = is_sparse = is_quantized = is_mps = is_meta = False
    is_cpu = True

    # Its place in the graph ----------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return variable.requires(self)

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Take part in graphs from now on (or no longer). Raises RuntimeError for integers and for results of operations."""
        if not isinstance(requires_grad, builtins.bool):
            raise errors.new(RuntimeError, "requires_grad must be a bool")
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                errors.explain(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
                    "doesn't require differentiation use var_no_grad = var.detach().",
                    chapter="chapter 10, Controlling the graph",
                )
            )
        if requires_grad and self.array.dtype.kind != "f":
            raise RuntimeError(
                errors.explain(
                    "only Tensors of floating point dtype can require gradients",
                    f"The tensor holds {self.dtype}.",
                    "A derivative asks what a small change does; whole numbers have no small changes.",
                    "make the tensor with decimal points (torch.tensor([1., 2.])) or convert it with .float().",
                    "chapter 09, Tensors",
                )
            )
        if requires_grad and self.version is INFERENCE and not state.inference:
            raise errors.new(RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self.requires = requires_grad
        if self.origin is not None:
            self.origin.leaf = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        if self.origin is not None:
            refresh(self, always=True)
        return self.edge is None

    @property
    def grad_fn(self):
        """The node of the operation that made this tensor; None for leaves and constants."""
        if self.origin is not None:
            refresh(self, always=True)
        return None if self.edge is None else self.edge[0]

    @property
    def output_nr(self) -> int:
        return 0 if self.edge is None else self.edge[1]

    @property
    def grad(self):
        if self._grad is None and self.edge is not None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
                "during "
                "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
                "github.com/pytorch/pytorch/pull/30531 for more informations.",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Variable):
                raise errors.new(TypeError, f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if value.array.dtype is not self.array.dtype:
                theirs, ours = (errors.TYPE_NAMES[t.array.dtype.name][: -len("Tensor")] for t in (value, self))
                raise errors.new(
                    RuntimeError,
                    f"attempting to assign a gradient with dtype '{theirs.lower()}' to a tensor with grad_dtype '{ours}'. The gradient "
                    "must match "
                    "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
                    "specific dtype, "
                    "or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
                    "downstream systems that assume they match.",
                )
            if value.array.shape != self.array.shape:
                raise errors.new(
                    RuntimeError,
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. Please "
                    "ensure that "
                    "the gradient and the tensor are the same size",
                )
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def _version(self) -> int:
        if self.version is INFERENCE:
            raise errors.new(RuntimeError, "Inference tensors do not track version counter.")
        return self.version[0]

    @property
    def _base(self):
        return None if self.origin is None else self.origin.base

    def _is_view(self) -> bool:
        return self.origin is not None

    @property
    def data(self):
        """The same storage outside of every graph; writes to it are not counted. Better: detach(), or no_grad."""
        out = Tensor._wrap(self.array)
        if self.requires:
            out.cut = "detach"
        return out

    @data.setter
    def data(self, value):
        self.array = value.array
        if self.extra is not None and self.extra.accumulator is not None and self.extra.accumulator() is not None:
            node = leaf_edge(self)[0]
            node.shape, node.dtype = value.array.shape, value.array.dtype

    def detach(self):
        """The same numbers (shared storage, shared version) outside of the graph."""
        out = Tensor._wrap(self.array)
        out.version = self.version
        if self.requires:
            out.cut = "detach"
        return out

    def detach_(self):
        if self.origin is not None:
            raise errors.new(
                RuntimeError,
                "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
                "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. "
                "To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
            )
        if self.requires:
            self.cut = "detach"
        self.edge, self.requires = None, False
        return self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Compute the gradient of this tensor with respect to the leaves of its graph and add it to their `.grad`.

        gradient: the gradient of something further with respect to this tensor, of its shape; not needed for a single number.
        """
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep `.grad` of this result of an operation, too. No effect on leaves. Raises RuntimeError if it requires no gradient."""
        if not self.requires_grad:
            raise errors.new(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False")
        if self.edge is not None:
            node, number = self.edge
            hooks_of(node).retain[number] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        if self.edge is None:
            return False
        node, number = self.edge
        ref = node.hooks.retain.get(number) if node.hooks is not None else None
        return ref is not None and ref() is self

    def register_hook(self, hook):
        """`hook(grad)` runs when the gradient of this tensor is complete; a Tensor it returns is used instead. Returns a handle."""
        if not self.requires_grad:
            raise errors.new(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
        if self.edge is None:
            extra = extra_of(self)
            extra.hooks = extra.hooks if extra.hooks is not None else {}
            return add_hook(extra.hooks, hook)
        node, number = self.edge
        return add_hook(hooks_of(node).tensor.setdefault(number, {}), hook)

    def register_post_accumulate_grad_hook(self, hook):
        """`hook(tensor)` runs after `.grad` of this leaf was updated. Returns a handle."""
        if not self.requires_grad:
            raise errors.new(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
        if self.edge is not None:
            raise errors.new(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors")
        extra = extra_of(self)
        extra.post_hooks = extra.post_hooks if extra.post_hooks is not None else {}
        return add_hook(extra.post_hooks, hook)

    # Out to Python and numpy ---------------------------------------------------------------------------------------------

    def item(self):
        """The one number as a Python number. Raises RuntimeError if there are several."""
        if self.array.size != 1:
            raise RuntimeError(
                errors.explain(
                    f"a Tensor with {self.array.size} elements cannot be converted to Scalar",
                    f"The tensor has shape {tuple(self.array.shape)}.",
                    instead="reduce it first (x.sum().item()), pick an element (x[0].item()), or use x.tolist().",
                )
            )
        return self.array.item()

    def tolist(self):
        return self.array.tolist()

    def numpy(self, *, force=False):
        """The numbers as an ndarray that shares the storage. Raises RuntimeError if gradients are required, unless `force`."""
        if self.requires_grad and not force:
            raise RuntimeError(
                errors.explain(
                    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
                    why="What numpy computes is not recorded, so no gradient could come back.",
                    chapter="chapter 10, Controlling the graph",
                )
            )
        return self.array

    def __array__(self, dtype=None, copy=None):
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
        if self.extra is not None and self.extra.tangents:
            for level in state.handlers:
                tangent = level.tangent(self) if hasattr(level, "tangent") else tangent
        tangent = None if tangent is None else repr(tangent)
        return printing.tensor_str(self.array, self.dtype, requires_grad=self.requires_grad, grad_fn=grad_fn, tangent=tangent)

    def __format__(self, spec):
        if self.array.ndim == 0:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise errors.new(TypeError, "len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self):
        if self.array.ndim == 0:
            raise errors.new(TypeError, "iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element):
        return builtins.bool((self == element).array.any())

    def __bool__(self) -> bool:
        if self.array.size == 1:
            return builtins.bool(self.array.item())
        if not self.array.size:
            raise errors.new(RuntimeError, "Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError(
            errors.explain(
                "Boolean value of Tensor with more than one value is ambiguous",
                f"A condition needs one answer, the tensor of shape {tuple(self.array.shape)} has {self.array.size}.",
                instead="(x > 0).all() or (x > 0).any(); to choose element by element, torch.where(x > 0, a, b).",
            )
        )

    def _scalar(self):
        if self.array.size != 1:
            raise errors.new(ValueError, "only one element tensors can be converted to Python scalars")
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

    def __dir__(self):
        return [name for name in object.__dir__(self) if name not in _UNSUPPORTED]

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError(
                errors.explain(
                    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
                    "were attempting to "
                    "deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
                    "https://github.com/pytorch/pytorch/pull/103001",
                    instead="x.detach().clone().",
                )
            )
        if id(self) in memo:
            return memo[id(self)]
        out = self._wrap(np.array(self.array, order="K"))
        out.requires = self.requires
        out._grad = copy_module.deepcopy(self._grad, memo)
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol):
        return (_rebuild, (type(self), np.array(self.detach().array), self.requires if self.is_leaf else False))

    # Arithmetic: elementwise.py -------------------------------------------------------------------------------------------

    def __add__(self, other):
        return elementwise.add.call(self, other) if isinstance(other, Variable) else _with(elementwise.add, self, other)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, builtins.bool):
            raise errors.no_bools("sub", False)
        return elementwise.sub.call(self, other) if isinstance(other, Variable) else _with(elementwise.sub, self, other)

    def __rsub__(self, other):
        return _with(elementwise.rsub, self, other)

    def __mul__(self, other):
        return elementwise.mul.call(self, other) if isinstance(other, Variable) else _with(elementwise.mul, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return elementwise.div.call(self, other) if isinstance(other, Variable) else _with(elementwise.div, self, other)

    def __rtruediv__(self, other):
        return elementwise.reciprocal(self) * other if _comparable(other) else NotImplemented

    def __floordiv__(self, other):
        return elementwise.floor_divide(self, other)

    def __rfloordiv__(self, other):
        return elementwise.floor_divide(other, self)

    def __mod__(self, other):
        return elementwise.remainder(self, other)

    def __rmod__(self, other):
        return elementwise.remainder(other, self)

    def __neg__(self):
        return elementwise.neg.call(self)

    def __pos__(self):
        return elementwise.positive(self)

    def __pow__(self, exponent):
        return elementwise.pow(self, exponent) if _comparable(exponent) else NotImplemented

    def __rpow__(self, base):
        return elementwise.pow(base, self) if _comparable(base) else NotImplemented

    def __abs__(self):
        return elementwise.abs(self)

    def __matmul__(self, other):
        return linalg.matmul(self, other) if isinstance(other, Variable) else NotImplemented

    def add(self, other, *, alpha=1):
        return self + elementwise.times(alpha, self, other)

    def sub(self, other, *, alpha=1):
        return self - other if alpha == 1 else elementwise.sub_times(self, other, alpha=alpha)

    def mul(self, other):
        return self * other

    def div(self, other, *, rounding_mode=None):
        return elementwise.divide(self, other, rounding_mode=rounding_mode)

    def neg(self):
        return -self

    def pow(self, exponent):
        return elementwise.pow(self, exponent)

    def exp(self):
        return elementwise.exp.call(self)

    def log(self):
        return elementwise.log.call(self)

    def sqrt(self):
        return elementwise.sqrt.call(self)

    def square(self):
        return elementwise.pow(self, 2)

    def reciprocal(self):
        return elementwise.reciprocal.call(self)

    def sin(self):
        return elementwise.sin.call(self)

    def cos(self):
        return elementwise.cos.call(self)

    def tanh(self):
        return elementwise.tanh.call(self)

    def sigmoid(self):
        return elementwise.sigmoid.call(self)

    def relu(self):
        return elementwise.relu.call(self)

    def abs(self):
        return elementwise.abs(self)

    def sign(self):
        return elementwise.sign(self)

    def maximum(self, other):
        return elementwise.maximum(self, other)

    def minimum(self, other):
        return elementwise.minimum(self, other)

    def where(self, condition, other):
        return elementwise.where(condition, self, other)

    @forgiving
    def clamp(self, min=None, max=None):
        return elementwise.clamp(self, min, max)

    def exp2(self):
        return elementwise.exp2(self)

    def expm1(self):
        return elementwise.expm1(self)

    def log1p(self):
        return elementwise.log1p(self)

    def log2(self):
        return elementwise.log2(self)

    def log10(self):
        return elementwise.log10(self)

    def rsqrt(self):
        return elementwise.rsqrt(self)

    def tan(self):
        return elementwise.tan(self)

    def asin(self):
        return elementwise.asin(self)

    def acos(self):
        return elementwise.acos(self)

    def atan(self):
        return elementwise.atan(self)

    def sinh(self):
        return elementwise.sinh(self)

    def cosh(self):
        return elementwise.cosh(self)

    def asinh(self):
        return elementwise.asinh(self)

    def acosh(self):
        return elementwise.acosh(self)

    def atanh(self):
        return elementwise.atanh(self)

    def erf(self):
        return elementwise.erf(self)

    def floor(self):
        return elementwise.floor(self)

    def ceil(self):
        return elementwise.ceil(self)

    def trunc(self):
        return elementwise.trunc(self)

    def round(self, *, decimals=0):
        return elementwise.round(self, decimals=decimals)

    def logit(self, eps=None):
        return elementwise.logit(self, eps)

    def atan2(self, other):
        return elementwise.atan2(self, other)

    def floor_divide(self, other):
        return elementwise.floor_divide(self, other)

    def remainder(self, other):
        return elementwise.remainder(self, other)

    def fmod(self, other):
        return elementwise.fmod(self, other)

    @forgiving
    def lerp(self, end, weight):
        return elementwise.lerp(self, end, weight)

    def addcmul(self, tensor1, tensor2, *, value=1):
        return elementwise.addcmul(self, tensor1, tensor2, value=value)

    def addcdiv(self, tensor1, tensor2, *, value=1):
        return elementwise.addcdiv(self, tensor1, tensor2, value=value)

    def clamp_min(self, min):
        return elementwise.clamp_min(self, min)

    def clamp_max(self, max):
        return elementwise.clamp_max(self, max)

    def nan_to_num(self, nan=0.0, posinf=None, neginf=None):
        return elementwise.nan_to_num(self, nan, posinf, neginf)

    def float_power(self, exponent):
        return elementwise.float_power(self, exponent)

    def fmax(self, other):
        return elementwise.fmax(self, other)

    def fmin(self, other):
        return elementwise.fmin(self, other)

    def signbit(self):
        return elementwise.signbit(self)

    def positive(self):
        return elementwise.positive(self)

    def sgn(self):
        return elementwise.sgn(self)

    # PyTorch's other names for the same
    clip, absolute, negative, fix, arctan2 = clamp, abs, neg, trunc, atan2
    arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh
    multiply, subtract, divide, true_divide = mul, sub, div, div

    # Comparisons: elementwise.py ------------------------------------------------------------------------------------------

    def __eq__(self, other):
        return elementwise.eq.call(self, other) if isinstance(other, Variable) else _with(elementwise.eq, self, other)

    def __ne__(self, other):
        return elementwise.ne.call(self, other) if isinstance(other, Variable) else _with(elementwise.ne, self, other)

    def __lt__(self, other):
        return elementwise.lt.call(self, other) if isinstance(other, Variable) else _with(elementwise.lt, self, other)

    def __le__(self, other):
        return elementwise.le.call(self, other) if isinstance(other, Variable) else _with(elementwise.le, self, other)

    def __gt__(self, other):
        return elementwise.gt.call(self, other) if isinstance(other, Variable) else _with(elementwise.gt, self, other)

    def __ge__(self, other):
        return elementwise.ge.call(self, other) if isinstance(other, Variable) else _with(elementwise.ge, self, other)

    def __invert__(self):
        return elementwise.bitwise_not(self)

    def __and__(self, other):
        return elementwise.bitwise_and(self, other)

    __rand__ = __and__

    def __or__(self, other):
        return elementwise.bitwise_or(self, other)

    __ror__ = __or__

    def __xor__(self, other):
        return elementwise.bitwise_xor(self, other)

    def eq(self, other):
        return elementwise.eq(self, other)

    def ne(self, other):
        return elementwise.ne(self, other)

    def lt(self, other):
        return elementwise.lt.call(self, other) if isinstance(other, Variable) else _with(elementwise.lt, self, other)

    def le(self, other):
        return elementwise.le.call(self, other) if isinstance(other, Variable) else _with(elementwise.le, self, other)

    def gt(self, other):
        return elementwise.gt.call(self, other) if isinstance(other, Variable) else _with(elementwise.gt, self, other)

    def ge(self, other):
        return elementwise.ge.call(self, other) if isinstance(other, Variable) else _with(elementwise.ge, self, other)

    greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne

    def logical_and(self, other):
        return elementwise.logical_and(self, other)

    def logical_or(self, other):
        return elementwise.logical_or(self, other)

    def logical_xor(self, other):
        return elementwise.logical_xor(self, other)

    def logical_not(self):
        return elementwise.logical_not(self)

    def bitwise_not(self):
        return elementwise.bitwise_not(self)

    def isinf(self):
        return elementwise.isinf(self)

    def isfinite(self):
        return elementwise.isfinite(self)

    def bitwise_and(self, other):
        return elementwise.bitwise_and(self, other)

    def bitwise_or(self, other):
        return elementwise.bitwise_or(self, other)

    def bitwise_xor(self, other):
        return elementwise.bitwise_xor(self, other)

    def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        return elementwise.isclose(self, other, rtol, atol, equal_nan)

    def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        return elementwise.allclose(self, other, rtol, atol, equal_nan)

    def equal(self, other):
        return elementwise.equal(self, other)

    def isnan(self):
        return elementwise.isnan(self)

    # Reductions: reduce.py, neural.py ---------------------------------------------------------------------------------------

    @forgiving
    def sum(self, dim=None, keepdim=False, *, dtype=None):
        return reduce.sum(self, dim, keepdim, dtype=dtype)

    @forgiving
    def mean(self, dim=None, keepdim=False, *, dtype=None):
        return reduce.mean(self, dim, keepdim, dtype=dtype)

    @forgiving
    def max(self, dim=None, keepdim=False):
        return reduce.max(self, dim, keepdim)

    @forgiving
    def min(self, dim=None, keepdim=False):
        return reduce.min(self, dim, keepdim)

    @forgiving
    def amax(self, dim=(), keepdim=False):
        return reduce.amax(self, dim, keepdim)

    @forgiving
    def amin(self, dim=(), keepdim=False):
        return reduce.amin(self, dim, keepdim)

    @forgiving
    def prod(self, dim=None, keepdim=False, *, dtype=None):
        return reduce.prod(self, dim, keepdim, dtype=dtype)

    @forgiving
    def var(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
        return reduce.var(self, dim, unbiased, keepdim, correction=correction)

    @forgiving
    def std(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
        return reduce.std(self, dim, unbiased, keepdim, correction=correction)

    @forgiving
    def median(self, dim=None, keepdim=False):
        return reduce.median(self, dim, keepdim)

    @forgiving
    def aminmax(self, *, dim=None, keepdim=False):
        return reduce.aminmax(self, dim=dim, keepdim=keepdim)

    @forgiving
    def nansum(self, dim=None, keepdim=False, *, dtype=None):
        return reduce.nansum(self, dim, keepdim, dtype=dtype)

    @forgiving
    def any(self, dim=None, keepdim=False):
        return reduce.any(self, dim, keepdim)

    @forgiving
    def all(self, dim=None, keepdim=False):
        return reduce.all(self, dim, keepdim)

    @forgiving
    def argmax(self, dim=None, keepdim=False):
        return reduce.argmax(self, dim, keepdim)

    @forgiving
    def argmin(self, dim=None, keepdim=False):
        return reduce.argmin(self, dim, keepdim)

    @forgiving
    def count_nonzero(self, dim=None):
        return reduce.count_nonzero(self, dim)

    @forgiving
    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        return reduce.norm(self, p, dim, keepdim, dtype)

    @forgiving
    def cumsum(self, dim, *, dtype=None):
        return scan.cumsum(self, dim, dtype=dtype)

    @forgiving
    def cumprod(self, dim, *, dtype=None):
        return scan.cumprod(self, dim, dtype=dtype)

    @forgiving
    def cummax(self, dim):
        return scan.cummax(self, dim)

    @forgiving
    def cummin(self, dim):
        return scan.cummin(self, dim)

    @forgiving
    def logsumexp(self, dim, keepdim=False):
        return reduce.logsumexp(self, dim, keepdim)

    @forgiving
    def softmax(self, dim, dtype=None):
        return neural.softmax(self, dim, dtype)

    @forgiving
    def log_softmax(self, dim, dtype=None):
        return neural.log_softmax(self, dim, dtype)

    # Products: linalg.py --------------------------------------------------------------------------------------------------

    def __rmatmul__(self, other):
        return linalg.matmul(other, self) if isinstance(other, Variable) else NotImplemented

    def matmul(self, other):
        return linalg.matmul(self, other)

    def mm(self, mat2):
        return linalg.mm(self, mat2)

    def mv(self, vec):
        return linalg.mv(self, vec)

    def dot(self, tensor):
        return linalg.dot(self, tensor)

    def bmm(self, mat2):
        return linalg.bmm(self, mat2)

    def outer(self, vec2):
        return linalg.outer(self, vec2)

    def addmm(self, mat1, mat2, *, beta=1, alpha=1):
        return linalg.addmm(self, mat1, mat2, beta=beta, alpha=alpha)

    def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
        return linalg.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)

    def vdot(self, other):
        return linalg.vdot(self, other)

    def slogdet(self):
        return linalg.slogdet(self)

    def matrix_power(self, n):
        return linalg.matrix_power(self, n)

    ger = outer

    def addmv(self, mat, vec, *, beta=1, alpha=1):
        return linalg.addmv(self, mat, vec, beta=beta, alpha=alpha)

    def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
        return linalg.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)

    def inner(self, other):
        return einsum.inner(self, other)

    def kron(self, other):
        return einsum.kron(self, other)

    def inverse(self):
        return linalg.inv(self)

    def det(self):
        return linalg.det(self)

    def logdet(self):
        return linalg.logdet(self)

    def trace(self):
        return linalg.trace(self)

    def cross(self, other, dim=-1):
        return linalg.cross(self, other, dim)

    # Shape: shape.py ------------------------------------------------------------------------------------------------------

    def reshape(self, *shape_):
        return shape.reshape(self, _sizes(shape_))

    def view(self, *shape_):
        return shape.view_as_shape(self, _sizes(shape_))

    def view_as(self, other):
        return shape.view_as_shape(self, other.array.shape)

    def reshape_as(self, other):
        return shape.reshape(self, other.array.shape)

    def transpose(self, dim0, dim1):
        n = self.array.ndim
        return shape.transpose(self, shape.wrap_dim(dim0, n), shape.wrap_dim(dim1, n))

    def t(self):
        if self.array.ndim > 2:
            raise errors.new(RuntimeError, f"t() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D")
        return shape.t(self)

    @property
    def T(self):
        return shape.permute(self, tuple(range(self.array.ndim))[::-1])

    @property
    def mT(self):
        if self.array.ndim == 1:
            raise errors.new(
                RuntimeError, f"tensor.mT is only supported on matrices or batches of matrices. Got {self.array.ndim}-D tensor."
            )
        return shape.transpose(self, -2, -1) if self.array.ndim else self

    def permute(self, *dims):
        dims = _sizes(dims)
        if len(dims) != self.array.ndim:
            raise errors.new(
                RuntimeError,
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
                "dimensions "
                f"i.e. input.dim() = {self.array.ndim} is not equal to len(dims) = {len(dims)}",
            )
        wrapped = [shape.wrap_dim(d, self.array.ndim) for d in dims]
        if len({*wrapped}) != len(wrapped):
            raise RuntimeError(
                errors.explain(
                    "permute(): duplicate dims are not allowed.", f"You asked for {tuple(dims)}.", instead="name each dimension once."
                )
            )
        return shape.permute(self, tuple(wrapped))

    def expand(self, *sizes):
        return expand(self, _sizes(sizes))

    def expand_as(self, other):
        return expand(self, other.array.shape)

    @forgiving
    def unsqueeze(self, dim):
        return shape.unsqueeze(self, shape.wrap_dim(dim, self.array.ndim + 1))

    @forgiving
    def squeeze(self, dim=None):
        return squeeze(self, dim)

    @forgiving
    def unbind(self, dim=0):
        return shape.unbind(self, dim)

    @forgiving
    def flatten(self, start_dim=0, end_dim=-1):
        return shape.flatten(self, start_dim, end_dim)

    def ravel(self):
        return shape.ravel(self)

    def unflatten(self, dim, sizes):
        return shape.unflatten(self, dim, sizes)

    @forgiving
    def movedim(self, source, destination):
        return shape.movedim(self, source, destination)

    def swapaxes(self, axis0, axis1):
        return shape.swapaxes(self, axis0, axis1)

    moveaxis, swapdims = movedim, swapaxes

    def broadcast_to(self, size):
        return expand(self, tuple(size))

    @forgiving
    def split(self, split_size, dim=0):
        return shape.split(self, split_size, dim)

    @forgiving
    def chunk(self, chunks, dim=0):
        return shape.chunk(self, chunks, dim)

    def repeat(self, *repeats):
        return shape.repeat(self, _sizes(repeats))

    def tile(self, *dims):
        return shape.tile(self, _sizes(dims))

    @forgiving
    def repeat_interleave(self, repeats, dim=None):
        return index_ops.repeat_interleave(self, repeats, dim)

    @forgiving
    def flip(self, *dims):
        return shape.flip(self, *dims)

    def fliplr(self):
        return shape.fliplr(self)

    def flipud(self):
        return shape.flipud(self)

    @forgiving
    def roll(self, shifts, dims=None):
        return shape.roll(self, shifts, dims)

    def rot90(self, k=1, dims=(0, 1)):
        return shape.rot90(self, k, dims)

    def tril(self, diagonal=0):
        return shape.tril(self, diagonal)

    def triu(self, diagonal=0):
        return shape.triu(self, diagonal)

    @forgiving
    def diagonal(self, offset=0, dim1=0, dim2=1):
        return shape.diagonal(self, offset, dim1, dim2)

    def diag(self, diagonal=0):
        return shape.diag(self, diagonal)

    def diag_embed(self, offset=0, dim1=-2, dim2=-1):
        return shape.diag_embed(self, offset, dim1, dim2)

    @forgiving
    def narrow(self, dim, start, length):
        return shape.narrow(self, dim, start, length)

    def unfold(self, dimension, size, step):
        return shape.unfold(self, dimension, size, step)

    # Picking: index.py, order.py -----------------------------------------------------------------------------------------------

    @forgiving
    def select(self, dim, index):
        return indexing.select_(self, dim, index)

    @forgiving
    def gather(self, dim, index):
        return index_ops.gather(self, dim, index)

    @forgiving
    def take_along_dim(self, indices, dim=None):
        return index_ops.take_along_dim(self, indices, dim)

    def take(self, index):
        return index_ops.take(self, index)

    def scatter(self, dim, index, src=None, *, value=None, reduce=None):
        return index_ops.scatter(self, dim, index, src, value=value, reduce=reduce)

    def scatter_add(self, dim, index, src):
        return index_ops.scatter_add(self, dim, index, src)

    @forgiving
    def index_select(self, dim, index):
        return index_ops.index_select(self, dim, index)

    def index_add(self, dim, index, source, *, alpha=1):
        return index_ops.index_add(self, dim, index, source, alpha=alpha)

    def index_copy(self, dim, index, source):
        return index_ops.index_copy(self, dim, index, source)

    def index_fill(self, dim, index, value):
        return index_ops.index_fill(self, dim, index, value)

    def index_put(self, indices, values, accumulate=False):
        return index_ops.index_put(self, values, indexing.positions_of(indices), accumulate)

    def masked_fill(self, mask, value):
        return index_ops.masked_fill(self, mask, value)

    def masked_select(self, mask):
        return index_ops.masked_select(self, mask)

    def masked_scatter(self, mask, source):
        return index_ops.masked_scatter(self, mask, source)

    @forgiving
    def sort(self, dim=-1, descending=False, *, stable=None):
        return order.sort(self, dim, descending, stable=stable)

    @forgiving
    def argsort(self, dim=-1, descending=False, *, stable=False):
        return order.argsort(self, dim, descending, stable=stable)

    @forgiving
    def topk(self, k, dim=-1, largest=True, sorted=True):
        return order.topk(self, k, dim, largest, sorted)

    @forgiving
    def kthvalue(self, k, dim=-1, keepdim=False):
        return order.kthvalue(self, k, dim, keepdim)

    def nonzero(self, *, as_tuple=False):
        return order.nonzero(self, as_tuple=as_tuple)

    def argwhere(self):
        return order.argwhere(self)

    def bincount(self, weights=None, minlength=0):
        return order.bincount(self, weights, minlength)

    def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
        return order.unique(self, sorted, return_inverse, return_counts, dim)

    def __getitem__(self, key):
        return indexing.getitem(self, key)

    def __setitem__(self, key, value):
        indexing.setitem(self, key, value)

    def __delitem__(self, key):
        raise TypeError(errors.explain("Tensor does not support deleting items", instead="pick what stays: x[1:], x[mask]."))

    # Copies and conversions -------------------------------------------------------------------------------------------------

    def clone(self, *, memory_format=None):
        return shape.clone(self)

    def contiguous(self, memory_format=None):
        return self if self.array.flags.c_contiguous else shape.clone(self, "C")

    def to(self, *args, **kwargs):
        """Another dtype (or the dtype of another tensor); there is only one device, the CPU. Returns self if nothing changes."""
        kwargs.pop("non_blocking", None)
        kind, copy = kwargs.pop("dtype", None), kwargs.pop("copy", False)
        for arg in (*args, kwargs.pop("device", None)):
            if isinstance(arg, dtypes.dtype):
                kind = arg
            elif isinstance(arg, Variable):
                kind = arg.dtype
            elif arg is not None and not isinstance(arg, builtins.bool):
                only_cpu(arg)
        if kind is None or kind.numpy is self.array.dtype:
            return self.clone() if copy else self
        return shape.cast(self if kind.is_floating_point else self.detach(), kind.numpy)  # whole numbers carry no gradient

    def type(self, dtype=None):
        if dtype is None:
            return "torch." + errors.TYPE_NAMES[self.array.dtype.name]
        return self.to(dtype)

    def float(self):
        return self.to(dtypes.float32)

    def double(self):
        return self.to(dtypes.float64)

    def half(self):
        return self.to(dtypes.float16)

    def long(self):
        return self.to(dtypes.int64)

    def int(self):
        return self.to(dtypes.int32)

    def bool(self):
        return self.to(dtypes.bool_)

    def short(self):
        return self.to(dtypes.int16)

    def char(self):
        return self.to(dtypes.int8)

    def byte(self):
        return self.to(dtypes.uint8)

    def cpu(self):
        return self

    def type_as(self, other):
        return self.to(other.dtype)

    # In place: inplace.py ---------------------------------------------------------------------------------------------------

    def add_(self, other, *, alpha=1):
        return inplace.write(self, elementwise.add, elementwise.times(alpha, self, other))

    def sub_(self, other, *, alpha=1):
        if alpha != 1:
            return inplace.write(self, lambda x: elementwise.sub_times(x, other, alpha=alpha))
        return inplace.write(self, elementwise.sub, other)

    def mul_(self, other):
        return inplace.write(self, elementwise.mul, other)

    def div_(self, other):
        return inplace.write(self, elementwise.div, other)

    def pow_(self, exponent):
        return inplace.write(self, elementwise.pow, exponent)

    __iadd__, __isub__, __imul__, __itruediv__, __ipow__ = add_, sub_, mul_, div_, pow_

    multiply_, subtract_, divide_, true_divide_ = mul_, sub_, div_, div_

    def neg_(self):
        return inplace.write(self, elementwise.neg)

    def exp_(self):
        return inplace.write(self, elementwise.exp)

    def log_(self):
        return inplace.write(self, elementwise.log)

    def sqrt_(self):
        return inplace.write(self, elementwise.sqrt)

    def sin_(self):
        return inplace.write(self, elementwise.sin)

    def cos_(self):
        return inplace.write(self, elementwise.cos)

    def tanh_(self):
        return inplace.write(self, elementwise.tanh)

    def sigmoid_(self):
        return inplace.write(self, elementwise.sigmoid)

    def relu_(self):
        return inplace.write(self, elementwise.relu)

    def abs_(self):
        return inplace.write(self, elementwise.abs)

    def clamp_(self, min=None, max=None):
        return inplace.write(self, elementwise.clamp, min, max)

    clip_ = clamp_

    def clamp_min_(self, min):
        return inplace.write(self, elementwise.clamp_min, min)

    def clamp_max_(self, max):
        return inplace.write(self, elementwise.clamp_max, max)

    def sign_(self):
        return inplace.write(self, elementwise.sign)

    def exp2_(self):
        return inplace.write(self, elementwise.exp2)

    def expm1_(self):
        return inplace.write(self, elementwise.expm1)

    def log1p_(self):
        return inplace.write(self, elementwise.log1p)

    def log2_(self):
        return inplace.write(self, elementwise.log2)

    def log10_(self):
        return inplace.write(self, elementwise.log10)

    def rsqrt_(self):
        return inplace.write(self, elementwise.rsqrt)

    def reciprocal_(self):
        return inplace.write(self, elementwise.reciprocal)

    def square_(self):
        return inplace.write(self, elementwise.square)

    def tan_(self):
        return inplace.write(self, elementwise.tan)

    def asin_(self):
        return inplace.write(self, elementwise.asin)

    def acos_(self):
        return inplace.write(self, elementwise.acos)

    def atan_(self):
        return inplace.write(self, elementwise.atan)

    def sinh_(self):
        return inplace.write(self, elementwise.sinh)

    def cosh_(self):
        return inplace.write(self, elementwise.cosh)

    def asinh_(self):
        return inplace.write(self, elementwise.asinh)

    def acosh_(self):
        return inplace.write(self, elementwise.acosh)

    def atanh_(self):
        return inplace.write(self, elementwise.atanh)

    def erf_(self):
        return inplace.write(self, elementwise.erf)

    def floor_(self):
        return inplace.write(self, elementwise.floor)

    def ceil_(self):
        return inplace.write(self, elementwise.ceil)

    def trunc_(self):
        return inplace.write(self, elementwise.trunc)

    def remainder_(self, other):
        return inplace.write(self, elementwise.remainder, other)

    def fmod_(self, other):
        return inplace.write(self, elementwise.fmod, other)

    def floor_divide_(self, other):
        return inplace.write(self, elementwise.floor_divide, other)

    def atan2_(self, other):
        return inplace.write(self, elementwise.atan2, other)

    def round_(self, *, decimals=0):
        return inplace.write(self, lambda x: elementwise.round(x, decimals=decimals))

    def lerp_(self, end, weight):
        return inplace.write(self, elementwise.lerp, end, weight)

    def addcmul_(self, tensor1, tensor2, *, value=1):
        return inplace.write(self, lambda x: elementwise.addcmul(x, tensor1, tensor2, value=value))

    def addcdiv_(self, tensor1, tensor2, *, value=1):
        return inplace.write(self, lambda x: elementwise.addcdiv(x, tensor1, tensor2, value=value))

    __imod__, __ifloordiv__ = remainder_, floor_divide_

    def zero_(self):
        return inplace.write(self, shape.zero)

    def fill_(self, value):
        if not isinstance(value, Variable):
            return inplace.write(self, shape.fill, value)
        if value.array.ndim:
            raise errors.new(
                RuntimeError, f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions."
            )
        return inplace.write(self, shape.fill_tensor, value)

    def copy_(self, src, non_blocking=False):
        return inplace.copy_(self, src)

    def masked_fill_(self, mask, value):
        return inplace.write(self, index_ops.masked_fill, mask, value)

    def masked_scatter_(self, mask, source):
        return inplace.write(self, index_ops.masked_scatter, mask, source)

    def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
        return inplace.write(self, lambda x: index_ops.scatter(x, dim, index, src, value=value, reduce=reduce))

    def scatter_add_(self, dim, index, src):
        return inplace.write(self, index_ops.scatter_add, dim, index, src)

    def index_add_(self, dim, index, source, *, alpha=1):
        return inplace.write(self, lambda x: index_ops.index_add(x, dim, index, source, alpha=alpha))

    def index_copy_(self, dim, index, source):
        return inplace.write(self, index_ops.index_copy, dim, index, source)

    def index_fill_(self, dim, index, value):
        return inplace.write(self, index_ops.index_fill, dim, index, value)

    def fill_diagonal_(self, fill_value, wrap=False):
        """The diagonal of this matrix set to a number. Raises RuntimeError for what is no matrix, and for wrap=True."""
        if self.array.ndim != 2 or wrap:
            raise RuntimeError(
                "minigrad's fill_diagonal_() fills the diagonal of a matrix, without wrapping around. Write x.diagonal(...).fill_(...)."
            )
        shape.diagonal(self).fill_(fill_value)
        return self

    def tril_(self, diagonal=0):
        return inplace.write(self, shape.tril, diagonal)

    def triu_(self, diagonal=0):
        return inplace.write(self, shape.triu, diagonal)

    def cumsum_(self, dim):
        return inplace.write(self, scan.cumsum, dim)

    def cumprod_(self, dim):
        return inplace.write(self, scan.cumprod, dim)

    # A tensor keeps its shape: views would lose their base.
    def t_(self):
        raise _keeps_its_shape("t()")

    def transpose_(self, dim0, dim1):
        raise _keeps_its_shape(f"transpose({dim0}, {dim1})")

    def squeeze_(self, dim=None):
        raise _keeps_its_shape(f"squeeze({'' if dim is None else dim})")

    def unsqueeze_(self, dim):
        raise _keeps_its_shape(f"unsqueeze({dim})")

    def resize_(self, *sizes):
        raise _keeps_its_shape(f"reshape({', '.join(map(str, sizes))})")

    # Random numbers: create.py

    def bernoulli(self, p=None, *, generator=None):
        """1 with the probability that the element holds (or with the probability p), else 0."""
        return create.bernoulli(self.detach(), p, generator=generator)

    def multinomial(self, num_samples, replacement=False, *, generator=None):
        return create.multinomial(self.detach(), num_samples, replacement, generator=generator)

    # Random numbers in place: create.py ---------------------------------------------------------------------------------------

    def uniform_(self, from_=0, to=1, *, generator=None):
        """Numbers uniform in [from_, to)."""
        return inplace.copy_(self, create.rand(self.array.shape, dtype=self.dtype, generator=generator) * (to - from_) + from_)

    def normal_(self, mean=0, std=1, *, generator=None):
        """Normal numbers with that mean and standard deviation."""
        return inplace.copy_(self, create.normal(mean, std, self.array.shape, dtype=self.dtype, generator=generator))

    def bernoulli_(self, p=0.5, *, generator=None):
        """1 with probability p, else 0."""
        return inplace.copy_(self, create.bernoulli(self.detach(), p, generator=generator))

    def exponential_(self, lambd=1, *, generator=None):
        """Numbers from the exponential distribution with the mean 1 / lambd."""
        return inplace.copy_(self, create.exponential(self.array.shape, lambd, dtype=self.dtype, generator=generator))

    def random_(self, from_=0, to=None, *, generator=None):
        """Whole numbers from from_ to to - 1; random_(n): from 0 to n - 1; without arguments as many as the dtype can hold exactly."""
        if to is None:
            from_, to = (0, from_) if from_ else (0, 2**24 if self.array.dtype == np.float32 else 2**53)
        return inplace.copy_(self, create.randint(from_, to, self.array.shape, dtype=self.dtype, generator=generator))

    # Others of the same dtype: create.py --------------------------------------------------------------------------------------

    def new_zeros(self, *size, dtype=None, device=None, requires_grad=False):
        return create.zeros(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_ones(self, *size, dtype=None, device=None, requires_grad=False):
        return create.ones(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_empty(self, *size, dtype=None, device=None, requires_grad=False):
        return create.empty(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False):
        return create.full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
        return create.tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)

    # Placed by strides: shape.py

    def as_strided(self, size, stride, storage_offset=None):
        return strided.as_strided_(self, size, stride, storage_offset)

    def cuda(self, device=None):
        only_cpu("cuda")

    def index_put_(self, indices, values, accumulate=False):
        return indexing.index_put_(self, indexing.positions_of(indices), as_tensor_like(values, self), accumulate)


variable.TENSOR = Tensor
from . import create  # noqa: E402  (which makes Tensors)


class _Missing:
    """Stands for a method of PyTorch's tensors that minigrad does not have. (A __getattr__ would slow down every access to a tensor.)"""

    def __init__(self, name):
        self.name = name

    def __get__(self, x, owner):
        here = [name for name in dir(owner) if name not in _UNSUPPORTED]
        raise AttributeError(
            errors.explain(
                f"'Tensor' object has no attribute '{self.name}'",
                f"PyTorch has it, minigrad does not support '{self.name}'.",
                instead=errors.nearest(self.name, here, "x."),
            )
        )


_UNSUPPORTED = frozenset(
    """
    H addr adjoint angle apply_ as_subclass bfloat16 bitwise_left_shift bitwise_right_shift cauchy_ cholesky cholesky_inverse
    cholesky_solve conj copysign corrcoef cov deg2rad diagonal_scatter diff digamma dist eig erfc erfinv frac frexp gcd geometric_
    get_device heaviside histc histogram hypot i0 igamma imag index_reduce isneginf isposinf isreal istft lcm ldexp lgamma
    log_normal_ logaddexp logaddexp2 logcumsumexp lstsq lu lu_solve mH map_ matrix_exp mode msort mvlgamma nanmean nanmedian
    nanquantile nextafter pin_memory pinverse polygamma put quantile qr rad2deg real renorm resize resize_as resize_as_
    scatter_reduce select_scatter set_ share_memory_ sinc slice_scatter solve stft storage svd swapaxes_ swapdims_ symeig
    tensor_split to_dense to_sparse triangular_solve unique_consecutive untyped_storage xlogy
    """.split()
)
for _name in _UNSUPPORTED:
    setattr(Tensor, _name, _Missing(_name))


def _keeps_its_shape(call):
    name = call.split("(")[0]
    return RuntimeError(
        f"minigrad does not support {name}_(), which changes the shape in place: a tensor keeps its shape. Write x = x.{call}."
    )


def _comparable(other):
    return isinstance(other, (Variable, builtins.bool, int, float, np.ndarray, np.generic))


def _rebuild(cls, array, requires):
    out = cls._wrap(dtypes.native(array))
    out.requires = requires
    return out


def expand(input, sizes):
    """`input` repeated along dimensions of size 1 (-1: as it is), without copying. Raises RuntimeError where the size is not 1."""
    old = input.array.shape
    extra = len(sizes) - len(old)
    if extra < 0:
        raise errors.new(
            RuntimeError,
            f"expand({input.type()}{{{list(old)}}}, size={list(sizes)}): the number of sizes provided ({len(sizes)}) must be greater or "
            "equal to "
            f"the number of dimensions in the tensor ({len(old)})",
        )
    new = []
    for i, n in enumerate(sizes):
        m = old[i - extra] if i >= extra else 1
        if n == -1 and i < extra:
            raise errors.new(RuntimeError, f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}")
        if n not in (-1, m) and m != 1:
            raise errors.new(
                RuntimeError,
                f"The expanded size of the tensor ({n}) must match the existing size ({m}) at non-singleton dimension {i}.  "
                f"Target sizes: {list(sizes)}.  Tensor sizes: {list(old)}",
            )
        new.append(m if n == -1 else int(n))
    return shape.expand(input, tuple(new))


def squeeze(input, dim=None):
    """`input` without its dimensions of size 1, or without those of `dim` that have size 1."""
    if dim is None:
        return shape.squeeze(input)
    dims = tuple([d for d in shape.dims_of(dim, input.array.ndim) if input.array.ndim and input.array.shape[d] == 1])
    return (shape.squeeze_dim if isinstance(dim, int) else shape.squeeze_dims)(input, dims)
