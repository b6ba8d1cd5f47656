from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mfopt_core._bound import Bound

_Array = npt.NDArray[np.float64]

def divide(function: Bound | Callable[[_Array], npt.ArrayLike], d: int, budget: int) -> tuple[_Array, _Array]: ...
def choose_apart(points: npt.ArrayLike, values: npt.ArrayLike, count: int, closer: float) -> npt.NDArray[np.intp]: ...
def find_distinct(points: npt.ArrayLike) -> npt.NDArray[np.intp]: ...
def ascend(
    function: Bound | Callable[[_Array], tuple[_Array, _Array]],
    starts: npt.ArrayLike,
    spread: float,
    free: npt.ArrayLike | None = None,
    rounds: int = 40,
    again: bool = True,
) -> tuple[_Array, _Array]: ...
