"""The questions. Imports neither torch nor minigrad: both get the same seeded numbers. One line adds a case; then run make.py.

    Layer("Linear", "nn.Linear(3, 4)", x=N(5, 3))

is a name, how to make the module, and the inputs of `call` (default: m(x)). What is recorded of it is in record.py.
"""

# ruff: noqa: E501  (a case is one line)
from tests.engine.reference.case import IDX, POS, A, D, Input, N, P


class Layer:
    def __init__(self, name: str, make: str, *, call: str = "m(x)", steps: bool = True, **inputs: Input):
        self.name, self.make, self.call, self.steps, self.inputs = name, make, call, steps, inputs


CAUSAL = "torch.ones(4, 4).triu(1).bool()"
LAYERS = [
    # linear maps and tables
    Layer("Linear", "nn.Linear(3, 4)", x=N(5, 3)),
    Layer("Linear without bias", "nn.Linear(3, 4, bias=False)", x=N(5, 3)),
    Layer("Linear on sequences", "nn.Linear(3, 4)", x=N(2, 5, 3)),
    Layer("Linear on a vector", "nn.Linear(3, 4)", x=N(3)),
    Layer("Bilinear", "nn.Bilinear(3, 2, 4)", call="m(x, y)", x=N(5, 3), y=N(5, 2)),
    Layer("Identity", "nn.Identity(54, unused=True)", x=N(2, 3)),
    Layer("Embedding", "nn.Embedding(6, 3)", x=IDX(2, 4, high=6)),
    Layer("Embedding with padding", "nn.Embedding(6, 3, padding_idx=-1)", x=A([[0, 5, 2], [5, 5, 1]])),
    Layer("Embedding by frequency", "nn.Embedding(6, 3, scale_grad_by_freq=True)", x=A([[0, 5, 2], [5, 5, 1]])),
    Layer("Embedding with max_norm", "nn.Embedding(6, 3, max_norm=0.4)", x=A([[0, 5, 2], [5, 5, 1]])),
    *[Layer(f"EmbeddingBag {mode}", f"nn.EmbeddingBag(6, 3, mode='{mode}', padding_idx=2)", call="m(x, o)", x=A([0, 5, 5, 1, 2, 2, 4]), o=A([0, 3, 3, 4])) for mode in ("sum", "mean", "max")],
    Layer("EmbeddingBag of rows", "nn.EmbeddingBag(6, 3)", x=A([[0, 5, 2], [5, 5, 1]])),
    Layer("EmbeddingBag by frequency", "nn.EmbeddingBag(6, 3, scale_grad_by_freq=True, max_norm=0.9)", x=A([[0, 5, 2], [5, 5, 1]])),
    Layer("EmbeddingBag weighted", "nn.EmbeddingBag(6, 3, mode='sum', include_last_offset=True)", call="m(x, o, w)", x=A([0, 5, 5, 1]), o=A([0, 1, 4]), w=N(4)),
    # convolutions
    Layer("Conv1d", "nn.Conv1d(2, 3, 3)", x=N(2, 2, 6)),
    Layer("Conv1d same", "nn.Conv1d(2, 3, 4, padding='same', dilation=2)", x=N(2, 2, 7)),
    Layer("Conv2d", "nn.Conv2d(2, 3, 3)", x=N(2, 2, 5, 4)),
    Layer("Conv2d options", "nn.Conv2d(4, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2, bias=False)", x=N(2, 4, 5, 6)),
    Layer("Conv2d depthwise", "nn.Conv2d(3, 6, 3, padding=1, groups=3)", x=N(2, 3, 4, 4)),
    Layer("Conv2d one image", "nn.Conv2d(2, 3, 2)", x=N(2, 4, 4)),
    *[Layer(f"Conv2d {mode}", f"nn.Conv2d(1, 2, 3, padding=1, padding_mode='{mode}')", x=N(1, 1, 4, 4)) for mode in ("reflect", "replicate", "circular")],
    Layer("ConvTranspose1d", "nn.ConvTranspose1d(2, 3, 3, stride=2)", x=N(2, 2, 4)),
    Layer("ConvTranspose2d", "nn.ConvTranspose2d(2, 3, 3)", x=N(2, 2, 3, 4)),
    Layer("ConvTranspose2d options", "nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2, dilation=1)", x=N(2, 4, 3, 3)),
    Layer("Unfold", "nn.Unfold(2, padding=1, stride=2)", x=N(2, 2, 4, 4)),
    Layer("Fold", "nn.Fold((4, 5), (2, 3))", x=N(2, 12, 9)),
    # pooling
    Layer("MaxPool1d", "nn.MaxPool1d(2)", x=D(2, 2, 5)),
    Layer("MaxPool2d", "nn.MaxPool2d(2)", x=D(2, 2, 4, 5)),
    Layer("MaxPool2d overlapping", "nn.MaxPool2d(3, stride=1, padding=1)", x=D(2, 2, 4, 4)),
    Layer("MaxPool2d ceil", "nn.MaxPool2d(2, stride=2, ceil_mode=True, dilation=1)", x=D(1, 2, 5, 5)),
    Layer("MaxPool2d dilated", "nn.MaxPool2d(2, dilation=2, stride=1)", x=D(1, 2, 5, 5)),
    Layer("AvgPool1d", "nn.AvgPool1d(3, stride=2, padding=1)", x=N(2, 2, 7)),
    Layer("AvgPool2d", "nn.AvgPool2d(2)", x=N(2, 2, 4, 5)),
    Layer("AvgPool2d without padding", "nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False, ceil_mode=True)", x=N(1, 2, 6, 6)),
    Layer("AvgPool2d ceil", "nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True)", x=N(1, 2, 6, 6)),
    Layer("AvgPool2d divisor", "nn.AvgPool2d(2, divisor_override=3)", x=N(1, 2, 4, 4)),
    Layer("AdaptiveAvgPool1d", "nn.AdaptiveAvgPool1d(3)", x=N(2, 2, 7)),
    Layer("AdaptiveAvgPool2d", "nn.AdaptiveAvgPool2d((3, 2))", x=N(2, 2, 7, 5)),
    Layer("AdaptiveAvgPool2d global", "nn.AdaptiveAvgPool2d(1)", x=N(2, 2, 3, 3)),
    Layer("AdaptiveAvgPool2d one side", "nn.AdaptiveAvgPool2d((None, 2))", x=N(1, 2, 3, 5)),
    Layer("AdaptiveMaxPool1d", "nn.AdaptiveMaxPool1d(3)", x=D(2, 2, 7)),
    Layer("AdaptiveMaxPool2d", "nn.AdaptiveMaxPool2d((3, 2))", x=D(1, 2, 5, 7)),
    # normalisation
    Layer("BatchNorm1d", "nn.BatchNorm1d(3)", x=N(5, 3)),
    Layer("BatchNorm1d on sequences", "nn.BatchNorm1d(3, eps=0.01, momentum=0.3)", x=N(4, 3, 2)),
    Layer("BatchNorm2d", "nn.BatchNorm2d(2)", x=N(3, 2, 3, 2)),
    Layer("BatchNorm2d average", "nn.BatchNorm2d(2, momentum=None)", x=N(3, 2, 3, 2)),
    Layer("BatchNorm1d plain", "nn.BatchNorm1d(3, affine=False, track_running_stats=False)", x=N(5, 3)),
    Layer("BatchNorm1d in evaluation", "nn.BatchNorm1d(3).eval()", x=N(5, 3)),
    Layer("InstanceNorm1d", "nn.InstanceNorm1d(3, affine=True)", x=N(2, 3, 4)),
    Layer("InstanceNorm2d", "nn.InstanceNorm2d(3, track_running_stats=True)", x=N(2, 3, 4, 2)),
    Layer("LayerNorm", "nn.LayerNorm(4)", x=N(3, 4)),
    Layer("LayerNorm two dimensions", "nn.LayerNorm((3, 4), eps=0.1)", x=N(2, 3, 4)),
    Layer("LayerNorm without bias", "nn.LayerNorm(4, bias=False)", x=N(3, 4)),
    Layer("LayerNorm plain", "nn.LayerNorm([4], elementwise_affine=False)", x=N(3, 4)),
    Layer("GroupNorm", "nn.GroupNorm(2, 4)", x=N(2, 4, 3)),
    Layer("GroupNorm of images", "nn.GroupNorm(1, 4, affine=False)", x=N(2, 4, 2, 2)),
    Layer("RMSNorm", "nn.RMSNorm(4)", x=N(3, 4)),
    Layer("RMSNorm two dimensions", "nn.RMSNorm([3, 4], eps=0.01, elementwise_affine=False)", x=N(2, 3, 4)),
    # three dimensions, and what else PyTorch's documentation lists
    Layer("Conv3d", "nn.Conv3d(2, 2, 2, stride=(1, 2, 1), padding=1)", x=N(1, 2, 2, 3, 2), steps=False),
    Layer("ConvTranspose3d", "nn.ConvTranspose3d(2, 1, 2, stride=2, output_padding=1)", x=N(1, 2, 2, 1, 2), steps=False),
    Layer("MaxPool3d", "nn.MaxPool3d(2, stride=1)", x=D(1, 1, 3, 2, 3)),
    Layer("MaxUnpool1d", "nn.MaxUnpool1d(2)", call="m(*torch.nn.functional.max_pool1d(x, 2, return_indices=True))", x=D(1, 2, 6)),
    Layer("MaxUnpool3d", "nn.MaxUnpool3d(2)", call="m(*torch.nn.functional.max_pool3d(x, 2, return_indices=True))", x=D(1, 1, 2, 2, 4)),
    Layer("AvgPool3d", "nn.AvgPool3d(2, stride=1, padding=1, count_include_pad=False)", x=N(1, 1, 3, 2, 3)),
    Layer("AdaptiveAvgPool3d", "nn.AdaptiveAvgPool3d((2, None, 1))", x=N(1, 1, 3, 2, 4)),
    Layer("AdaptiveMaxPool3d", "nn.AdaptiveMaxPool3d((2, 1, 3))", x=D(1, 1, 3, 2, 4)),
    *[Layer(f"LPPool{n}d", f"nn.LPPool{n}d(2, 2, stride=1)", x=POS(1, 2, *(3, 2, 2)[:n])) for n in (1, 2, 3)],
    Layer("BatchNorm3d", "nn.BatchNorm3d(2)", x=N(2, 2, 2, 1, 2)),
    Layer("InstanceNorm3d", "nn.InstanceNorm3d(2, affine=True)", x=N(2, 2, 2, 1, 2)),
    Layer("LocalResponseNorm", "nn.LocalResponseNorm(3, alpha=0.5)", x=N(2, 4, 3)),
    *[Layer(f"{k}Pad{n}d on each side", f"nn.{k}Pad{n}d({tuple(range(1, 2 * n + 1)) if k in ('Zero', 'Replication') else 1})", x=N(1, 1, *(3, 2, 3)[:n])) for k in ("Zero", "Reflection", "Replication", "Circular") for n in (1, 2, 3)],
    Layer("ConstantPad3d", "nn.ConstantPad3d((1, 0, 2, 0, 0, 1), 2.5)", x=N(1, 1, 2, 1, 2)),
    Layer("PixelUnshuffle", "nn.PixelUnshuffle(2)", x=N(1, 1, 4, 2)),
    Layer("ChannelShuffle", "nn.ChannelShuffle(2)", x=N(1, 6, 2)),
    Layer("Upsample bilinear", "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)", x=N(1, 1, 2, 3)),
    Layer("UpsamplingBilinear2d", "nn.UpsamplingBilinear2d(scale_factor=2)", x=N(1, 1, 2, 3)),
    Layer("UpsamplingNearest2d", "nn.UpsamplingNearest2d(size=(3, 4))", x=N(1, 1, 2, 3)),
    Layer("Softmax2d", "nn.Softmax2d()", x=N(1, 3, 2, 2)),
    Layer("RReLU in evaluation", "nn.RReLU(0.1, 0.5).eval()", x=D(2, 4)),
    Layer("FeatureAlphaDropout in evaluation", "nn.FeatureAlphaDropout(0.3).eval()", x=N(2, 3, 2)),
    Layer("Dropout3d in evaluation", "nn.Dropout3d().eval()", x=N(1, 3, 2, 2, 2)),
    Layer("PairwiseDistance", "nn.PairwiseDistance(p=3, keepdim=True)", call="m(x, y)", x=N(3, 4), y=N(3, 4)),
    *[Layer(f"TransformerDecoderLayer {first}", f"nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, norm_first={first}, activation='gelu')", call="m(x, y, tgt_mask=torch.ones(3, 3).triu(1).bool())", x=N(3, 2, 4), y=N(5, 2, 4), steps=False) for first in (False, True)],
    Layer("Transformer", "nn.Transformer(4, 2, 1, 2, 6, dropout=0.0, batch_first=True, bias=False)", call="m(x, y, memory_key_padding_mask=torch.tensor([[False, True, False], [False, False, False]]))", x=N(2, 3, 4), y=N(2, 2, 4), steps=False),
    # dropout where nothing is random
    Layer("Dropout in evaluation", "nn.Dropout(0.3).eval()", x=N(2, 3)),
    Layer("Dropout zero", "nn.Dropout(p=0.0, inplace=False)", x=N(2, 3)),
    Layer("Dropout2d in evaluation", "nn.Dropout2d().eval()", x=N(2, 3, 2, 2)),
    Layer("AlphaDropout in evaluation", "nn.AlphaDropout().eval()", x=N(2, 3)),
    # recurrent layers
    Layer("RNN", "nn.RNN(3, 4)", call="m(x)[0]", x=N(5, 2, 3)),
    Layer("RNN state", "nn.RNN(3, 4, nonlinearity='relu', batch_first=True)", call="m(x, h)[1]", x=N(2, 5, 3), h=N(1, 2, 4)),
    Layer("RNN deep both ways", "nn.RNN(3, 4, num_layers=2, bidirectional=True, bias=False)", call="m(x)[0]", x=N(4, 2, 3)),
    *[Layer(f"{kind} packed, {order}", f"nn.{kind}(3, 2, {more})", call=f"(lambda r, order: (lambda out, h: torch.cat([t.reshape(-1) for t in (r.pad_packed_sequence(out, total_length=6, padding_value=-1.0)[0], *(h if type(h) is tuple else (h,)))]))(*m(r.pack_padded_sequence(x, [3, 1, 5, 3] if order else [5, 3, 3, 1], batch_first=True, enforce_sorted=not order))))(nn.utils.rnn, {order})", x=N(4, 5, 3)) for kind, more, order in (("LSTM", "num_layers=2, bidirectional=True", True), ("LSTM", "bidirectional=True, proj_size=1", False), ("GRU", "num_layers=2, bidirectional=True", False), ("RNN", "bias=False", True))],
    Layer("LSTM", "nn.LSTM(3, 4)", call="m(x)[0]", x=N(5, 2, 3)),
    Layer("LSTM cell state", "nn.LSTM(3, 4)", call="m(x, (h, c))[1][1]", x=N(5, 2, 3), h=N(1, 2, 4), c=N(1, 2, 4)),
    Layer("LSTM deep both ways", "nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)", call="m(x)[0]", x=N(2, 4, 3)),
    Layer("LSTM state of each", "nn.LSTM(3, 4, 2, bidirectional=True)", call="m(x)[1][0]", x=N(4, 2, 3)),
    Layer("LSTM projected", "nn.LSTM(3, 4, proj_size=2)", call="m(x)[0]", x=N(4, 2, 3)),
    Layer("LSTM one sample", "nn.LSTM(3, 4)", call="m(x)[0]", x=N(4, 3)),
    Layer("GRU", "nn.GRU(3, 4)", call="m(x)[0]", x=N(5, 2, 3)),
    Layer("GRU deep both ways", "nn.GRU(3, 4, 2, bidirectional=True, batch_first=True)", call="m(x)[0]", x=N(2, 4, 3)),
    Layer("GRU state, one sample", "nn.GRU(3, 4)", call="m(x, h)[1]", x=N(4, 3), h=N(1, 4)),
    Layer("RNNCell", "nn.RNNCell(3, 4)", call="m(x, h)", x=N(2, 3), h=N(2, 4)),
    Layer("RNNCell relu", "nn.RNNCell(3, 4, nonlinearity='relu', bias=False)", x=N(2, 3)),
    Layer("LSTMCell", "nn.LSTMCell(3, 4)", call="m(x, (h, c))[1]", x=N(2, 3), h=N(2, 4), c=N(2, 4)),
    Layer("LSTMCell without state", "nn.LSTMCell(3, 4)", call="m(x)[0]", x=N(3)),
    Layer("GRUCell", "nn.GRUCell(3, 4)", call="m(x, h)", x=N(2, 3), h=N(2, 4)),
    # attention
    Layer("MultiheadAttention", "nn.MultiheadAttention(4, 2)", call="m(x, x, x)[0]", x=N(3, 2, 4)),
    Layer("MultiheadAttention weights", "nn.MultiheadAttention(4, 2, batch_first=True)", call="m(x, y, y)[1]", steps=False, x=N(2, 3, 4), y=N(2, 5, 4)),
    Layer("MultiheadAttention per head", "nn.MultiheadAttention(4, 2)", call="m(x, x, x, average_attn_weights=False)[1]", steps=False, x=N(3, 4)),
    Layer("MultiheadAttention other sizes", "nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False)", call="m(x, k, v)[0]", x=N(3, 2, 4), k=N(6, 2, 3), v=N(6, 2, 5)),
    Layer("MultiheadAttention causal", "nn.MultiheadAttention(4, 2, batch_first=True)", call=f"m(x, x, x, attn_mask={CAUSAL}, need_weights=False)[0]", x=N(2, 4, 4)),
    Layer("MultiheadAttention padding", "nn.MultiheadAttention(4, 2, batch_first=True)", call="m(x, x, x, key_padding_mask=p)[0]", x=N(2, 3, 4), p=A([[False, False, True], [False, True, True]])),
    Layer("MultiheadAttention extra keys", "nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)", call="m(x, x, x, attn_mask=a)[0]", x=N(3, 2, 4), a=N(3, 3, grad=False)),
    Layer("TransformerEncoderLayer", "nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0)", x=N(3, 2, 4)),
    Layer("TransformerEncoderLayer norm first", "nn.TransformerEncoderLayer(4, 2, 6, 0.0, activation='gelu', norm_first=True, batch_first=True)", call=f"m(x, src_mask={CAUSAL})", x=N(2, 4, 4)),
    Layer("TransformerEncoder", "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True), 2, norm=nn.LayerNorm(4))", x=N(2, 3, 4)),
    # activations
    *[Layer(name, f"nn.{name}()", x=D(2, 4)) for name in (
        "ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Softplus", "Hardtanh", "Hardsigmoid", "Hardswish", "LogSigmoid",
        "Softsign", "Tanhshrink", "Softshrink", "Hardshrink", "Sigmoid", "Tanh", "PReLU", "GLU")],
    *[Layer(f"{name} options", f"nn.{name}({options})", x=D(2, 4)) for name, options in (
        ("LeakyReLU", "0.2"), ("ELU", "alpha=0.5"), ("CELU", "0.5"), ("GELU", "approximate='tanh'"), ("Softplus", "beta=2, threshold=1"), ("Hardtanh", "-0.5, 2.0"),
        ("Softshrink", "0.2"), ("Hardshrink", "1.2"), ("Threshold", "0.1, 20"), ("PReLU", "4, init=0.1"), ("Softmax", "dim=1"), ("LogSoftmax", "dim=0"), ("Softmin", "dim=-1"))],
    Layer("ReLU in place", "nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))", x=N(5, 3)),
    # shapes
    Layer("Flatten", "nn.Flatten()", x=N(2, 3, 2)),
    Layer("Flatten some", "nn.Flatten(0, 1)", x=N(2, 3, 2)),
    Layer("Unflatten", "nn.Unflatten(1, (2, 3))", x=N(2, 6)),
    Layer("PixelShuffle", "nn.PixelShuffle(2)", x=N(1, 4, 2, 3)),
    Layer("Upsample", "nn.Upsample(scale_factor=2)", x=N(1, 2, 2, 3)),
    Layer("Upsample to a size", "nn.Upsample(size=(3, 5))", x=N(1, 2, 2, 3)),
    *[Layer(name, f"nn.{name}({options})", x=N(1, 2, 3, 4)) for name, options in (
        ("ZeroPad2d", "(1, 0, 2, 1)"), ("ConstantPad2d", "1, 3.5"), ("ReflectionPad2d", "1"), ("ReplicationPad2d", "(1, 2, 0, 1)"))],
    *[Layer(name, f"nn.{name}({options})", x=N(1, 2, 4)) for name, options in (("ConstantPad1d", "2, 0.5"), ("ReflectionPad1d", "2"), ("ReplicationPad1d", "(1, 2)"))],
    # whole models
    Layer("MLP", "nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2), nn.Softmax(dim=1))", x=N(6, 3)),
    Layer("named parts", "nn.Sequential(OrderedDict([('embed', nn.Embedding(5, 3)), ('read', nn.Linear(3, 2))]))", x=IDX(2, 3, high=5)),
    Layer("small LeNet", "nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 3, 2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(3, 2))", x=N(3, 1, 6, 6)),
    Layer("ModuleList", "nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)])", call="m[3](m[2](m[1](m[0](x))))", x=N(2, 3)),
    Layer("ModuleDict", "nn.ModuleDict({'a': nn.Linear(3, 2), 'b': nn.ModuleDict({'c': nn.ReLU()})})", call="m['b']['c'](m['a'](x))", x=N(2, 3)),
    Layer("ParameterList", "nn.ParameterList([torch.zeros(3, 2), nn.Parameter(torch.zeros(2))])", call="x @ m[0] + m[1]", x=N(2, 3)),
    Layer("ParameterDict", "nn.ParameterDict({'w': nn.Parameter(torch.zeros(3, 2)), 'b': torch.zeros(2)})", call="x @ m['w'] + m['b']", x=N(2, 3)),
]  # fmt: skip

