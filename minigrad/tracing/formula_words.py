"""The text of a backward rule: its formula, or a sentence where the formula is empty or unhelpful.

Sentences are written in the rows (ops/), with {x} and {out} for the labels of inputs and outputs. Formulas are read from the source of a
rule (tensor_formulas.py). A test checks that every rule has one of the two.
"""

from typing import Any

# Functions that a rule's own source may call without a reader learning anything: then the words above are better.
HELPERS = """
_rule( _back( put( put_back( even( share( over_square( moments( others( with_dims( var_slope( times( wide( pull( replay( inside(
first( missing( unchanged( squeeze_dims( transpose( flip( rot90( index_fill( scatter_value( index_add( put_along_dim(
take_along_dim( scatter_add( normalized( isfinite( backward( conv_transpose( conv_weight( spread_cells( max_unpool( max_put( max_take(
avg_pool( _transposed( normal_cdf( negative_slope embedding_backward( nll_backward( nll(
""".split()


def said(op: Any, name: str, text: str, labels: dict) -> str:
    """The better one of a rule's formula (`text`) and the row's words for the input `name`; "" if there is neither."""
    words = op.words.get(name)
    if words is None or (text and not any(helper in text for helper in HELPERS)):
        return text
    try:
        return words.format_map({key: str(getattr(label, "text", label)) for key, label in labels.items()})
    except KeyError:
        return text
