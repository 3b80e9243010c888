"""Why PyTorch's sentences are true, and what to write instead.

What lives here: one row for each sentence that `errors.new` raises without more words: a pattern, why, what to write instead, the chapter.
What does not: the form of a message (errors.py), and explanations that need more than the sentence itself (they stand where they are raised).
Read only when an error is made, so it costs nothing before. A group of the pattern, (?P<n>...), may be used in the texts as {n}.
"""

import re

ACCUMULATION, NON_SCALAR, TENSORS = (
    "chapter 07, Gradients add up",
    "chapter 08, When the output is not one number",
    "chapter 09, Tensors",
)
CONTROL, BUGS = "chapter 10, Controlling the graph", "chapter 15, Bug clinic"

ROWS = [
    # writing in place
    (r"result type (?P<a>\w+) can't be cast to the desired output type (?P<b>\w+)",
     "An in-place operation keeps the dtype of its tensor, and {b} cannot hold what comes out.", "x = x / 2 makes a new tensor; or convert first: x = x.float().", BUGS),
    (r"is a view and is being modified inplace\. This view is the output of a function that returns multiple views",
     "The pieces share one storage and one node, which cannot say which piece was written to.", "write into x[i] or x.narrow(...), or clone() the piece first.", BUGS),
    (r"A view was created in no_grad mode", "The view has no place in the graph, its base may have one.", "make the view inside the mode in which you write to it, or clone() it.", BUGS),
    (r"more than one element of the written-to tensor refers to a single memory location", "expand() repeats elements without copying them.", "x = x.clone() before writing.", TENSORS),
    (r"some elements of the input tensor and the written-to tensor refer to a single memory location", "What is read would already be written to in part.", "clone() what is read: x.add_(x[0].clone()).", TENSORS),
    (r"Can't detach views in-place", "A view is what its base makes it.", "y = x.detach().", CONTROL),
    # backward and grad
    (r"Mismatch in shape: grad_output", "A gradient has the shape of the tensor it belongs to.", "y.backward(gradient=torch.ones_like(y)).", NON_SCALAR),
    (r"`inputs` argument to `backward\(\)` cannot be empty", "There would be nothing to compute.", "leave `inputs` out: then all leaves get their gradient.", ACCUMULATION),
    (r"can't retain_grad on Tensor that has requires_grad=False|cannot register a hook on a tensor that doesn't require gradient",
     "No gradient will arrive at a constant.", "make it, or what it is computed from, with requires_grad=True.", CONTROL),
    (r"attempting to assign a gradient", "An optimiser adds x.grad to x, so both must look the same.", "x.grad = g.reshape(x.shape).to(x.dtype), or x.grad = None.", ACCUMULATION),
    (r"assigned grad expected to be a Tensor", "A gradient is a tensor like the one it belongs to.", "x.grad = torch.full_like(x, number), or x.grad = None.", ACCUMULATION),
    (r"Expected allow_unused to be True or not passed", "Zeros are put in where an input was not used; that must be allowed.", "leave allow_unused out.", CONTROL),
    (r"got (?P<n>\d+) tensors and (?P<m>\d+) gradients", "Each output needs its own gradient.", "pass as many grad_outputs as outputs (None for a single number).", NON_SCALAR),
    (r"nference tensor|InferenceMode", "Inference mode saves the bookkeeping that gradients need, for good.", "torch.no_grad() instead, or clone() the tensor outside.", CONTROL),
    (r"requires_grad must be a bool", "It is a switch.", "x.requires_grad = True or False.", CONTROL),
    (r"Trying to create a dual Tensor|forward gradient that has a different size", "A tangent says in which direction each element moves.", "inside `with dual_level():`, make_dual(x, tangent) with a tangent of x's shape.", "chapter 12, Forward mode and reverse mode"),
    # one number
    (r"Boolean value of Tensor with no values", "A condition needs an answer, and there is none.", "x.numel() == 0 asks whether it is empty.", TENSORS),
    (r"only one element tensors can be converted|0-d tensor", "A single number has no elements to count, and several numbers are not one.", "x.item() for one number, x.tolist() for several, x.reshape(1) for a list of one.", TENSORS),
    # products
    (r"inconsistent tensor size|1D tensors expected", "A dot product pairs the elements of two vectors.", "x.flatten() makes a vector; x @ y multiplies matrices.", TENSORS),
    (r"size mismatch, got input|vector \+ matrix @ vector expected|must be a matrix|must be a 3D tensor|Expected size for first two dimensions of batch2",
     "The columns of the first factor meet the rows of the second.", "x @ y chooses the product by rank; transpose (x.T) or unsqueeze what does not fit.", TENSORS),
    (r"einsum\(\): (more|fewer) operands|einsum\(\): the number of subscripts|einsum\(\): output subscript", "Each operand has its letters, one for each dimension.", 'for example torch.einsum("ij,jk->ik", a, b).', TENSORS),
    (r"batches of square matrices|expected a matrix, but got|at least 2 dimensions", "The operation is defined for (square) matrices, the last two dimensions.", "check x.shape; x.T @ x is square.", TENSORS),
    # shapes
    (r"only one dimension can be inferred|invalid shape dimension|any value and is ambiguous", "One -1 stands for what the other sizes leave over; two, or none left over, have no answer.", "write out all sizes but one.", TENSORS),
    (r"The expanded size of the tensor|number of sizes provided|isn't allowed in a leading", "Only dimensions of size 1 can be stretched; new ones come in front.", "unsqueeze(...) a dimension of size 1 where it is missing; repeat(...) copies.", TENSORS),
    (r"repeat dims can not be smaller", "Each dimension needs its number of copies.", "write 1 for those that stay: x.repeat(1, 2).", TENSORS),
    (r"input\.dim\(\) = (?P<n>\d+) is not equal to len\(dims\)", "The order names each of the {n} dimensions once.", "x.transpose(a, b) exchanges two, x.movedim(a, b) moves one.", TENSORS),
    (r"t\(\) expects a tensor with <= 2 dimensions|tensor\.mT is only", "With more dimensions it is not clear which two to exchange.", "x.mT exchanges the last two, x.transpose(a, b) any two.", TENSORS),
    (r"flatten\(\) has invalid args|unflatten: Provided sizes", "The numbers stay, only their arrangement changes.", "the product of the sizes must stay the same; one may be -1.", TENSORS),
    (r"Sizes of tensors must match except|same number of dimensions: got|cannot be concatenated", "Joined tensors agree in all other dimensions.", "choose another dim, or torch.stack(...), which makes a new dimension.", TENSORS),
    (r"stack expects", "Stacked tensors have one shape.", "torch.cat(...) joins along a dimension that exists.", TENSORS),
    (r"split_size|chunk expects|split_with_sizes", "The pieces together are the whole.", "sizes that sum to the size of the dimension; x.chunk(n) takes what comes out.", TENSORS),
    (r"diag\(\): Supports", "A diagonal belongs to a matrix.", "x.diagonal(dim1=-2, dim2=-1) for batches of matrices.", TENSORS),
    (r"exceeds dimension size|start out of range|maximum size for tensor at dimension", "The piece reaches beyond the end.", "a slice x[a:b] stops at the end by itself.", TENSORS),
    (r"appears multiple times|dimensions cannot be identical", "A dimension can be used up only once.", "name each dimension once.", TENSORS),
    (r"shifts and dimensions must align", "Each shift has its dimension.", "x.roll((1, 2), (0, 1)).", TENSORS),
    (r"but must be > 0", "Windows that do not move on never reach the end.", "x.unfold(0, 2, 1).", TENSORS),
    (r"can't assign a", "The elements of a tensor are numbers.", 'float("nan") stands for a number that is missing.', TENSORS),
    # reductions
    (r"selected (index|number) k out of range", "There are not that many elements.", "k from 1 to the size of the dimension.", TENSORS),
    (r"Expected reduction dim", "There is no largest or smallest of nothing.", "test x.numel() first; a sum of nothing is 0.", TENSORS),
    (r"floating point or complex|only support floating point", "The result is not a whole number.", "x.float() first.", TENSORS),
    # dtypes
    (r"bool tensor|two bool tensors|not implemented for 'Bool'|bool dtypes", "True and False are not numbers to compute with.", "~mask inverts; mask.float() or mask.long() makes numbers.", TENSORS),
    (r"negative integer powers", "2 ** -1 is no whole number.", "x.float() ** -1.", TENSORS),
    (r"ZeroDivisionError", "Whole numbers have no inf to stand for it.", "x.float() // y gives inf or nan.", TENSORS),
    (r"argument 'dtype' must be torch\.dtype", "A dtype is an object, not its name.", "dtype=torch.float32.", TENSORS),
    (r"alpha must not be a floating point", "Whole numbers stay whole.", "x.float() first.", TENSORS),
    (r"torch\.finfo\(\) requires", "finfo tells the limits of floating-point numbers.", "torch.iinfo(torch.int64) tells those of whole numbers.", TENSORS),
    (r"as the default type", "Python floats become the default dtype.", "torch.set_default_dtype(torch.float64).", TENSORS),
    # indices
    (r"only integers, slices", "A float or another object names no position.", "x[int(i)].", TENSORS),
    (r"invalid index of a 0-dim tensor", "A single number has no dimension to index.", "x.item(), or x[()] for the tensor itself.", TENSORS),
    (r"out of bounds for dimension|index out of range in self|out of range for tensor|tried to access index", "Positions count from 0; the last is the size minus 1.", "check the index against x.shape.", TENSORS),
    (r"Index tensor must have the same number|Expected dtype int32|supposed to be a vector|Size does not match at dimension|no larger than self",
     "Each element of the index names a position along one dimension, at its own place in the others.", "index.long(), with as many dimensions as the tensor: index.unsqueeze(1).", TENSORS),
    (r"only supports boolean masks|expected BoolTensor", "A mask says yes or no for each element.", "compare: x > 0, or mask.bool().", TENSORS),
    (r"only supports? a? ?0-dimension", "One number fills all places.", "torch.where(mask, values, x) takes a tensor of values.", TENSORS),
    # making tensors
    (r"new\(\): invalid data type|expected np\.ndarray", "A tensor holds numbers: bool, int or float.", "torch.tensor([1.0, 2.0]); torch.from_numpy wants an ndarray.", TENSORS),
    (r"non-negative|negative dimension|greater or equal to 0", "A size counts elements.", "a size of 0 or more.", TENSORS),
    (r"argument 'size'", "Sizes are whole numbers.", "torch.zeros(2, 3) or torch.zeros((2, 3)); torch.tensor(...) takes values.", TENSORS),
    (r"step must be nonzero|inconsistent with step sign", "The steps never reach the end.", "torch.arange(0, 1, 0.1); backwards torch.arange(1, 0, -0.1).", TENSORS),
    (r"random_ expects 'from'", "There is no number to draw from.", "torch.randint(low, high, size) with low < high.", TENSORS),
    (r"p_in|probability tensor|sum of probabilities|std >= 0", "Probabilities are not negative, and neither is a deviation.", "torch.softmax or a division by the sum makes probabilities.", TENSORS),
    # arguments
    (r"At least one of 'min' or 'max'", "Without bounds there is nothing to do.", "x.clamp(min=0).", TENSORS),
    (r"rounding_mode", "Quotients are rounded down or towards zero, or not at all.", 'rounding_mode="floor".', TENSORS),
    (r"argument '\w+'( \(position \d+\))? must be Tensor|expected Tensor as element", "Operations take tensors.", "wrap the number: torch.tensor(2.0).", TENSORS),
]  # fmt: skip


def look_up(sentence: str) -> tuple[str, str, str] | None:
    """(why, instead, chapter) for a sentence, or None."""
    for pattern, why, instead, chapter in ROWS:
        match = re.search(pattern, sentence)
        if match:
            groups = match.groupdict()
            return (why.format(**groups), instead.format(**groups), chapter) if groups else (why, instead, chapter)
    return None