REDUCTIONS = ("mean", "sum", "none")
CLASSES, W3, W4 = (
    A([1, 3, 3]),
    "weight=torch.tensor([0.5, 2.0, 1.5], dtype=torch.float64)",
    "weight=torch.tensor([0.5, 2.0, 1.5, 1.0], dtype=torch.float64)",
)


def _losses() -> list[Layer]:
    found = []
    for r in REDUCTIONS:
        for name, options in (("MSELoss", ""), ("L1Loss", ""), ("SmoothL1Loss", ""), ("SmoothL1Loss", "beta=0.5"), ("HuberLoss", ""), ("HuberLoss", "delta=0.5"),
                              ("BCEWithLogitsLoss", ""), ("BCEWithLogitsLoss", "pos_" + W3), ("BCEWithLogitsLoss", W3), ("SoftMarginLoss", "")):  # fmt: skip
            given = f"{options}, reduction='{r}'" if options else f"reduction='{r}'"
            found.append(
                Layer(
                    f"{name} {options[:12]} {r}",
                    f"nn.{name}({given})",
                    call="m(x, y)",
                    x=D(2, 3),
                    y=P(2, 3, grad=False),
                )
            )
        for options in ("", W3):
            given = f"{options}, reduction='{r}'" if options else f"reduction='{r}'"
            found.append(
                Layer(
                    f"BCELoss {options[:6]} {r}",
                    f"nn.BCELoss({given})",
                    call="m(x, y)",
                    steps=False,
                    x=P(2, 3),
                    y=P(2, 3, grad=False),
                )
            )
        for name in ("CrossEntropyLoss", "NLLLoss"):
            for options in ("", W4, "ignore_index=1", W4 + ", ignore_index=3"):
                given = f"{options}, reduction='{r}'" if options else f"reduction='{r}'"
                found.append(
                    Layer(
                        f"{name} {options[:6]}{options[-14:]} {r}",
                        f"nn.{name}({given})",
                        call="m(x, y)",
                        x=N(3, 4),
                        y=CLASSES,
                    )
                )
        for options in (
            "label_smoothing=0.1",
            W4 + ", label_smoothing=0.2",
            "label_smoothing=0.3, ignore_index=3",
            W4 + ", label_smoothing=0.3, ignore_index=1",
        ):
            found.append(
                Layer(
                    f"CrossEntropyLoss smooth {options[:6]}{options[-14:]} {r}",
                    f"nn.CrossEntropyLoss({options}, reduction='{r}')",
                    call="m(x, y)",
                    x=N(3, 4),
                    y=CLASSES,
                )
            )
        for options in ("", W4, "label_smoothing=0.1"):
            given = f"{options}, reduction='{r}'" if options else f"reduction='{r}'"
            found.append(
                Layer(
                    f"CrossEntropyLoss soft {options[:6]} {r}",
                    f"nn.CrossEntropyLoss({given})",
                    call="m(x, y)",
                    x=N(3, 4),
                    y=P(3, 4),
                )
            )
        found.append(
            Layer(
                f"CrossEntropyLoss of images {r}",
                f"nn.CrossEntropyLoss(reduction='{r}')",
                call="m(x, y)",
                x=N(2, 3, 2, 2),
                y=IDX(2, 2, 2, high=3),
            )
        )
        found.append(
            Layer(
                f"CrossEntropyLoss one sample {r}",
                f"nn.CrossEntropyLoss(reduction='{r}')",
                call="m(x, y)",
                x=N(3),
                y=A(2),
            )
        )
        found.append(
            Layer(
                f"PoissonNLLLoss {r}",
                f"nn.PoissonNLLLoss(full=True, reduction='{r}')",
                call="m(x, y)",
                x=N(2, 3),
                y=A([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], grad=False),
            )
        )
        found.append(
            Layer(
                f"GaussianNLLLoss {r}",
                f"nn.GaussianNLLLoss(full=True, reduction='{r}')",
                call="m(x, y, v)",
                steps=False,
                x=N(4),
                y=N(4),
                v=POS(4),
            )
        )
        found.append(
            Layer(
                f"HingeEmbeddingLoss {r}",
                f"nn.HingeEmbeddingLoss(reduction='{r}')",
                call="m(x, y)",
                x=D(4),
                y=A([1.0, -1.0, 1.0, -1.0], grad=False),
            )
        )
        found.append(
            Layer(
                f"MarginRankingLoss {r}",
                f"nn.MarginRankingLoss(0.3, reduction='{r}')",
                call="m(x, y, t)",
                x=N(4),
                y=N(4),
                t=A([1.0, -1.0, 1.0, -1.0], grad=False),
            )
        )
        found.append(
            Layer(
                f"CosineEmbeddingLoss {r}",
                f"nn.CosineEmbeddingLoss(reduction='{r}')",
                call="m(x, y, t)",
                x=N(4, 3),
                y=N(4, 3),
                t=A([1.0, -1.0, 1.0, -1.0], grad=False),
            )
        )
        found.append(
            Layer(
                f"TripletMarginLoss {r}",
                f"nn.TripletMarginLoss(swap=True, reduction='{r}')",
                call="m(x, y, z)",
                x=N(4, 3),
                y=N(4, 3),
                z=N(4, 3),
            )
        )
    for r in (*REDUCTIONS, "batchmean"):
        for log in (False, True):
            found.append(
                Layer(
                    f"KLDivLoss {log} {r}",
                    f"nn.KLDivLoss(reduction='{r}', log_target={log})",
                    call="m(x, y)",
                    x=N(2, 3),
                    y=P(2, 3),
                )
            )
    return found


