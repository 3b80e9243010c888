"""nn.functional, nn.init and nn.utils: what they say about wrong input, randomness, clipping."""

# ruff: noqa: E501  (a case is one line)
import inspect
import math
import pickle
import warnings

import numpy as np
import pytest

import minigrad as torch
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.kernels.special import erf
from minigrad.nn import init, utils

X = torch.randn(2, 3)
INT = torch.tensor([1, 2])


# The types and first lines are torch 2.13's.
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.cross_entropy(X, torch.tensor([0, 5])), IndexError, "Target 5 is out of bounds."),
        (lambda: F.cross_entropy(X, torch.tensor([0, 1, 2])), ValueError, "Expected input batch_size (2) to match target batch_size (3)."),
        (lambda: F.cross_entropy(X, torch.tensor([0.0, 1.0])), RuntimeError, "expected target dtype to be Long or Byte, but got Float"),
        (lambda: F.cross_entropy(X, torch.zeros(2, 1, dtype=torch.int64)), RuntimeError, "0D or 1D target tensor expected, multi-target not supported"),
        (lambda: F.cross_entropy(X, torch.tensor([0, 1]), weight=torch.ones(2)), RuntimeError, "weight tensor should be defined either for all 3 classes or no classes but got weight tensor of shape: [2]"),
        (lambda: F.cross_entropy(X, X, ignore_index=1), RuntimeError, "ignore_index is not supported for floating point target"),
        (lambda: F.cross_entropy(X, torch.tensor([0, 1]), label_smoothing=2.0), RuntimeError, "label_smoothing must be between 0.0 and 1.0. Got: 2"),
        (lambda: F.binary_cross_entropy(X * 0 + 2, torch.ones(2, 3)), RuntimeError, "all elements of input should be between 0 and 1"),
        (lambda: F.binary_cross_entropy(X.sigmoid(), torch.ones(2)), ValueError, "Using a target size (torch.Size([2])) that is different to the input size (torch.Size([2, 3])) is deprecated. Please ensure they have the same size."),
        (lambda: F.binary_cross_entropy_with_logits(X, torch.ones(2)), ValueError, "Target size (torch.Size([2])) must be the same as input size (torch.Size([2, 3]))"),
        (lambda: F.mse_loss(X, X, reduction="nosuch"), ValueError, "nosuch is not a valid value for reduction"),
        (lambda: F.mse_loss(INT, INT), NotImplementedError, "\"mse_cpu\" not implemented for 'Long'"),
        (lambda: F.smooth_l1_loss(X, X, beta=-1), RuntimeError, "smooth_l1_loss does not support negative values for beta."),
        (lambda: F.huber_loss(X, X, delta=0), RuntimeError, "huber_loss does not support non-positive values for delta."),
        (lambda: F.embedding(torch.tensor([5]), X), IndexError, "index out of range in self"),
        (lambda: F.embedding(torch.tensor([0.5]), X), RuntimeError, "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)"),
        (lambda: F.dropout(X, 2.0), ValueError, "dropout probability has to be between 0 and 1, but got 2.0"),
        (lambda: F.layer_norm(X, (2,)), RuntimeError, "Given normalized_shape=[2], expected input with shape [*, 2], but got input of size[2, 3]"),
        (lambda: F.group_norm(torch.randn(2, 4, 2), 3), RuntimeError, "Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 4, 2] and num_groups=3"),
        (lambda: F.batch_norm(torch.randn(1, 3), None, None, training=True), ValueError, "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"),
        (lambda: F.batch_norm(torch.randn(4, 3), None, None), RuntimeError, "running_mean must be defined in evaluation mode"),
        (lambda: F.batch_norm(torch.randn(4, 3), torch.ones(2), torch.ones(2)), RuntimeError, "running_mean should contain 3 elements not 2"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4), torch.randn(2, 3, 3, 3)), RuntimeError, "Given groups=1, weight of size [2, 3, 3, 3], expected input[1, 2, 4, 4] to have 3 channels, but got 2 channels instead"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4).double(), torch.randn(2, 2, 3, 3)), RuntimeError, "expected scalar type Double but found Float"),
        (lambda: F.conv2d(torch.randn(2, 4), torch.randn(2, 2, 3, 3)), RuntimeError, "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [2, 4]"),
        (lambda: F.conv2d(torch.randn(1, 2, 2, 2), torch.randn(2, 2, 3, 3)), RuntimeError, "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual input size"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4), torch.randn(2, 2, 3, 3), padding="same", stride=2), RuntimeError, "padding='same' is not supported for strided convolutions"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4), torch.randn(2, 2, 3, 3), padding="no"), RuntimeError, "Invalid padding string: 'no'"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4), torch.randn(2, 2, 3, 3), torch.randn(3)), RuntimeError, "Given weight of size [2, 2, 3, 3], expected bias to be 1-dimensional with 2 elements, but got bias of size [3] instead"),
        (lambda: F.conv2d(torch.randn(1, 2, 4, 4), torch.randn(2, 2, 3, 3), stride=(1, 2, 3)), RuntimeError, "expected stride to be a single integer value or a list of 2 values to match the convolution dimensions, but got stride=[1, 2, 3]"),
        (lambda: F.max_pool2d(torch.randn(1, 1, 2, 2), 5), RuntimeError, "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small"),
        (lambda: F.max_pool2d(torch.randn(1, 1, 2, 2), 2, padding=2), RuntimeError, "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1"),
        (lambda: F.one_hot(torch.tensor([0, 5]), 2), RuntimeError, "Class values must be smaller than num_classes."),
        (lambda: F.one_hot(torch.tensor([-1]), 2), RuntimeError, "Class values must be non-negative."),
        (lambda: F.pad(X, (1, 1, 1)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: F.pad(X, (1, 1), mode="no"), NotImplementedError, "Unrecognised padding mode no"),
        (lambda: F.pad(X, (5, 5), mode="reflect"), RuntimeError, "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (5, 5) at dimension 1 of input [2, 3]"),
        (lambda: F.glu(torch.randn(3)), RuntimeError, "Halving dimension must be even, but dimension 0 is size 3"),
        (lambda: F.gelu(INT), NotImplementedError, "\"GeluKernelImpl\" not implemented for 'Long'"),
        (lambda: F.linear(X, torch.randn(4, 2)), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)"),
        (lambda: F.linear(X.double(), torch.randn(4, 3), torch.randn(4)), RuntimeError, "mat1 and mat2 must have the same dtype, but got Double and Float"),
        (lambda: F.scaled_dot_product_attention(X, X, X, attn_mask=torch.ones(2, 2), is_causal=True), RuntimeError, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"),
        (lambda: nn.MultiheadAttention(7, 2), AssertionError, "embed_dim must be divisible by num_heads"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(3, 4, 3, padding="no"), ValueError, "Invalid padding string 'no', should be one of {'same', 'valid'}"),
        (lambda: nn.Dropout(2.0), ValueError, "dropout probability has to be between 0 and 1, but got 2.0"),
        (lambda: nn.Embedding(3, 2, padding_idx=5), AssertionError, "Padding_idx must be within num_embeddings"),
        (lambda: nn.BatchNorm1d(3)(torch.randn(2, 3, 4, 5)), ValueError, "expected 2D or 3D input (got 4D input)"),
        (lambda: nn.BatchNorm2d(3)(torch.randn(2, 3, 4)), ValueError, "expected 4D input (got 3D input)"),
        (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"),
        (lambda: nn.LSTM(3, 4)(torch.randn(5, 2, 4)), RuntimeError, "input.size(-1) must be equal to input_size. Expected 3, got 4"),
        (lambda: nn.LSTM(3, 4)(torch.randn(5, 2, 3, 1)), ValueError, "LSTM: Expected input to be 2D or 3D, got 4D instead"),
        (lambda: nn.RNN(3, 4, nonlinearity="no"), ValueError, "Unknown nonlinearity 'no'. Select from 'tanh' or 'relu'."),
        (lambda: nn.GRU(3, 4)(torch.randn(5, 2, 3), torch.randn(1, 3, 4)), RuntimeError, "Expected hidden size (1, 2, 4), got [1, 3, 4]"),
        (lambda: nn.RNNCell(3, 4)(torch.randn(2, 2)), RuntimeError, "input has inconsistent input_size: got 2 expected 3"),
        (lambda: nn.GroupNorm(3, 4), ValueError, "num_channels (4) must be divisible by num_groups (3)"),
        (lambda: init.calculate_gain("no"), ValueError, "Unsupported nonlinearity no"),
        (lambda: init.xavier_uniform_(torch.ones(3)), ValueError, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(torch.ones(3, 3), mode="no"), ValueError, "Mode no not supported, please use one of ['fan_in', 'fan_out']"),
        (lambda: init.orthogonal_(torch.ones(3)), ValueError, "Only tensors with 2 or more dimensions are supported"),
        (lambda: init.eye_(torch.ones(3)), ValueError, "Only tensors with 2 dimensions are supported"),
    ],
)  # fmt: skip
def test_errors_are_pytorchs(call, error, message):
    with pytest.raises(error) as e:
        call()
    assert str(e.value).split("\n")[0] == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.mse_loss(torch.ones(3, 1), torch.ones(3)), r"Using a target size \(torch.Size\(\[3\]\)\) that is different to the input size \(torch.Size\(\[3, 1\]\)\)"),
        (lambda: F.kl_div(X, X.softmax(1)), "reduction: 'mean' divides the total loss by both the batch size and the support size"),
        (lambda: F.softmax(X), "Implicit dimension choice for softmax has been deprecated"),
        (lambda: nn.LSTM(3, 4, dropout=0.5), "dropout option adds dropout after all but last recurrent layer"),
    ],
)  # fmt: skip
def test_warnings_are_pytorchs(call, message):
    with pytest.warns(UserWarning, match=message):
        call()


