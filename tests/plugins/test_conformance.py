"""The built-in plugins pass the suites that third parties run on theirs."""

from mfopt.testing import MaximiserConformance, StrategyConformance, SurrogateConformance
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython


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
