from typing import final

import numpy as np
import numpy.typing as npt

from mfopt_core._gp import GP

@final
class Tracked:
    def __new__(cls, gp: GP, x: npt.ArrayLike, lazy: bool = False) -> Tracked: ...
    def __len__(self) -> int: ...
    @property
    def gp(self) -> GP: ...
    @property
    def mean(self) -> npt.NDArray[np.float64]: ...
    @property
    def var(self) -> npt.NDArray[np.float64]: ...
    @property
    def fresh(self) -> int: ...

def _retracked(
    gp: GP,
    points: npt.ArrayLike,
    stored: npt.ArrayLike,
    summed: npt.ArrayLike,
    dot: npt.ArrayLike,
    square: npt.ArrayLike,
    v: npt.ArrayLike,
) -> Tracked: ...
