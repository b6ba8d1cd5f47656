from typing import final

from mfopt_core._correlation import Correlation

@final
class Process:
    def __new__(cls, kernel: Correlation, noise: float, mean: float) -> Process: ...
