"""What a study was made with: what its header can express, and what differs is refused."""

import importlib
import shutil
import sys

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from mfopt import (
    Box,
    Categorical,
    Fidelity,
    FiniteSet,
    InputError,
    Integer,
    Optimizer,
    Ordinal,
    PluginWarning,
    Real,
    ReplayWarning,
    Space,
    Study,
    StudyMismatch,
    registry,
)
from mfopt.protocols import Suggestion
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.random_search import RandomSearch
from mfopt_plugins.surrogates.matern import Matern
from tests.storage.runs import advance, bits, next_asks
from tests.storage.studies import BOX, Custom, make

# -------------------------------------------------------------------------------------------------- mismatches


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"costs": (1.0, 20.0)}, "fidelities[1].cost: stored 10.0, given 20.0"),
        ({"domain": Box([(0.0, 1.0), (-5.0, 6.0)])}, "domain.dimensions[1].hi: stored 5.0, given 6.0"),
        ({"domain": FiniteSet([[0.0, 1.0]])}, "domain.kind: stored 'box', given 'finite'"),
        ({"strategy": "gp-ucb"}, "strategy.name: stored 'random', given 'gp-ucb'"),
        ({"surrogate": Matern(nu=1.5)}, "surrogate.options.nu: stored nothing, given 1.5"),
        ({"maximiser": "multistart"}, "maximiser.name: stored 'direct', given 'multistart'"),
        ({"direction": "minimize"}, "direction: stored 'maximize', given 'minimize'"),
        ({"noise": 0.5}, "fidelities[0].noise: stored None, given 0.5"),
        ({"rng": 1}, "seed: stored 0, given 1"),
        ({"capital": 400.0}, "capital: stored 300.0, given 400.0"),
        ({"capital": None}, "capital: stored 300.0, given None"),
    ],
)
def test_other_arguments_are_refused_with_the_difference_shown(storage, change, difference):
    make(storage).ask()
    with pytest.raises(StudyMismatch) as refused:
        make(storage, **change)
    assert difference in refused.value.differences
    assert difference in str(refused.value)
    assert isinstance(refused.value, ValueError)
    assert len(Study.open(storage).pending) == 1


def test_only_what_differs_is_shown(tmp_path):
    make(tmp_path / "a.db")
    with pytest.raises(StudyMismatch) as refused:
        make(tmp_path / "a.db", costs=(1.0, 20.0), rng=5)
    assert refused.value.differences == [
        "fidelities[1].cost: stored 10.0, given 20.0",
        "seed: stored 0, given 5",
    ]


def test_a_finite_set_with_another_point_is_another_set(tmp_path):
    points = np.random.default_rng(0).random((50, 2))
    make(tmp_path / "a.db", domain=FiniteSet(points))
    points[31, 1] += 1e-9
    with pytest.raises(StudyMismatch, match="sha256"):
        make(tmp_path / "a.db", domain=FiniteSet(points))


