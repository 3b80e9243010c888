"""What a rule does to the arriving gradient g, in words, for the rows whose rule is no single formula.

What lives here: one line for each such (row, input), with the labels of inputs and outputs as {x}, {out}. What does not: rules that are
formulas; those are read from the row's own source (tensor_formulas.py). A test holds that every row says something.
"""

WORDS: dict[tuple[str, str], str] = {
    # shapes
    ("permute", "x"): "g with its dimensions put back in order",
    ("transpose", "x"): "g with the same two dimensions swapped back",
    ("roll", "x"): "g rolled back",
    ("flip", "x"): "g flipped back",
    ("rot90", "x"): "g turned back",
    ("unsqueeze", "x"): "g without the added dimension",
    ("cat", ""): "the piece of g that came from {x}",
    ("stack", ""): "the slice of g that came from {x}",
    ("unbind", "x"): "the gradients of the slices, stacked",
    ("split", "x"): "the gradients of the pieces, joined",
    ("split_with_sizes", "x"): "the gradients of the pieces, joined",
    ("repeat", "x"): "g summed over the copies of {x}",
    ("diagonal", "x"): "g put back on the diagonal of zeros",
    ("diagonal_copy", "x"): "g put back on the diagonal of zeros",
    ("unfold", "x"): "g added back window by window",
    ("strided", "x"): "g added back at the places that were read",
    ("copy_slices", "base"): "g with zeros where {value} was written",
    ("copy_slices", "value"): "the part of g where {value} was written",
    ("trace", "x"): "g on the diagonal of zeros",
    # powers and pieces
    ("pow", "x"): "g × exponent × {x}^(exponent − 1)",
    ("maximum", "x"): "g where {x} > {y}, g / 2 where they are equal, else 0",
    ("maximum", "y"): "g where {y} > {x}, g / 2 where they are equal, else 0",
    ("minimum", "x"): "g where {x} < {y}, g / 2 where they are equal, else 0",
    ("minimum", "y"): "g where {y} < {x}, g / 2 where they are equal, else 0",
    ("atan2", "x"): "g × {y} / ({x}² + {y}²)",
    ("atan2", "y"): "−g × {x} / ({x}² + {y}²)",
    ("clamp", "x"): "g where {x} was within its bounds, else 0",
    ("nan_to_num", "x"): "g where {x} is finite, else 0",
    ("floor_divide", "x"): "none: floor division has steps, not a slope",
    ("floor_divide", "y"): "none: floor division has steps, not a slope",
    # picking
    ("index_put", "x"): "g with zeros at the places that were written",
    ("index_put", "values"): "g at the places that were written",
    ("masked_select", "x"): "g put back where the mask is true, else 0",
    ("masked_scatter", "source"): "g at the places that were written",
    ("gather", "x"): "g added back at the places that were read",
    ("take", "x"): "g added back at the places that were read",
    ("index_select", "x"): "g added back at the rows that were read",
    ("scatter", "x"): "g with zeros at the places that were written",
    ("index_copy", "x"): "g with zeros at the places that were written",
    ("index_fill", "x"): "g with zeros at the places that were written",
    ("sort", "x"): "g put back into the order of {x}",
    ("topk", "x"): "g put back at the places of the largest, else 0",
    ("kthvalue", "x"): "g at the place of that value, else 0",
    ("cummax", "x"): "g added back at the place of each maximum",
    ("cummin", "x"): "g added back at the place of each minimum",
    # reductions
    ("mean", "x"): "g divided by the count, spread over {x}",
    ("amax", "x"): "g shared evenly by the entries that are the maximum",
    ("amin", "x"): "g shared evenly by the entries that are the minimum",
    ("max", "x"): "g at the place of the maximum, else 0",
    ("min", "x"): "g at the place of the minimum, else 0",
    ("median", "x"): "g at the place of the median, else 0",
    ("aminmax", "x"): "each gradient at the places of its extreme, else 0",
    ("logsumexp", "x"): "g × exp({x} − {out})",
    ("var", "x"): "g × 2 × ({x} − mean({x})) / (n − correction)",
    ("var_mean", "x"): "both gradients through ({x} − mean({x})) and 1 / n",
    ("std", "x"): "g × ({x} − mean({x})) / ({out} × (n − correction))",
    ("std_mean", "x"): "both gradients through ({x} − mean({x})) and 1 / n",
    ("prod", "x"): "g × the product of all other entries",
    ("cumsum", "x"): "g summed from each place to the end",
    ("cumprod", "x"): "g times the later products, summed from each place to the end",
    ("recurrence", "b"): "g carried back through the recurrence",
    ("recurrence", "a"): "g carried back, times the value one step before",
    ("nansum", "x"): "g where {x} is a number, else 0",
    # linear algebra
    ("addmm", "x"): "beta × g",
    ("addmm", "a"): "alpha × g @ {b}ᵀ",
    ("addmm", "b"): "alpha × {a}ᵀ @ g",
    ("addmv", "x"): "beta × g",
    ("addmv", "a"): "alpha × outer(g, {b})",
    ("addmv", "b"): "alpha × {a}ᵀ @ g",
    ("baddbmm", "x"): "beta × g",
    ("baddbmm", "a"): "alpha × g @ {b}ᵀ",
    ("baddbmm", "b"): "alpha × {a}ᵀ @ g",
    ("addbmm", "x"): "beta × g",
    ("addbmm", "a"): "alpha × g @ {b}ᵀ",
    ("addbmm", "b"): "alpha × {a}ᵀ @ g",
    ("linalg_vector_norm", "x"): "g × {x} / {out}, for the norm of order 2",
    ("linalg_slogdet", "A"): "g times the inverse of {A}, transposed",
    ("linalg_det", "A"): "g × the cofactors of {A}",
    ("cofactors", "A"): "g through the cofactors of {A}",
    ("linalg_cholesky_ex", "x"): "g through the triangular factor {out}, made symmetric",
    ("cdist", "x"): "g × the directions from {y} to {x}, summed",
    ("cdist", "y"): "g × the directions from {x} to {y}, summed",
    # activations
    ("elu", "x"): "g where {x} > 0, else g × alpha × exp({x})",
    ("celu", "x"): "g where {x} > 0, else g × exp({x} / alpha)",
    ("leaky_relu", "x"): "g where {x} > 0, else g × negative_slope",
    ("mish", "x"): "g × (tanh(softplus({x})) + {x} × sigmoid({x}) × (1 − tanh(softplus({x}))²))",
    ("gelu", "x"): "g × (Φ({x}) + {x} × φ({x}))",
    ("glu", "x"): "g through both halves of {x}: one is the value, the other its gate",
    # layers
    **{(f"native_{kind}_norm", "x"): "(g × weight without its mean, and without its part along the normalised {x}) / std"
       for kind in ("layer", "batch", "group")},
    **{(f"native_{kind}_norm", "weight"): "g × the normalised {x}, summed" for kind in ("layer", "batch", "group")},
    **{(f"native_{kind}_norm", "bias"): "g summed" for kind in ("layer", "batch", "group")},
    **{(f"native_{kind}_norm_backward", name): f"g through the gradient of {kind} norm, differentiated once more"
       for kind in ("layer", "batch", "group") for name in ("x", "y", "weight")},
    ("convolution", "x"): "g convolved with {w} turned round",
    ("convolution", "w"): "{x} convolved with g",
    ("convolution_bias", "x"): "g convolved with {w} turned round",
    ("convolution_bias", "w"): "{x} convolved with g",
    ("convolution_bias", "b"): "g summed over all but the channels",
    ("conv_transpose", "w"): "g convolved with {x}",
    ("conv_weight", "x"): "what comes from outside convolved with g",
    **{(f"{kind}_pad{n}d", "x"): "g, with the gradients of copied cells added to their originals"
       for kind in ("reflection", "replication", "circular") for n in (1, 2, 3)},
    **{(f"{name}{n}d", "x"): "g summed over the copies of each cell"
       for name in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)},
    **{(f"{name}", "x"): "g summed over the new cells that each old one is part of, with its weights"
       for name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d",
                    "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")},
    ("resample_backward", "g_out"): "g read at the cells that were summed",
    **{(name, "x"): "g at the place of each window's maximum, else 0"
       for n in (2, 3) for name in (f"max_pool{n}d_with_indices", f"adaptive_max_pool{n}d")},
    ("max_unpool2d", "x"): "g read at the places that were filled",
    ("max_pool_take", "x"): "g at the places that were read, else 0",
    **{(f"{kind}avg_pool{n}d", "x"): "g divided by each window's size, spread over it" for kind in ("", "adaptive_") for n in (2, 3)},
    ("embedding", "weight"): "g added to the rows that were looked up",
    ("embedding_dense_backward", "g_out"): "g read at the rows that were looked up",
    # losses
    ("nll_loss", "x"): "−g × weight at each target's place, else 0",
    ("nll_loss_backward", "x"): "−g at each target's place",
    ("cross_entropy", "x"): "g × (softmax({x}) − 1 at each target's place)",
    ("mse_loss", "x"): "g × 2 × ({x} − {y}), divided by the count for the mean",
    ("mse_loss", "y"): "−g × 2 × ({x} − {y}), divided by the count for the mean",
    ("smooth_l1_loss", "x"): "g × ({x} − {y}) / beta near 0, else g × sign({x} − {y})",
    ("smooth_l1_loss", "y"): "−g × ({x} − {y}) / beta near 0, else −g × sign({x} − {y})",
    ("huber_loss", "x"): "g × ({x} − {y}) near 0, else g × delta × sign({x} − {y})",
    ("huber_loss", "y"): "−g × ({x} − {y}) near 0, else −g × delta × sign({x} − {y})",
    ("binary_cross_entropy", "x"): "g × ({x} − {y}) / ({x} × (1 − {x}))",
    ("binary_cross_entropy", "y"): "g × log((1 − {x}) / {x})",
    ("binary_cross_entropy_with_logits", "x"): "g × (sigmoid({x}) − {y})",
    ("binary_cross_entropy_with_logits", "y"): "−g × {x}",
    ("backward_hook_function", ""): "g, as the hooks leave it",
}

# Functions that a rule's own source may call without a reader learning anything: then the words above are better.
HELPERS = """
_rule( _back( put( put_back( even( share( over_square( moments( others( with_dims( var_slope( times( wide( pull( replay( inside(
first( missing( unchanged( squeeze_dims( transpose( flip( rot90( index_fill( scatter_value( index_add( put_along_dim(
take_along_dim( scatter_add( normalized( isfinite( backward( conv_transpose( conv_weight( spread_cells( max_unpool( max_take(
avg_pool( _transposed( normal_cdf( negative_slope embedding_backward( nll_backward( nll(
""".split()


def said(row: str, name: str, text: str, labels: dict) -> str:
    """The better one of a rule's formula and its words; "" if there is neither."""
    words = WORDS.get((row, name))
    if words is None or (text and not any(helper in text for helper in HELPERS)):
        return text
    try:
        return words.format_map({key: str(getattr(label, "text", label)) for key, label in labels.items()})
    except KeyError:
        return text