LOSSES = [
    *_losses(),
    *[
        Layer(f"MultiMarginLoss {o}", f"nn.MultiMarginLoss({o})", call="m(x, y)", x=D(3, 4), y=A([1, 3, 0]))
        for o in ("", "p=2, margin=0.5", "weight=torch.tensor([1., 2., 3., 4.])", "reduction='none'")
    ],
    *[
        Layer(
            f"MultiLabelMarginLoss {o}",
            f"nn.MultiLabelMarginLoss({o})",
            call="m(x, y)",
            x=D(3, 4),
            y=A([[1, 3, -1, 2], [0, -1, 1, 2], [-1, 0, 0, 0]]),
        )
        for o in ("", "reduction='none'")
    ],
    *[
        Layer(
            f"MultiLabelSoftMarginLoss {o}",
            f"nn.MultiLabelSoftMarginLoss({o})",
            call="m(x, y)",
            x=N(3, 4),
            y=P(3, 4, grad=False),
        )
        for o in ("", "reduction='none'")
    ],
    Layer(
        "TripletMarginWithDistanceLoss",
        "nn.TripletMarginWithDistanceLoss(swap=True, distance_function=lambda a, b: (a - b).abs().sum(-1))",
        call="m(x, y, z)",
        x=N(3, 4),
        y=N(3, 4),
        z=N(3, 4),
    ),
    *[
        Layer(
            f"CTCLoss {o}",
            f"nn.CTCLoss({o})",
            call="m(x.log_softmax(2), y, [5, 4, 2], [3, 2, 2])",
            x=N(5, 3, 4),
            y=A([[1, 1, 2], [3, 1, 0], [2, 2, 0]]),
        )
        for o in ("zero_infinity=True", "reduction='none', zero_infinity=True")
    ],
    Layer(
        "CTCLoss of one vector of targets",
        "nn.CTCLoss(blank=3, reduction='sum')",
        call="m(x.log_softmax(2), y, torch.tensor([5, 5]), torch.tensor([3, 1]))",
        x=N(5, 2, 4),
        y=A([1, 1, 2, 0]),
    ),
]