def test_everything_ignored_is_nan():
    assert math.isnan(F.cross_entropy(X, torch.tensor([-100, -100])).item())


def test_dropout():
    torch.manual_seed(0)
    x = torch.ones(100, 100, requires_grad=True)
    y = F.dropout(x, 0.25)
    kept = y.array != 0
    assert abs(kept.mean() - 0.75) < 0.02 and np.allclose(y.array[kept], 4 / 3)
    y.sum().backward()
    assert np.array_equal(x.grad.array, y.array)
    channels = F.dropout2d(torch.ones(20, 30, 2, 2), 0.5).array
    assert np.array_equal(channels.min((2, 3)), channels.max((2, 3))) and 0.3 < (channels[..., 0, 0] == 0).mean() < 0.7
    assert not F.dropout(x, 1.0).array.any() and F.dropout(x, 0.5, training=False) is x
    z = F.alpha_dropout(torch.randn(20000), 0.3, training=True).array
    assert abs(z.mean()) < 0.05 and abs(z.std() - 1) < 0.05
    with torch.no_grad():
        w = torch.ones(1000)
        assert F.dropout(w, 0.5, inplace=True) is w and (w.array == 0).any()


def test_in_place_activations_count_as_writes():
    x = torch.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True) is x and x.tolist() == [0, 2] and x._version == 1
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        F.elu(leaf, inplace=True)


