from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from mfopt_core._level import Level

_Array = npt.NDArray[np.float64]

@final
class Improvement:
    def __new__(
        cls,
        levels: Sequence[Level],
        best: float,
        unit: float,
        noises: npt.ArrayLike,
        offsets: npt.ArrayLike,
        tail: float,
    ) -> Improvement: ...
    def __call__(self, u: npt.ArrayLike) -> _Array: ...
    def gradient(self, u: npt.ArrayLike) -> tuple[_Array, _Array]: ...
    def recurring(self, u: npt.ArrayLike) -> _Array: ...
    @property
    def best(self) -> float: ...
    @property
    def levels(self) -> tuple[Level, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def tail(self) -> float: ...
    @property
    def unit(self) -> float: ...
