from typing import final

import numpy as np
import numpy.typing as npt

from mfopt_core._correlation import Correlation

_Array = npt.NDArray[np.float64]

@final
class LevelLikelihood:
    def __new__(cls, x: npt.ArrayLike, level: npt.ArrayLike, y: npt.ArrayLike, levels: int) -> LevelLikelihood: ...
    def __call__(
        self,
        kernel: Correlation,
        mean: float,
        noises: npt.ArrayLike,
        factors: npt.ArrayLike,
        shifts: npt.ArrayLike,
    ) -> tuple[float, _Array, _Array, _Array, _Array]: ...
    @property
    def levels(self) -> int: ...
