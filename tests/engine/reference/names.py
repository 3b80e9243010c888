"""Distributions, histograms, assert_close and other names of beginners' tutorials: expressions, and what PyTorch answered.

`python -m tests.engine.reference.names` (with torch) asks again. Imports neither torch nor minigrad.
"""

import json
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_suffix(".json")

DISTRIBUTIONS = [
    "D.Normal(t([0.,1.]),t([1.,2.]))",
    "D.Normal(t([0.,1.],dtype=torch.float64),2.)",
    "D.Normal(0.,1.)",
    "D.Uniform(t([0.,1.]),3.)",
    "D.Bernoulli(t([.25,.5,1.]))",
    "D.Bernoulli(logits=t([-1.,0.,2.]))",
    "D.Categorical(t([.1,.2,.7]))",
    "D.Categorical(logits=t([[1.,2.,3.],[0.,0.,0.]]))",
    "D.Categorical(t([0.,.5,.5]))",
]
OF_EACH = [
    "seeded(lambda: {0}.sample())", "seeded(lambda: {0}.sample((3,)))", "{0}.entropy()", "{0}.mean", "{0}.variance",
    "{0}.stddev", "repr({0})", "{0}.batch_shape", "seeded(lambda: {0}.rsample((2,)))", "{0}.sample((2,)).requires_grad",
]  # fmt: skip
OTHERS = """
D.Normal(t([0.,1.]),t([1.,2.])).log_prob(t([.5,.5]))
D.Normal(0.,1.).log_prob(t([.5,.5]))
D.Normal(0.,1.).log_prob(0.5)
D.Uniform(0.,2.).log_prob(t([-1.,0.,1.,2.]))
D.Bernoulli(t([.25,.5,1.])).log_prob(t([1.,0.,1.]))
D.Bernoulli(t(.25)).log_prob(t([1.,0.,1.]))
D.Categorical(t([.1,.2,.7])).log_prob(t([0,2]))
D.Categorical(t([.1,.2,.7])).log_prob(t(1))
D.Categorical(logits=t([[1.,2.,3.],[0.,0.,0.]])).log_prob(t([2,0]))
D.Categorical(logits=t([[1.,2.,3.],[0.,0.,0.]])).log_prob(t(1))
D.Categorical(t([.1,.2,.7])).probs
D.Categorical(t([1.,1.,2.])).logits
D.Normal(0.,-1.)
D.Uniform(1.,0.)
D.Bernoulli()
D.Bernoulli(t(2.))
D.Categorical(t(-1.))
D.Categorical(t([-1.,2.]))
D.Normal(0,1).sample().dtype
D.Categorical(t([.1,.2,.7])).mode
D.Normal(t(0.,requires_grad=True),1.).rsample().requires_grad
D.Normal(t(0.,requires_grad=True),1.).sample().requires_grad
D.Normal(t(0.,requires_grad=True),1.).has_rsample
D.Categorical(t([.1,.2,.7])).has_rsample
torch.histogram(t([1.,2.,1.,0.5,3.]),4)
torch.histogram(t([1.,2.,1.,0.5,3.]),bins=4,range=(0.,2.))
torch.histogram(t([1.,2.,1.,0.5,3.]),4,density=True)
torch.histogram(t([1.,2.,1.,0.5,3.]),t([0.,1.,2.]))
torch.histogram(t([1.,2.,1.,0.5,3.]),3,weight=t([1.,2.,3.,4.,5.]))
t([1.,2.,1.,0.5,3.]).histogram(2)
torch.histogram(t([1,2]),2)
torch.histogram(t([1.,1.]),2)
torch.histogram(t([1.,2.],dtype=torch.float64),2,density=True)
err(t([1.,2.]),t([1.,3.]))
err(t([1,2]),t([1,3]))
err(t([1.,2.]),t([1.,2.,3.]))
err(t([1.,2.]),t([1.,2.],dtype=torch.float64))
err(1.,2.)
err(1,2)
err([t([1.]),t([2.])],[t([1.]),t([3.])])
err({'a':1.},{'a':2.})
err({'a':1.},{'b':2.})
err([1.],[1.,2.])
err(t([float('nan')]),t([float('nan')]))
err(t([float('nan')]),t([float('nan')]),equal_nan=True)
err(t([1.]),t([1.1]),rtol=.5,atol=0.)
err(t([1.]),t([1.1]),rtol=.5)
err(t(1.),t(2.))
err(t([1.]),t([2.]),msg='no')
err(t([1.]),t([2.]),msg=lambda m:'x '+m[:5])
err(t([[1.,2.],[3.,4.]]),t([[1.,2.],[3.,9.]]))
err(t([True]),t([False]))
err(t([1.]),t([1.0000001]))
err(None,None)
err(t([1.]),t([float('inf')]))
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision('high')
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision('no')
torch.accelerator.is_available()
torch.accelerator.current_accelerator()
torch.accelerator.device_count()
torch.cuda.amp.GradScaler().scale(t(1.))
torch.cuda.amp.GradScaler().is_enabled()
repr(torch.nn.LazyLinear(3))
tuple(torch.nn.LazyLinear(3)(torch.ones(2,5)).shape)
seeded(lambda:torch.nn.LazyLinear(3)(torch.ones(2,5)))
""".strip().splitlines()
EXPRESSIONS = [line.format(made) for made in DISTRIBUTIONS for line in OF_EACH] + OTHERS


def answers(package: str) -> dict[str, Any]:
    """{expression: its result as lists, or the error's type and message}"""
    torch = import_module(package)
    testing = import_module(package + ".testing")

    def seeded(function: Any) -> Any:
        torch.manual_seed(0)
        return function()

    def err(*args: Any, **kwargs: Any) -> str | None:
        try:
            testing.assert_close(*args, **kwargs)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    scope = {
        "torch": torch,
        "D": import_module(package + ".distributions"),
        "t": torch.tensor,
        "seeded": seeded,
        "err": err,
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for expression in EXPRESSIONS:
            try:
                found[expression] = plain(eval(expression, scope))
            except Exception as error:
                found[expression] = f"{type(error).__name__}: {error}"
    torch.set_float32_matmul_precision("highest")
    return found


def plain(result: Any) -> Any:
    """What JSON can hold."""
    if hasattr(result, "tolist"):
        return [str(result.dtype), result.tolist()]
    if isinstance(result, tuple):
        return [plain(r) for r in result]
    return result if isinstance(result, int | float | str | None) else repr(result)


if __name__ == "__main__":
    found = answers("torch")
    STORED.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
