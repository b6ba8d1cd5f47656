"""What a strategy must do with the models that it is given: what they know, and what they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mfopt import registry
from mfopt.errors import Exhausted, PluginError
from mfopt.optimizer import Optimizer
from mfopt.run.trial import Trial
from mfopt.testing._limit import limit_calls
from mfopt.testing._recorder import Broken, Recorder, key_of
from mfopt.testing._runs import Runs


@limit_calls
class WithModels(Runs):
    """Rows come and go as values are told, and errors are not hidden."""

    def _recorded(self) -> tuple[Optimizer, list[Recorder]]:
        """A run whose models are watched."""
        given = registry.resolve(registry.SURROGATES, self.surrogate)
        recorders = [Recorder(given, m) for m in range(len(self.costs))]
        return self._optimizer(capital=30.0 * self.costs[-1], surrogate=recorders), recorders

    def test_pending_rows_come_and_go(self) -> None:
        opt, recorders = self._recorded()
        known = total = 0
        for _ in range(6):
            trials: list[Trial] = []
            for count in range(5):
                for recorder in recorders:
                    recorder.seen = None
                trials.append(opt.ask())
                if count == 0:
                    _check_rows(opt, recorders)
                for one in trials[:-1]:
                    seen = recorders[one.fidelity].seen
                    if seen is not None:  # the model was asked
                        total += 1
                        known += key_of(opt.domain.encode(one.x[None])[0]) in seen
            for trial in trials:
                opt.tell(trial, self._f(trial, len(opt.costs)))
        # Some queries follow from a rule, whatever the models say.
        enough = not self.sees_pending or 2 * known >= total
        assert enough, f"models must know of pending queries when they are asked, they did of {known} in {total}"

    def test_a_failure_is_no_value(self) -> None:
        opt, recorders = self._recorded()
        for k in range(24):
            trial = opt.ask()
            _check_rows(opt, recorders)
            if k % 4 == 3:
                opt.tell(trial, status="failed")
            else:
                opt.tell(trial, self._f(trial, len(opt.costs)))

    def test_values_of_a_fidelity_are_taken_for_no_other(self) -> None:
        opt, recorders = self._recorded()
        x = np.random.default_rng(1).uniform(-1.0, 1.0, (4, 2))
        opt.add(x, 0, 1.0 - np.square(x - 0.3).sum(axis=1))
        for _ in range(12):
            trial = opt.ask()
            _check_rows(opt, recorders)
            opt.tell(trial, self._f(trial, len(opt.costs)))

    def test_an_error_of_the_models_is_not_hidden(self) -> None:
        broken = [Broken(registry.resolve(registry.SURROGATES, self.surrogate)) for _ in self.costs]
        opt = self._optimizer(capital=24.0 * self.costs[-1], surrogate=broken)
        while not opt.done:
            try:
                trial = opt.ask()
            except (Exhausted, PluginError):
                return
            raised = sum(one.raised for one in broken)
            assert raised == 0, f"a model raised {raised} errors, and a strategy must not hide them: a point was asked"
            opt.tell(trial, self._f(trial, len(opt.costs)))


def _check_rows(opt: Optimizer, recorders: Sequence[Recorder]) -> None:
    """An AssertionError unless the models know only of values that were told; nothing was pending at the last ask.

    A point that failed may be a row whose value is the model's own mean: that tells it nothing.
    """
    rows = zip(opt.domain.encode(opt.history.x), opt.history.fidelity, np.isfinite(opt.history.y), strict=True)
    outcomes = [(key_of(u), int(m), bool(worked)) for u, m, worked in rows]
    told, failed = (Counter((u, m) for u, m, worked in outcomes if worked == which) for which in (True, False))
    known, believed = (Counter(row for one in recorders for row in one.left(own)) for own in (False, True))
    count = (known + (believed - failed) - told).total()
    assert count == 0, f"models must hold values that were told, once each, got {count} other rows: failed or pending?"