def test_erf():
    x = np.linspace(-9, 9, 20001)
    true = np.array([math.erf(v) for v in x])
    assert np.abs(erf(x) - true).max() < 3e-16
    assert np.abs(erf(x.astype(np.float32)) - true).max() < 1e-6
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 7, -7, 1, 2])
    for dtype in (np.float64, np.float32, np.float16):
        found = erf(special.astype(dtype))
        assert found.dtype == dtype and found[:2].tolist() == [1, -1] and np.isnan(found[2]) and found[5] == 1
        assert not np.signbit(found[3]) and np.signbit(found[4])


def test_embedding_max_norm_counts_as_a_write():
    table = torch.full((3, 2), 3.0)
    F.embedding(torch.tensor([0, 2]), table, max_norm=1.0)
    assert np.allclose((table.array**2).sum(1), [1, 18, 1]) and table._version == 1


# init ---------------------------------------------------------------------------------------------------------------------


def test_spreads():
    torch.manual_seed(0)
    w = torch.empty(400, 300)
    for fill, std in (
        (lambda: init.xavier_uniform_(w), math.sqrt(2 / 700)), (lambda: init.xavier_normal_(w, gain=2), 2 * math.sqrt(2 / 700)),
        (lambda: init.kaiming_uniform_(w), math.sqrt(2 / 300)), (lambda: init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 400)),
        (lambda: init.normal_(w, 0, 0.3), 0.3), (lambda: init.uniform_(w, -1, 1), math.sqrt(1 / 3)), (lambda: init.kaiming_normal_(w, a=1), math.sqrt(1 / 300)),
    ):  # fmt: skip
        assert fill() is w and w.array.std() == pytest.approx(std, rel=0.02) and abs(w.array.mean()) < 0.02 * std * 3
    init.trunc_normal_(w, std=2.0, a=-1, b=3)
    assert w.array.min() >= -1 and w.array.max() <= 3


