"""Health: the quick part of a plugin's suite, for `mfopt plugins --check`. It depends on no flag and takes seconds."""

from __future__ import annotations

import warnings
from typing import Any

from mfopt import registry
from mfopt.registry import Plugin
from mfopt.testing.maximisers import MaximiserConformance
from mfopt.testing.strategies import StrategyConformance
from mfopt.testing.surrogates import SurrogateConformance

_EVERY = ("test_nothing_is_printed", "test_the_global_random_state_is_not_touched", "test_no_call_is_slow")
_QUICK = {
    registry.SURROGATES: (
        "test_a_fresh_model_has_no_rows",
        "test_the_posterior_has_a_mean_and_a_variance_per_row",
        "test_truncate_undoes_extend",
        "test_everything_is_float64",
        *_EVERY,
    ),
    registry.MAXIMISERS: ("test_a_flat_acquisition_is_harmless", "test_the_same_rng_gives_the_same_point", *_EVERY),
    registry.STRATEGIES: ("test_little_capital_still_buys_a_target_query", "test_one_fidelity_will_do", *_EVERY),
}


def check_health(plugin: Plugin) -> str:
    """ "ok", or what is wrong with an installed plugin."""
    if plugin.problem:
        return plugin.problem
    suite: Any = {
        registry.SURROGATES: SurrogateConformance,
        registry.MAXIMISERS: MaximiserConformance,
        registry.STRATEGIES: StrategyConformance,
    }[plugin.group]()
    word = next(word for word, group in registry.GROUPS.items() if group == plugin.group)
    setattr(suite, word, lambda: registry.make(plugin.group, plugin.name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            registry.make(plugin.group, plugin.name)
            for name in _QUICK[plugin.group]:
                getattr(suite, name)()
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # whatever a third party's plugin may raise
            return f"{type(error).__name__}: {error}"
    return "ok"
