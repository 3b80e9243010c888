"""What people read when something goes wrong: PyTorch's sentence, why, what to write instead, where to read on."""

import re
import traceback
import warnings

import pytest

import minigrad as torch
from minigrad.core import errors
from minigrad.core.explanations import ROWS, look_up

from .reference.case import all_cases
from .reference.record import Run

# Python's own words about a call; PyTorch's start the same way, and there is nothing to add.
PYTHON_S = [
    "missing 1 required", "positional argument", "unsupported operand", "not supported between", "has no setter", "is not iterable",
    "unpack", "slice indices", "converted to an index", "invalid literal", "cannot convert float NaN", "can't convert np.ndarray",
    "has no attribute 'nosuchthing'",
]  # fmt: skip
MESSAGES = {}


def messages():
    """case: the error that minigrad raises in it (nn's own errors aside)"""
    if not MESSAGES:
        for key, case in all_cases().items():
            if case.family not in ("errors", "inplace", "autograd") or "nn.functional" in case.code:
                continue
            run = Run(torch, case)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    run.call(run.inputs())
            except Exception as error:
                MESSAGES[key] = error
    return MESSAGES


def test_an_error_says_pytorchs_sentence_and_its_traceback_the_rest():
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2, requires_grad=True).backward()
    assert str(caught.value) == "grad can be implicitly created only for scalar outputs"
    shown = "".join(traceback.format_exception(caught.value))
    assert (
        "outputs\n\nYou started a backward pass from a tensor of shape (2,).\n" in shown
        and "Instead: reduce it" in shown
    )
    assert errors.reworded(caught.value, "another").__notes__ == caught.value.__notes__


def test_a_message_holds_no_explanation():
    mixed = [f"{key}: {error}" for key, error in messages().items() if "\n\n" in str(error)]
    assert not mixed, "\n".join(mixed)


def test_every_error_explains_itself():
    bare = [
        f"{key}: {error}"
        for key, error in messages().items()
        if not getattr(error, "__notes__", ())
        and not any(words in str(error) for words in PYTHON_S)
        and not str(error).startswith("minigrad")  # what minigrad does not have says so in one sentence
        and type(error).__module__ == "builtins"
    ]
    assert not bare, "\n".join(bare)


ELSEWHERE = [  # sentences that no case of the reference raises
    lambda: torch.ones(2).long().add(torch.ones(2).long(), alpha=0.5),
    lambda: torch.ones(3).masked_fill(torch.ones(3).bool(), torch.ones(3)),
]


def test_every_explanation_has_its_parts_and_is_used():
    sentences = [str(error) for error in messages().values()]
    for call in ELSEWHERE:
        with pytest.raises((RuntimeError, TypeError, IndexError)) as caught:
            call()
        sentences.append(str(caught.value))
    for pattern, why, instead, chapter in ROWS:
        assert why.endswith((".", "?")) and instead.endswith(".") and re.match(r"chapter \d\d, [A-Z]", chapter), pattern
        assert any(re.search(pattern, s) for s in sentences), f"no case raises a sentence with {pattern!r}"


def test_groups_are_filled_in():
    why, _, _ = look_up("result type Float can't be cast to the desired output type Long")
    assert "Long cannot hold" in why and "{" not in why
    assert look_up("no such sentence") is None
    assert str(errors.new(ValueError, "no such sentence")) == "no such sentence"


@pytest.mark.parametrize(
    ("ask", "sentence", "hint"),
    [
        (lambda: torch.cumsun, "module 'torch' has no attribute 'cumsun'", "'cumsum'"),
        (lambda: torch.nn.Linaer, "module 'torch.nn' has no attribute 'Linaer'", "'torch.nn.Linear'"),
        (lambda: torch.nn.functional.softmaxx, "module 'torch.nn.functional' has no attribute 'softmaxx'", "softmax"),
        (lambda: torch.linalg.inverse, "module 'torch.linalg' has no attribute 'inverse'", "torch.linalg."),
        (lambda: torch.optim.Adammax, "module 'torch.optim' has no attribute 'Adammax'", "Adam"),
        (lambda: torch.ones(2).index_reduce(), "'Tensor' object has no attribute 'index_reduce'", "scatter_reduce"),
    ],
)
def test_a_name_that_is_not_there_names_the_nearest(ask, sentence, hint):
    with pytest.raises(AttributeError) as caught:
        ask()
    assert str(caught.value).startswith(sentence) and hint in "\n".join(
        [str(caught.value), *getattr(caught.value, "__notes__", ())]
    )


def test_missing_methods_are_no_methods():
    x = torch.ones(2)
    assert not hasattr(x, "svd") and "svd" not in dir(x) and "sum" in dir(x)


def test_arguments_under_numpy_s_names_and_under_none():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.sum(axis=0, keepdims=True).tolist() == torch.sum(x, dim=0, keepdim=True).tolist() == [[3.0, 5.0, 7.0]]
    assert torch.cat([x, x], axis=1).shape == (2, 6)
    assert torch.add(x1=x, x2=x).tolist() == (x + x).tolist()
    assert torch.zeros(size=(2, 3)).shape == (2, 3)
    with pytest.raises(
        TypeError,
        match=r"sum\(\) got an unexpected keyword argument 'dimension'\n\n.*takes input, dim, keepdim, dtype.*nearest",
    ):
        torch.sum(x, dimension=0)
    with pytest.raises(TypeError, match=r"^add\(\) missing"):
        torch.add(x)


def test_a_type_error_inside_a_function_is_not_swallowed():
    def broken(dim):
        return len(dim, axis=0)  # an error of its own, about an argument that the caller did not give

    from minigrad.core.arguments import forgiving

    with pytest.raises(TypeError, match="len"):
        forgiving(broken)(dim=3)


def test_a_number_has_no_rows_to_pick():
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        torch.tensor(1.0)[torch.tensor([0])]


@pytest.mark.parametrize("call, name, argument", [
    (lambda x: x.chunk("a"), "chunk", "chunks"), (lambda x: x.split("a"), "split", "split_size_or_sections"),
    (lambda x: x.topk("a"), "topk", "k"), (lambda x: torch.tril(x, "a"), "tril", "diagonal"),
    (lambda x: x.narrow(0, "a", 1), "narrow", "start"),
])  # fmt: skip
def test_a_text_for_a_number_is_named(call, name, argument):
    with pytest.raises(TypeError, match=rf"{name}\(\): argument '{argument}' must be int, not str"):
        call(torch.ones(4, 3))
