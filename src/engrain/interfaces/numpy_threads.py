"""Threads of NumPy in a process that answers once and ends."""

import os
import sys

_VARIABLE = "OPENBLAS_NUM_THREADS"


def load_numpy_with_one_thread() -> None:
    """Import NumPy with one thread of OpenBLAS: to start one for each core takes 70 ms of CPU, a fifth of a command.

    A number of threads in the environment stands, and programs that this process starts find the environment unchanged.
    """
    if "numpy" in sys.modules or _VARIABLE in os.environ:
        return
    os.environ[_VARIABLE] = "1"
    try:
        import numpy as np  # noqa: F401
    finally:
        del os.environ[_VARIABLE]
