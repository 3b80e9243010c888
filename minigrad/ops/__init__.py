"""The derivatives table: every operation is one row, in the file of its family.

elementwise  arithmetic, functions of one number, comparisons        reduce  sums, means, maxima
shape        views and joins                                         index   picking and putting elements
linalg       products                                                neural  softmax and what networks add
"""

from ..core.op import TABLE
