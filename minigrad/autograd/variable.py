"""torch.autograd.Variable: what tensors with gradients were called before PyTorch 0.4."""
import warnings

from ..core import variable


class _TensorsAreVariables(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, variable.Variable)


class Variable(metaclass=_TensorsAreVariables):
    """Variable(tensor, requires_grad=False): another tensor with the same numbers, a leaf. Every tensor is an instance."""

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile is not None:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning, stacklevel=2)
        if not isinstance(data, variable.Variable):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.data.requires_grad_(requires_grad)