@pytest.mark.parametrize("name", ["", "  ", "a\nb", 3, "x" * 201])
def test_bad_names_of_studies_are_refused(tmp_path, name):
    with pytest.raises(InputError, match="study must be a name"):
        make(tmp_path / "a.db", name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("storage", ["", 3, "mysql://host/db", "sqlite:///", "sqlite:///:memory:", "a\0b"])
def test_bad_storages_are_refused(storage):
    with pytest.raises(InputError, match="storage must"):
        make(storage)


@pytest.mark.parametrize("options", [{"study": "wing"}, {"lease": 3.0}, {"worker": "w"}])
def test_what_belongs_to_a_storage_needs_one(options):
    with pytest.raises(InputError, match="belong to a storage"):
        Optimizer(BOX, (1.0,), **options)


@pytest.mark.parametrize(
    ("option", "value"), [("lease", 0.0), ("lease", -1.0), ("lease", "long"), ("worker", 3), ("worker", "")]
)
def test_bad_leases_and_workers_are_refused(tmp_path, option, value):
    with pytest.raises(InputError, match=option):
        make(tmp_path / "a.db", **{option: value})
    assert list(tmp_path.iterdir()) == []


def test_a_problem_that_the_strategy_refuses_leaves_no_study(tmp_path):
    with pytest.raises(InputError, match="theory mode"):
        make(tmp_path / "a.db", strategy=MFGPUCB(mode="theory"))
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------ what the header can express


def rebuilt(tmp_path, **options):
    """A study with these options and one that was opened from the header alone."""
    opt = make(tmp_path / "a.db", **options)
    return opt, Study.open(tmp_path / "a.db")


def test_boxes_are_rebuilt_from_the_header(tmp_path):
    box = Box(
        [(1e-3, 1e3), (0.1, 0.7)],
        names=["rate", "width"],
        log=[True, False],
        constraints=[LinearConstraint([[1.0, 1.0]], -np.inf, 500.3), LinearConstraint([[0.1, -1.0]], -3.0, 90.0)],
    )
    opt, again = rebuilt(tmp_path, domain=box)
    assert again.domain.describe() == opt.domain.describe()
    assert [bits(t) for t in again.ask(5)] == [bits(t) for t in refreshed(opt).pending]


def refreshed(opt):
    opt.refresh()
    return opt


def test_finite_sets_are_rebuilt_with_their_names_and_row_numbers(tmp_path):
    rows = np.array([[0.1, 5.0], [0.2, 6.0], [0.1, 5.0], [0.3, 7.0], [0.2, 6.0]])
    opt, again = rebuilt(tmp_path, domain=FiniteSet(rows, names=["a", "b"]), noise=0.0)
    assert again.domain.names == ("a", "b")
    trials = again.ask(10)
    assert sorted(trial.index for trial in trials) == [0, 1, 3]
    for trial in trials:
        assert np.array_equal(rows[trial.index], trial.x)
    assert [bits(t) for t in refreshed(opt).pending] == [bits(t) for t in trials]


def test_plugins_made_with_options_are_made_again(tmp_path):
    opt, again = rebuilt(
        tmp_path,
        strategy=MFGPUCB(beta_factor=0.3, zetas=[0.2]),
        surrogate=[Matern(nu=1.5), "se"],
        maximiser=Multistart(64, climbs=2),
        fidelities=[Fidelity("coarse", 1.0, zeta=0.2), Fidelity("fine", 10.0, noise=0.01)],
        costs=None,
    )
    assert again.fidelities == opt.fidelities
    advance(opt, 20)
    again = Study.open(tmp_path / "a.db")
    memory = Optimizer(
        BOX,
        capital=300.0,
        rng=0,
        strategy=MFGPUCB(beta_factor=0.3, zetas=[0.2]),
        surrogate=[Matern(nu=1.5), "se"],
        maximiser=Multistart(64, climbs=2),
        fidelities=opt.fidelities,
    )
    advance(memory, 20)
    assert next_asks(again, 6) == next_asks(memory, 6)


def test_an_instance_with_default_options_is_the_name(tmp_path):
    make(tmp_path / "a.db", strategy=MFGPUCB(mode="practical"), surrogate=Matern(2.5))
    assert make(tmp_path / "a.db", strategy="mf-gp-ucb", surrogate="matern").seed == 0


def test_what_is_not_installed_has_to_be_given_again_to_ask(storage):
    opt = make(storage, strategy=Custom(0.25), domain=Box([(0, 1), (0, 1)], constraints=lambda x: x[:, 0] < 0.9))
    first = opt.ask(2)[0]
    bare = Study.open(storage)
    bare.tell(first.id, 1.0)
    assert bare.best.y == 1.0
    assert str(bare.pending[0].reason) == "as told"
    with pytest.raises(InputError, match="domain="):
        bare.ask()
    same = {"domain": opt.domain, "strategy": Custom(0.25)}
    with pytest.raises(InputError, match="strategy="):
        Study.open(storage, domain=opt.domain).ask()
    with pytest.raises(StudyMismatch, match=r"strategy.options.level: stored 0.25, given 0.75"):
        Study.open(storage, domain=opt.domain, strategy=Custom(0.75))
    assert Study.open(storage, **same).ask().id == 2


def test_a_plugin_with_options_that_is_not_installed_is_needed_to_ask_only(storage, monkeypatch):
    trial = make(storage, strategy=MFGPUCB(beta_factor=0.4), surrogate=[Matern(nu=1.5), "se"]).ask()
    monkeypatch.setattr(registry.points, "_read_points", lambda stats: ())
    study = Study.open(storage)
    study.tell(trial.id, 1.0)
    assert study.history.y.tolist() == [1.0]
    with pytest.raises(
        InputError,
        match=r"strategy that cannot be made here, mf-gp-ucb of mfopt .*: to ask, pip install mfopt, best in version",
    ):
        study.ask()


def test_a_domain_may_be_given_again_as_an_array(tmp_path):
    make(tmp_path / "a.db")
    assert Study.open(tmp_path / "a.db", domain=np.array([(0.0, 1.0), (-5.0, 5.0)])).ask().id == 0


def test_functions_as_constraints_are_compared_by_their_names(tmp_path):
    def disc(x):
        return x[:, 0] ** 2 + x[:, 1] ** 2 < 1

    box = [(0.0, 1.0)] * 2
    make(tmp_path / "a.db", domain=Box(box, constraints=[disc, NonlinearConstraint(np.sum, 0.1, 1.9)]))
    make(tmp_path / "a.db", domain=Box(box, constraints=[disc, NonlinearConstraint(np.sum, 0.1, 1.9)]))
    with pytest.raises(StudyMismatch, match=r"fun: stored '.*disc', given 'sum'"):
        make(tmp_path / "a.db", domain=Box(box, constraints=[NonlinearConstraint(np.sum, 0.1, 1.9)] * 2))


def test_the_caller_keeps_his_instance(tmp_path):
    strategy = RandomSearch()
    make(tmp_path / "a.db", strategy=strategy).ask()
    assert not hasattr(strategy, "_drawn")


def test_the_record_holds_when_a_strategy_has_changed_its_mind(tmp_path):
    first = make(tmp_path / "a.db", strategy=Custom(0.25)).ask(3)
    changed = Custom(0.25)
    changed.ask = lambda view: Suggestion(np.array([0.75, 0.5]), 0, "otherwise")
    again = make(tmp_path / "a.db", strategy=changed)
    assert [bits(t) for t in again.pending] == [bits(t) for t in first]
    with pytest.warns(ReplayWarning, match="first at trial 0") as given:
        assert again.ask().x[0] == 0.75
    assert len(given) == 1
    assert [bits(t) for t in again.pending[:3]] == [bits(t) for t in first]


# ------------------------------------------------------------------------------- where plugins come from

FOREST = """
class Forest:
    def __init__(self, trees={trees}):
        self.trees = trees
    def model(self, dim, noise=None):
        from tests.optimizer.toys import FixedGPModel
        return FixedGPModel(dim, 1e-10, self.trees / 20)
"""


@pytest.fixture
def forest(tmp_path, monkeypatch):
    """Installs a version of a surrogate in a distribution of its own; None: takes it away."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def install(version, trees=10):
        for old in folder.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        sys.modules.pop("toy_forest", None)
        importlib.invalidate_caches()
        if version is not None:
            (folder / "toy_forest.py").write_text(FOREST.format(trees=trees))
            info = folder / f"toy_forest-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-forest\nVersion: {version}\n")
            (info / "entry_points.txt").write_text("[mfopt.surrogates]\nforest = toy_forest:Forest\n")

    yield install
    sys.modules.pop("toy_forest", None)


def test_a_study_stores_where_its_plugins_come_from(tmp_path, forest):
    forest("1.5")
    make(tmp_path / "a.db", surrogate=["forest", "forest:trees=4"], strategy=Custom(0.25))
    (header,) = Study.headers(tmp_path / "a.db")
    plain, few = header.spec["surrogate"]
    origin = {"distribution": "toy-forest", "version": "1.5", "defaults": {"trees": 10}}
    assert plain == {"name": "forest", "options": {}, **origin}
    assert few == {"name": "forest", "options": {"trees": 4}, **origin}
    assert header.spec["maximiser"]["distribution"] == "mfopt"
    assert "climbs" in header.spec["maximiser"]["defaults"]
    assert header.spec["strategy"] == {"class": "tests.storage.studies.Custom", "options": {"level": 0.25}}


def test_a_study_whose_plugin_is_missing_says_what_to_install(tmp_path, forest):
    forest("1.5")
    trial = make(tmp_path / "a.db", study="wing", surrogate="forest").ask()
    forest(None)
    study = Study.open(tmp_path / "a.db", "wing")
    study.tell(trial.id, 1.0)
    told = r"'wing' has a surrogate .*, forest of toy-forest 1.5: to ask, pip install toy-forest, best in version 1.5"
    with pytest.raises(InputError, match=told):
        study.ask()
    with pytest.raises(InputError, match=told):
        make(tmp_path / "a.db", study="wing", surrogate="forest").ask()
    forest("1.6")
    assert Study.open(tmp_path / "a.db", "wing").ask().id == 1


def test_the_defaults_of_the_day_a_study_was_made_hold(tmp_path, forest):
    forest("1.5")
    make(tmp_path / "a.db", surrogate="forest")
    forest("2.0", trees=30)
    assert Study.open(tmp_path / "a.db").surrogates[0].trees == 10
    assert make(tmp_path / "a.db", surrogate="forest").surrogates[0].trees == 10
    assert make(tmp_path / "b.db", surrogate="forest").surrogates[0].trees == 30
    make(tmp_path / "a.db", surrogate="forest:trees=10")
    with pytest.raises(StudyMismatch, match=r"surrogate.options.trees: stored 10, given 30"):
        make(tmp_path / "a.db", surrogate="forest:trees=30")


class Incomplete(Custom):
    def __init__(self, level=0.5, other=1.0):
        super().__init__(level)

    def options(self):
        return {"level": self.level}


def test_options_that_are_not_told_completely_are_reported_when_the_study_is_made(tmp_path):
    with pytest.warns(PluginWarning, match=r"strategy again.*Incomplete: its options cannot be told: .* without other"):
        make(tmp_path / "a.db", strategy=Incomplete())
    with pytest.warns(PluginWarning, match="surrogate again.*options must be plain values"):
        make(tmp_path / "b.db", surrogate=Matern(mean=np.float64(1.0) + 1j))


# ------------------------------------------------------------------------------------- spaces and mixed tables


def conditional(**options):
    parameters = {
        "rate": Real(1e-4, 1, log=True),
        "n": Integer(1, 9),
        "kind": Categorical(["a", "b", "c"]),
        "part": Ordinal(["low", "high"], when={"kind": ["a", "b"]}),
    }
    return Space(parameters, **options)


def near(params):
    return params["n"] <= 5


@pytest.mark.parametrize(
    "domain",
    [
        conditional(),
        FiniteSet([["a", 1, 0.5, True], ["b", 2, 5.0, False], ["a", 1, 0.5, True], ["c", 3, 50.0, True]], log=True),
        Box([(0, 1)] * 3, constraints=LinearConstraint(np.ones(3), 0.999, 1.0), feasible=[0.2, 0.3, 0.4995]),
        conditional(feasible=[{"rate": 0.1, "n": 3, "kind": "c"}, {"rate": 0.1, "n": 3, "kind": "a", "part": "high"}]),
    ],
)
def test_a_domain_of_any_kind_reopens_exactly(tmp_path, domain):
    options = {"costs": [1.0, 4.0], "strategy": "random", "rng": 0, "noise": 0.1}
    memory = Optimizer(domain, **options)
    study = Study(domain, **options, storage=tmp_path / "study.db")
    for k in range(6):
        for one in (memory, study):
            one.tell(one.ask(), float(k % 4))
    again = Study.open(tmp_path / "study.db")
    assert again.domain.describe() == domain.describe()
    assert np.array_equal(again.history.x, memory.history.x, equal_nan=True)
    assert again.history.params == memory.history.params
    assert again.best.params == memory.best.params
    trial, expected = again.ask(), memory.ask()
    assert (trial.params, trial.index, trial.fidelity) == (expected.params, expected.index, expected.fidelity)
    Study(domain, **options, storage=tmp_path / "study.db")  # the same domain is accepted


def test_another_choice_scale_or_known_point_is_another_domain(tmp_path):
    table = [["a", 1.0], ["b", 2.0]]
    Study(FiniteSet(table), [1.0], strategy="random", rng=0, storage=tmp_path / "study.db")
    with pytest.raises(StudyMismatch, match=r"domain.choices.x0: stored \['a', 'b'\], given \['a', 'c'\]"):
        Study(FiniteSet([["a", 1.0], ["c", 2.0]]), [1.0], strategy="random", rng=0, storage=tmp_path / "study.db")
    with pytest.raises(StudyMismatch, match=r"domain.log: stored nothing, given \['x1'\]"):
        Study(FiniteSet(table, log=True), [1.0], strategy="random", rng=0, storage=tmp_path / "study.db")


def test_a_finite_set_stored_by_an_older_version_opens_and_goes_on(tmp_path, monkeypatch):
    domain = FiniteSet(np.array([[1, 2], [3, 4], [5, 6]]))
    options = {"costs": [1.0], "strategy": "random", "rng": 0, "storage": tmp_path / "study.db"}
    columns = FiniteSet.describe_columns
    with monkeypatch.context() as older:
        older.setattr(FiniteSet, "describe_columns", lambda self: {"kind": "finite", "names": list(self.names)})
        Study(domain, **options)
    assert FiniteSet.describe_columns is columns
    study = Study(domain, **options)
    study.tell(study.ask(), 1.0)
    assert Study.open(tmp_path / "study.db").best.x.tolist() == study.best.x.tolist()


def test_params_are_right_where_the_functions_of_a_space_are_not_there(tmp_path):
    domain = conditional(constraints=near)
    study = Study(domain, [1.0], strategy="random", rng=0, storage=tmp_path / "study.db")
    trials = study.ask(8)
    away = Study.open(tmp_path / "study.db")
    assert [trial.params for trial in away.pending] == [trial.params for trial in trials]
    away.tell(trials[0].id, 1.0)
    assert away.best.params == trials[0].params
    for refused in (away.ask, lambda: away.add(trials[1].params, 0, 2.0)):
        with pytest.raises(InputError, match="a domain with functions or objects that a storage cannot hold"):
            refused()
    again = Study.open(tmp_path / "study.db", domain=domain)
    again.add(trials[1].params, 0, 2.0)
    assert again.ask().params["n"] <= 5