def test_exact_fillings():
    w = torch.empty(3, 5)
    assert init.eye_(w).tolist() == np.eye(3, 5).tolist() and init.constant_(w, 2.5).array.min() == 2.5 == w.array.max()
    assert not init.zeros_(w).array.any() and init.ones_(w).array.all()
    for shape in ((3, 5), (5, 3), (4, 2, 3)):
        q = init.orthogonal_(torch.empty(*shape), gain=2).array.reshape(shape[0], -1)
        gram = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
        assert np.allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)
    kernel = init.dirac_(torch.empty(2, 2, 3, 3))
    image = torch.randn(1, 2, 5, 5)
    assert torch.equal(F.conv2d(image, kernel, padding=1), image)
    assert (init.sparse_(torch.empty(10, 4), 0.3).array == 0).sum(0).tolist() == [3] * 4
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        init.kaiming_uniform_(torch.empty(0, 3))


def test_filling_is_not_recorded_but_counts_as_a_write():
    w = nn.Parameter(torch.zeros(2, 2))
    init.xavier_normal_(w)
    assert w.is_leaf and w.requires_grad and w._version == 1


# utils --------------------------------------------------------------------------------------------------------------------


def with_grads(*values):
    parameters = []
    for v in values:
        p = torch.zeros(len(v), requires_grad=True)
        p.grad = torch.tensor(v)
        parameters.append(p)
    return parameters


def test_clip_grad_norm():
    p = with_grads([3.0, 0.0], [4.0])
    assert utils.clip_grad_norm_(p, 2.5).item() == 5  # the norm before
    assert np.allclose(p[0].grad.array, [1.5, 0]) and np.allclose(p[1].grad.array, [2])
    assert utils.clip_grad_norm_(p, 10).item() == pytest.approx(2.5) and np.allclose(p[1].grad.array, [2])
    assert utils.clip_grad_norm_(with_grads([3.0, -5.0], [4.0]), 1, norm_type=float("inf")).item() == 5
    assert utils.clip_grad_norm_(with_grads([3.0, -5.0], [4.0]), 1, norm_type=1).item() == 12
    assert utils.clip_grad_norm_([], 1.0).item() == 0 and utils.clip_grad_norm_(p[0], 1.0).item() == pytest.approx(1.5)
    bad = with_grads([math.inf])
    with pytest.raises(
        RuntimeError,
        match="The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped",
    ):
        utils.clip_grad_norm_(bad, 1.0, error_if_nonfinite=True)
    assert utils.clip_grad_norm_((q for q in p), 1.0).item() > 0  # a generator, too


def test_clip_grad_value():
    p = with_grads([3.0, -5.0, 0.5])
    utils.clip_grad_value_(p, 1)
    assert p[0].grad.tolist() == [1, -1, 0.5]


def test_parameters_as_a_vector():
    net = nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    utils.vector_to_parameters(torch.arange(9.0), net.parameters())
    assert (
        net.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and net.bias.tolist() == [6, 7, 8] and net.weight.requires_grad
    )
    with pytest.raises(TypeError, match="expected torch.Tensor, but got: builtins.list"):
        utils.vector_to_parameters([1.0], net.parameters())


def test_layers_start_as_pytorchs_do():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        line, conv = nn.Linear(2, 3), nn.Conv2d(4, 8, 3)
    # Torch 2.13 with this seed
    assert line.weight.tolist()[0] == pytest.approx([-0.00529398117, 0.379322886], abs=1e-7)
    assert (
        np.abs(conv.weight.array).max() <= 1 / 6
        and np.abs(conv.bias.array).max() <= 1 / 6 < np.abs(conv.weight.array).max() * 1.05
    )
    assert np.abs(nn.LSTM(3, 25).weight_hh_l0.array).max() <= 0.2


def test_means_of_whole_numbers_are_cut_off():
    x = torch.tensor([3, 1, 4, 1, 5, 9]).reshape(1, 1, 6)
    assert F.avg_pool1d(x, 3).tolist() == [[[2, 5]]] and F.avg_pool1d(-x, 4, 2).tolist() == [[[-2, -4]]]
    image = torch.arange(16).reshape(1, 1, 4, 4)
    assert F.avg_pool2d(image, 3, 1).tolist() == [[[[5, 6], [9, 10]]]]
    assert F.avg_pool2d(image, 2, divisor_override=3).tolist() == [[[[3, 6], [14, 16]]]]