# The optimisers get the same gradients, step after step. `groups` of them: how the parameters are handed over.
OPTIMIZERS = [
    "SGD(params, lr=0.1)", "SGD(params)", "SGD(params, lr=0.1, momentum=0.9)", "SGD(params, lr=0.1, momentum=0.9, nesterov=True)",
    "SGD(params, lr=0.1, momentum=0.9, dampening=0.3)", "SGD(params, lr=0.1, weight_decay=0.2)", "SGD(params, lr=0.1, momentum=0.5, weight_decay=0.2, maximize=True)",
    "SGD(groups, lr=0.1, momentum=0.9)",
    "Adam(params)", "Adam(params, lr=0.1, betas=(0.8, 0.95), eps=1e-3)", "Adam(params, lr=0.05, weight_decay=0.1)", "Adam(params, lr=0.05, amsgrad=True)",
    "Adam(params, lr=0.05, maximize=True)", "Adam(groups, lr=0.05)", "Adam(params, lr=0.05, betas=(0.2, 0.9))",
    "AdamW(params)", "AdamW(params, lr=0.05, weight_decay=0.3)", "AdamW(params, lr=0.05, amsgrad=True, maximize=True)", "AdamW(groups, lr=0.05)",
    "RMSprop(params)", "RMSprop(params, lr=0.05, alpha=0.9, momentum=0.5)", "RMSprop(params, lr=0.05, centered=True)",
    "RMSprop(params, lr=0.05, centered=True, momentum=0.5, weight_decay=0.1, maximize=True)", "RMSprop(groups, lr=0.05)",
    "Adagrad(params)", "Adagrad(params, lr=0.3, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2, eps=1e-3)", "Adagrad(params, lr=0.3, maximize=True)",
    "Adagrad(groups, lr=0.3)", "Adagrad(params, lr=torch.tensor(0.3))",
    "Adadelta(params)", "Adadelta(params, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1)", "Adadelta(groups, maximize=True)",
    "Adamax(params)", "Adamax(params, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)", "Adamax(groups, maximize=True)",
    "NAdam(params)", "NAdam(params, lr=0.05, weight_decay=0.1, momentum_decay=0.1)", "NAdam(params, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)", "NAdam(groups, maximize=True)",
    "RAdam(params)", "RAdam(params, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1)", "RAdam(params, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)", "RAdam(groups, maximize=True)",
    "ASGD(params)", "ASGD(params, lr=0.1, lambd=0.01, alpha=0.5, t0=5)", "ASGD(groups, t0=1, maximize=True)",
    "Rprop(params)", "Rprop(params, lr=0.05, etas=(0.4, 1.3), step_sizes=(1e-3, 0.1), maximize=True)",
    "Adafactor(params)", "Adafactor(params, lr=0.1, beta2_decay=-0.5, eps=(1e-3, 1e-2), d=1.5, weight_decay=0.1, maximize=True)", "Adafactor(groups)",
]  # fmt: skip
LBFGS = [
    "LBFGS(params)", "LBFGS(params, lr=0.5, max_iter=4)", "LBFGS(params, line_search_fn='strong_wolfe')",
    "LBFGS(params, lr=0.8, max_iter=3, history_size=2, line_search_fn='strong_wolfe')", "LBFGS(params, lr=0.1, max_iter=5, tolerance_change=1e-3)",
]  # fmt: skip

