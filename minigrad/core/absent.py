"""PyTorch's names that minigrad leaves out: why, and what to use instead. One table for attributes, modules and `import` statements.

What lives here: `TABLE`. What does not: the errors that are made from it, and, for names that are not in it, the search for one that is
spelled nearly the same (errors.py).
"""

from typing import NamedTuple


class Absent(NamedTuple):
    """Why a name is missing, and what to write instead."""

    why: str
    instead: str = ""


_COMPLEX = Absent(
    "minigrad has no complex numbers.", "numpy computes them: numpy.fft, numpy.linalg; their results carry no gradient."
)
_SPARSE = Absent(
    "minigrad has no sparse tensors.", "a dense tensor, or an index: torch.zeros(n).index_add(0, index, values)."
)
_QUANTISED = Absent("minigrad has no quantised tensors.", "float16 halves the memory: x.half().")
_DEVICES = Absent("minigrad computes on the CPU only.", "leave the device out, or ask torch.cuda.is_available() first.")
_DEPLOY = Absent(
    "minigrad is for learning: it exports and deploys nothing.",
    "torch.save(model.state_dict(), path), and load that in PyTorch.",
)
_SPECIAL = Absent(
    "of the special functions minigrad has those that deep learning uses.",
    "torch.erf, erfc, lgamma, digamma, xlogy, logit, expit = torch.sigmoid.",
)
_DECOMPOSITION = Absent(
    "minigrad has the decompositions that deep learning uses.",
    "torch.linalg: solve, inv, cholesky, qr, eigh, svd, pinv.",
)


def _family(instead: str) -> Absent:
    return Absent("of torch.distributions minigrad has Normal, Uniform, Bernoulli and Categorical.", instead)