@pytest.mark.parametrize(
    ("padding", "rows"),
    [
        ((-1, -1), [[1, 2], [5, 6]]),
        ((1, -1), [[2, 0, 1, 2], [6, 4, 5, 6]]),
        ((-1, 2), [[1, 2, 3, 1, 2], [5, 6, 7, 5, 6]]),
    ],
)
def test_circular_padding_goes_around_what_negative_padding_leaves(padding, rows):
    x = torch.arange(8.0, requires_grad=True)
    out = F.pad(x.reshape(1, 2, 4), padding, "circular")
    assert out.tolist() == [rows]
    out.sum().backward()
    assert x.grad.tolist() == [float(sum(row.count(i) for row in rows)) for i in range(8)]


def test_max_unpool_keeps_the_last_of_several_at_one_place():
    x = torch.tensor([[[1.0, 2.0, 3.0]]], requires_grad=True)
    out = F.max_unpool1d(x, torch.tensor([[[0, 0, 3]]]), 2, output_size=(5,))
    assert out.tolist() == [[[2, 0, 0, 3, 0]]]
    out.sum().backward()
    assert x.grad.tolist() == [[[1, 1, 1]]]


def test_empty_batches_pass_through_the_norms():
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        assert F.local_response_norm(torch.ones(shape), 2).shape == shape
    assert F.batch_norm(torch.ones(0), torch.ones(0), torch.ones(0), training=True).shape == (0,)
    assert torch.gather(torch.ones(5), 0, torch.zeros(2, 0, dtype=torch.int64)).shape == (2, 0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", F.__all__)
def test_a_list_for_a_tensor_is_called_by_its_name(name):
    """Every function of nn.functional: what learners meet when they pass numbers or an array to a layer."""
    parameters = inspect.signature(getattr(F, name)).parameters.values() if inspect.isfunction(getattr(F, name)) else ()
    needed = [p for p in parameters if p.default is p.empty]
    if not needed or name == "cosine_embedding_loss":  # which looks at its target first
        return
    with pytest.raises(TypeError, match=rf"argument '{needed[0].name}' \(position 1\) must be Tensor, not list"):
        getattr(F, name)([1.0, 2.0], *[torch.ones(2, 2) for _ in needed[1:]])


def test_functions_of_the_package_can_be_pickled():
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu


def test_averages_of_long_signals_are_windows(monkeypatch):
    """A matrix of averages of 40,000 numbers would have 1.6 billion entries. The oracle for the windows is the matrix itself."""
    from minigrad.nn.functional import pooling

    long = torch.ones(1, 1, 40_000, requires_grad=True)
    F.avg_pool1d(long, 3, 1, 1).sum().backward()
    assert long.grad.sum().item() == pytest.approx(40_000 - 2 / 3)
    ways = [
        (3, 2, 1),
        (4, 1, 2, False, False),
        (5, 3, 2, True, False),
        (3, 3, 0, True, True),
        ((2, 3), (1, 2), (1, 1), True, True, 7),
    ]
    for way in ways:
        x = torch.randn(2, 3, 9, dtype=torch.float64)
        x[0, 0, 0] = math.inf
        x.requires_grad_()
        answers = []
        for large in (2**22, 0):
            monkeypatch.setattr(pooling, "_LARGE", large)
            y = (F.avg_pool2d if isinstance(way[0], tuple) else F.avg_pool1d)(x, *way)
            (g,) = torch.autograd.grad(y, x, torch.arange(float(y.numel())).double().reshape(y.shape))
            answers.append((y, g))
        for dense, windows in zip(*answers, strict=True):
            assert torch.allclose(dense, windows), way


@pytest.mark.parametrize("wrong", [(2, 4, 4), (4, 3, 4), (4, 4, 3)])
def test_the_gradients_of_a_convolution_say_which_argument_has_the_wrong_number_of_dimensions(wrong):
    size, weight, grad = (torch.ones((2,) * n) for n in wrong)
    with pytest.raises(RuntimeError, match="has [23] dimensions, but conv2d's has 4"):
        nn.grad.conv2d_input(tuple(size.shape), weight, grad)
    with pytest.raises(RuntimeError, match="has [23] dimensions, but conv2d's has 4"):
        nn.grad.conv2d_weight(size, tuple(weight.shape), grad)
