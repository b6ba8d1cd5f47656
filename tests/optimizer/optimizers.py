"""Optimisers over toy plugins, for the tests."""

from mfopt import Optimizer
from tests.optimizer.toys import RandomSearch, toys

COSTS = (1.0, 10.0)


def make(domain=((0.0, 1.0), (-5.0, 5.0)), costs=COSTS, rng=0, **options):
    return Optimizer(domain, costs, **{**toys(), "rng": rng, **options})


class Scripted(RandomSearch):
    """Answers with what it was given; an exception is raised."""

    def __init__(self, *answers):
        super().__init__()
        self.answers = list(answers)

    def ask(self, view):
        self.views.append(view)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def state(opt):
    history = opt.history
    columns = [history.x, history.fidelity, history.y, history.cost, history.status, history.id]
    best = None if opt.best is None else (opt.best.x.tolist(), opt.best.y, opt.best.trial_id)
    pending = [(t.id, t.x.tolist(), t.fidelity) for t in opt.pending]
    return [column.tolist() for column in columns], pending, opt.spent, opt.remaining, best, opt.done