TABLE: dict[str, Absent] = {
    # modules
    "fft": _COMPLEX,
    "special": _SPECIAL,
    "signal": Absent(
        "minigrad has no signal processing.", "torch.hann_window and its kin are there; numpy and scipy have the rest."
    ),
    "masked": Absent("minigrad has no masked tensors.", "torch.where(mask, x, 0), x.masked_fill(mask, 0), x[mask]."),
    "sparse": _SPARSE,
    "nested": Absent("minigrad has no nested tensors.", "torch.nn.utils.rnn.pad_sequence and a mask."),
    "jit": Absent("minigrad compiles no TorchScript.", "torch.compile(step) fuses a training step; nothing needs it."),
    "fx": Absent("minigrad does not rewrite modules.", "minigrad.trace(y) gives the graph of a result."),
    "hub": Absent(
        "minigrad downloads nothing.",
        "define the model, and load its numbers with model.load_state_dict(torch.load(path)).",
    ),
    "onnx": _DEPLOY,
    "export": _DEPLOY,
    "package": _DEPLOY,
    "multiprocessing": Absent(
        "tensors are not shared between processes.", "Python's multiprocessing pickles tensors like other objects."
    ),
    "distributed": Absent(
        "minigrad trains in one process.",
        "accumulate gradients over several batches: loss.backward() before each step.",
    ),
    "quantization": _QUANTISED,
    "ao": _QUANTISED,
    "mps": _DEVICES,
    "xpu": _DEVICES,
    "mtia": _DEVICES,
    "xla": _DEVICES,
    "monitor": Absent("minigrad keeps no statistics of a process.", "print, or a list of losses."),
    "utils.tensorboard": Absent(
        "minigrad writes no event files.", "a list of losses and matplotlib; or the tensorboardX package."
    ),
    "utils.cpp_extension": Absent(
        "minigrad has no C++ side.", "torch.autograd.Function, or a row of the derivatives table."
    ),
    "utils.benchmark": Absent("minigrad has no benchmark module.", "%timeit, or torch.profiler."),
    "distributions.kl": _family("for normals: log(s2 / s1) + (s1**2 + (m1 - m2)**2) / (2 * s2**2) - 0.5."),
    "distributions.kl_divergence": _family(
        "for normals: log(s2 / s1) + (s1**2 + (m1 - m2)**2) / (2 * s2**2) - 0.5; or a mean of p.log_prob(x) - q.log_prob(x).",
    ),
    "distributions.MultivariateNormal": _family(
        "loc + noise @ torch.linalg.cholesky(covariance).T; log_prob by torch.linalg.solve and slogdet."
    ),
    "distributions.Independent": _family(
        "Normal(loc, scale).log_prob(x).sum(-1) treats the last dimension as one event."
    ),
    "distributions.Beta": _family("numpy.random.default_rng().beta draws; log_prob from torch.lgamma."),
    "distributions.Dirichlet": _family("numpy.random.default_rng().dirichlet draws; log_prob from torch.lgamma."),
    "distributions.Exponential": _family("torch.empty(n).exponential_(rate) draws; log_prob is log(rate) - rate * x."),
    "distributions.Poisson": _family("numpy.random.default_rng().poisson draws; the loss is F.poisson_nll_loss."),
    # torch
    "complex": _COMPLEX,
    "polar": _COMPLEX,
    "view_as_complex": _COMPLEX,
    "view_as_real": _COMPLEX,
    "stft": _COMPLEX,
    "istft": _COMPLEX,
    "complex64": _COMPLEX,
    "complex128": _COMPLEX,
    "cfloat": _COMPLEX,
    "cdouble": _COMPLEX,
    "sparse_coo_tensor": _SPARSE,
    "sparse_csr_tensor": _SPARSE,
    "sparse_coo": _SPARSE,
    "to_sparse": _SPARSE,
    "to_dense": _SPARSE,
    "quantize_per_tensor": _QUANTISED,
    "quantize_per_channel": _QUANTISED,
    "dequantize": _QUANTISED,
    "qint8": _QUANTISED,
    "quint8": _QUANTISED,
    "set_default_device": _DEVICES,
    "set_default_tensor_type": Absent("PyTorch has deprecated it.", "torch.set_default_dtype(torch.float64)."),
    "matrix_exp": Absent(
        "minigrad has no matrix exponential.",
        "for a symmetric A: w, V = torch.linalg.eigh(A); V @ torch.diag(w.exp()) @ V.T.",
    ),
    "erfinv": Absent(
        "minigrad has no inverse of erf.",
        "statistics.NormalDist().inv_cdf(p) for a number; erfinv(y) is inv_cdf((y + 1) / 2) / sqrt(2).",
    ),
    "igamma": _SPECIAL,
    "igammac": _SPECIAL,
    "mvlgamma": _SPECIAL,
    "i0": _SPECIAL,
    "lobpcg": _DECOMPOSITION,
    "lu": _DECOMPOSITION,
    "lu_solve": _DECOMPOSITION,
    "lu_unpack": _DECOMPOSITION,
    "geqrf": _DECOMPOSITION,
    "orgqr": _DECOMPOSITION,
    "ormqr": _DECOMPOSITION,
    "triangular_solve": _DECOMPOSITION,
    "lstsq": Absent("minigrad has no lstsq.", "torch.linalg.pinv(A) @ b is the least-squares solution."),
    "poisson": Absent(
        "minigrad draws no Poisson numbers.", "torch.from_numpy(numpy.random.default_rng(0).poisson(rate))."
    ),
    "binomial": Absent("minigrad draws no binomial numbers.", "the sum of torch.bernoulli over a new dimension."),
    "histogramdd": Absent("minigrad's histograms have one dimension.", "torch.histogram; numpy.histogramdd."),
    "index_reduce": Absent("minigrad has no index_reduce.", "scatter_reduce with an index of the source's shape."),
    "frexp": Absent("minigrad has no frexp.", "numpy.frexp(x.numpy())."),
    "cond": Absent("minigrad records what runs, so Python's own if does.", "if condition: ... else: ..."),
    "while_loop": Absent("minigrad records what runs, so Python's own loops do.", "while condition: ..."),
    "Stream": _DEVICES,
    "Event": _DEVICES,
    # Tensor
    "bfloat16": Absent("numpy, which stores minigrad's numbers, has no such type.", "x.half() (float16) or x.float()."),
    "pin_memory": _DEVICES,
    "share_memory_": Absent("tensors are not shared between processes."),
    "apply_": Absent(
        "minigrad does not run a Python function per element.", "an operation on the whole tensor; or torch.vmap."
    ),
    "map_": Absent(
        "minigrad does not run a Python function per element.", "an operation on the whole tensor; or torch.vmap."
    ),
    # linalg
    "linalg.eig": Absent(
        "eigenvalues of a general matrix are complex, and minigrad has no complex numbers.",
        "torch.linalg.eigh for a symmetric matrix; numpy.linalg.eig.",
    ),
    "linalg.eigvals": Absent(
        "eigenvalues of a general matrix are complex, and minigrad has no complex numbers.",
        "torch.linalg.eigvalsh for a symmetric matrix; numpy.linalg.eigvals.",
    ),
    "linalg.lstsq": Absent("minigrad has no lstsq.", "torch.linalg.pinv(A) @ b is the least-squares solution."),
    "linalg.matrix_exp": Absent(
        "minigrad has no matrix exponential.",
        "for a symmetric A: w, V = torch.linalg.eigh(A); V @ torch.diag(w.exp()) @ V.T.",
    ),
    "linalg.lu": _DECOMPOSITION,
    "linalg.lu_factor": _DECOMPOSITION,
    "linalg.ldl_factor": _DECOMPOSITION,
    # nn, optim, utils
    "nn.utils.prune": Absent(
        "minigrad has no pruning.",
        "a mask in a parametrization (torch.nn.utils.parametrize), or weight.data *= mask after each step.",
    ),
    "nn.utils.parametrizations.orthogonal": Absent(
        "minigrad has no orthogonal parametrization.",
        "torch.nn.init.orthogonal_ once, or parametrize with qr: Q, R = torch.linalg.qr(W).",
    ),
    "nn.AdaptiveLogSoftmaxWithLoss": Absent("minigrad is for small vocabularies.", "torch.nn.CrossEntropyLoss."),
    "nn.DataParallel": Absent("minigrad computes on one CPU.", "the module itself."),
    "nn.parallel": Absent("minigrad trains in one process.", "the module itself."),
    "nn.quantized": _QUANTISED,
    "optim.SparseAdam": Absent("minigrad has no sparse gradients.", "torch.optim.Adam."),
    "utils.data.WeightedRandomSampler": Absent(
        "minigrad has two samplers.",
        "DataLoader(dataset, sampler=torch.multinomial(weights, n, replacement=True).tolist()).",
    ),
    "utils.data.DistributedSampler": Absent("minigrad trains in one process.", "shuffle=True."),
}
for (
    _kind
) in "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d".split():
    TABLE["nn.Lazy" + _kind] = Absent(
        "of the lazy modules minigrad has LazyLinear.", f"torch.nn.{_kind} with the number of channels."
    )


def as_text() -> str:
    """The table in Markdown, for docs/compatibility.md: one row for all names that share a reason."""
    names: dict[Absent, list[str]] = {}
    for name, row in TABLE.items():
        names.setdefault(row, []).append(name)
    rows, above = ["| missing | because | instead |", "|---|---|---|"], ""
    for row, missing in names.items():
        cells = (", ".join(f"`{name}`" for name in missing), "the same" if row.why == above else row.why, row.instead)
        above = row.why
        rows.append("| " + " | ".join(cell.replace("|", r"\|").replace("*", r"\*") for cell in cells) + " |")
    return "\n".join(rows)
