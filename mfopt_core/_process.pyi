from typing import final

from mfopt_core._kernels import Kernel

@final
class Process:
    def __new__(cls, kernel: Kernel, noise: float, mean: float) -> Process: ...