# Each is stepped 24 times after a step of SGD with two groups, lr 0.5 and 0.1; ReduceLROnPlateau gets METRICS.
SCHEDULERS = [
    "StepLR(optimizer, step_size=3)", "StepLR(optimizer, 4, gamma=0.5)", "MultiStepLR(optimizer, milestones=[2, 5, 5, 11], gamma=0.3)", "ExponentialLR(optimizer, gamma=0.9)",
    "CosineAnnealingLR(optimizer, T_max=10)", "CosineAnnealingLR(optimizer, T_max=7, eta_min=0.01)", "LambdaLR(optimizer, lambda epoch: 0.95 ** epoch)",
    "LambdaLR(optimizer, [lambda epoch: epoch // 3 + 1, lambda epoch: 1 / (epoch + 1)])", "MultiplicativeLR(optimizer, lambda epoch: 0.95)",
    "LinearLR(optimizer)", "LinearLR(optimizer, start_factor=0.1, end_factor=0.5, total_iters=8)", "ConstantLR(optimizer, factor=0.25, total_iters=6)",
    "PolynomialLR(optimizer, total_iters=9, power=2)", "OneCycleLR(optimizer, max_lr=0.8, total_steps=25)", "OneCycleLR(optimizer, max_lr=[0.8, 0.2], epochs=5, steps_per_epoch=5, anneal_strategy='linear')",
    "OneCycleLR(optimizer, 1.0, total_steps=25, three_phase=True, pct_start=0.4, div_factor=10, final_div_factor=100, cycle_momentum=False)",
    "CosineAnnealingWarmRestarts(optimizer, T_0=4)", "CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=2, eta_min=0.001)",
    "CyclicLR(optimizer, 0.1, 0.5, step_size_up=4)", "CyclicLR(optimizer, [0.1, 0.01], [0.5, 0.2], step_size_up=3, step_size_down=5, mode='triangular2')",
    "CyclicLR(optimizer, 0.1, 0.5, 4, mode='exp_range', gamma=0.9, base_momentum=0.6)", "CyclicLR(optimizer, 0.1, 0.5, 3, scale_fn=lambda x: 1 / x, cycle_momentum=False)",
    "SWALR(optimizer, 0.05)", "SWALR(optimizer, [0.05, 0.01], anneal_epochs=7, anneal_strategy='linear')", "SWALR(optimizer, 0.05, anneal_epochs=0)",
    "ReduceLROnPlateau(optimizer)", "ReduceLROnPlateau(optimizer, 'max', factor=0.5, patience=1, threshold=0.1, threshold_mode='abs', cooldown=2, min_lr=[0.05, 0.01])",
    "ReduceLROnPlateau(optimizer, patience=2, min_lr=0.001, eps=1e-3)",
    "SequentialLR(optimizer, [ConstantLR(optimizer, factor=0.1, total_iters=5), ExponentialLR(optimizer, gamma=0.9)], milestones=[5])",
    "SequentialLR(optimizer, [LinearLR(optimizer, total_iters=4), CosineAnnealingLR(optimizer, T_max=12), StepLR(optimizer, 2)], milestones=[4, 16])",
    "ChainedScheduler([ConstantLR(optimizer, factor=0.1, total_iters=5), ExponentialLR(optimizer, gamma=0.9)], optimizer)",
]  # fmt: skip
METRICS = [
    5.0,
    4.0,
    3.0,
    3.0,
    3.1,
    2.9999,
    3.0,
    3.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    2.0,
    1.0,
    1.0,
]
