"""The built-in plugins pass the suites that third parties run on theirs."""

from mfopt.testing import MaximiserConformance, StrategyConformance, SurrogateConformance
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.strategies.co_kriging import CoKriging
from mfopt_plugins.strategies.direct import Direct as DirectStrategy
from mfopt_plugins.strategies.gp_ei import GPEI
from mfopt_plugins.strategies.gp_pi import GPPI
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.mf_naive import MFNaive
from mfopt_plugins.strategies.mf_naive_random import MFNaiveRandom
from mfopt_plugins.strategies.mf_sko import MFSKO
from mfopt_plugins.strategies.random_search import RandomSearch
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import quick


class TestSE(SurrogateConformance):
    def surrogate(self):
        return SE()


class TestSEPython(SurrogateConformance):
    def surrogate(self):
        return SEPython()


class TestMatern(SurrogateConformance):
    def surrogate(self):
        return Matern()


class TestGeneralMatern(SurrogateConformance):
    def surrogate(self):
        return Matern(nu=1.9)


class TestDirect(MaximiserConformance):
    def maximiser(self):
        return Direct()


class TestNloptDirect(MaximiserConformance):
    def maximiser(self):
        return NloptDirect()


class TestMultistart(MaximiserConformance):
    def maximiser(self):
        return Multistart()


class TestMFGPUCB(StrategyConformance):
    def strategy(self):
        return MFGPUCB()


class TestGPUCB(StrategyConformance):
    def strategy(self):
        return GPUCB()


class TestGPEI(StrategyConformance):
    maximiser = quick()

    def strategy(self):
        return GPEI()


class TestGPPI(StrategyConformance):
    maximiser = quick()

    def strategy(self):
        return GPPI()


class TestRandomSearch(StrategyConformance):
    learns = uses_added = False

    def strategy(self):
        return RandomSearch()


class TestDirectStrategy(StrategyConformance):
    deterministic = True
    learns = uses_added = False  # a dozen queries are not yet enough for rectangles

    def strategy(self):
        return DirectStrategy()


class TestMFNaive(StrategyConformance):
    maximiser = quick()

    def strategy(self):
        return MFNaive()


class TestMFNaiveRandom(StrategyConformance):
    uses_added = False

    def strategy(self):
        return MFNaiveRandom()


class TestAR1OfOneFidelity(SurrogateConformance):
    def surrogate(self):
        return AR1()


class TestMFGPUCBOverAR1(StrategyConformance):
    maximiser = quick()
    surrogate = AR1()

    def strategy(self):
        return MFGPUCB()


class TestMFSKO(StrategyConformance):
    maximiser = quick()

    def strategy(self):
        return MFSKO()


class TestCoKriging(StrategyConformance):
    maximiser = quick()

    def strategy(self):
        return CoKriging()
