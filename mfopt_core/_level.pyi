from typing import Any, final

import numpy as np
import numpy.typing as npt

from mfopt_core._gp import GP

@final
class Level:
    def __new__(cls, gp: GP, tail: npt.ArrayLike = (), factor: float = 1.0, shift: float = 0.0) -> Level: ...
    @property
    def gp(self) -> GP: ...
    @property
    def tail(self) -> npt.NDArray[np.float64]: ...
    @property
    def factor(self) -> float: ...
    @property
    def shift(self) -> float: ...
    @property
    def remembered(self) -> int: ...

def _relevelled(
    gp: GP,
    tail: npt.ArrayLike,
    factor: float,
    shift: float,
    kept: tuple[npt.ArrayLike, tuple[Any, ...]] | None,
    listed: tuple[Any, ...] | None,
) -> Level: ...
