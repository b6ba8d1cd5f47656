from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from mfopt_core._gp import GP
from mfopt_core._tracked import Tracked

_Array = npt.NDArray[np.float64]

@overload
def mf_ucb(
    gps: Sequence[GP], x: npt.ArrayLike, beta: float, zetas: npt.ArrayLike, grad: Literal[False] = False
) -> _Array: ...
@overload
def mf_ucb(
    gps: Sequence[GP], x: npt.ArrayLike, beta: float, zetas: npt.ArrayLike, grad: Literal[True]
) -> tuple[_Array, _Array]: ...
def argmax_ucb(
    tracked: Sequence[Tracked], beta: float, zetas: npt.ArrayLike, exclude: npt.ArrayLike | None = None
) -> tuple[int, float]: ...
