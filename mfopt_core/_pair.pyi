from typing import final

import numpy as np
import numpy.typing as npt

from mfopt_core._level import Level

_Array = npt.NDArray[np.float64]

@final
class Pair:
    def __new__(cls, first: Level, second: Level) -> Pair: ...
    def __call__(self, u: npt.ArrayLike) -> tuple[_Array, _Array, _Array]: ...
    def gradient(self, u: npt.ArrayLike) -> tuple[_Array, _Array, _Array, _Array, _Array, _Array]: ...
    @property
    def first(self) -> Level: ...
    @property
    def second(self) -> Level: ...
