"""How a probe's inputs become a call of the learner's code, a file for each chapter.

Functions `driver(entry, *inputs)` build what the answer needs, call it and return plain data. Expected results, solutions and hints are
elsewhere: this folder travels with a submission into the grading worker, so nothing in it may give an answer away.
"""

from .calls import *
from .ch01 import *
from .ch02 import *
from .ch03 import *
from .ch05 import *
from .ch06 import *
from .ch07 import *
from .ch08 import *
from .ch09 import *
from .ch10 import *
from .ch11 import *
from .ch12 import *
from .ch13 import *
from .ch14 import *
from .ch15 import *
from .ch16 import *
from .ch17 import *
from .ch18 import *
from .ch19 import *
