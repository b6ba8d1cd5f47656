"""Conformance suites: what anyone's surrogate, maximiser, strategy or domain must do, as pytest classes.

    from mfopt.testing import SurrogateConformance
    from my_package import MySurrogate

    class TestMySurrogate(SurrogateConformance):
        def surrogate(self):
            return MySurrogate()

MaximiserConformance (method `maximiser`), DomainConformance (method `domain`) and StrategyConformance (method
`strategy`) work the same way. Each method is called whenever a test needs a fresh plugin. The tests are plain methods
with plain assertions; nothing here needs pytest itself.
"""

from mfopt.testing.domains import DomainConformance
from mfopt.testing.maximisers import MaximiserConformance
from mfopt.testing.strategies import StrategyConformance
from mfopt.testing.surrogates import SurrogateConformance

__all__ = ["DomainConformance", "MaximiserConformance", "StrategyConformance", "SurrogateConformance"]
