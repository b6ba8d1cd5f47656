from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from mfopt_core._correlation import Correlation
from mfopt_core._kernels import Kernel

@final
class Mixture(Correlation):
    def __new__(cls, kernels: Sequence[Kernel], weights: npt.ArrayLike) -> Mixture: ...
    @property
    def kernels(self) -> tuple[Kernel, ...]: ...
    @property
    def weights(self) -> npt.NDArray[np.float64]: ...
    @property
    def levels(self) -> int: ...
