"""Every table and figure of the paper, and what goes beyond it: run from a checkout by ``python -m experiments``.

Imports only point down this list:

- ``studies``: one module for each experiment by name; ``goals``: figures with limits;
- ``comparison``: what is made of run records; ``reporting``: how it is shown;
- ``running``: how runs are made and kept; ``specs``: what is run.

Tables of streams, learners of other libraries and the loop that predicts a batch and then learns it are those of the
benchmark in ``benchmarks/nextbatch``, which need not be installed.
"""

import sys
from pathlib import Path

NEXTBATCH = Path(__file__).parents[1] / "benchmarks" / "nextbatch" / "src"
if str(NEXTBATCH) not in sys.path:
    sys.path.append(str(NEXTBATCH))
