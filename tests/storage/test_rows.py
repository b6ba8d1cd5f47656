"""The stored form of events, which must never change: studies of older versions are read by newer ones."""

import numpy as np
import pytest

from mfopt.run.events import Added, Asked, CapitalSet, Refused, Told
from mfopt.run.reason import Reason
from mfopt.storage.rows import EventRow, from_row, to_row

POINT = np.array([0.25])
ASKED = (
    '{"type": "Reason", "kind": "initial design", "text": "point 1 of 3 at this fidelity", "fidelity": 1, "t": 1, '
    '"beta": 0.0, "fidelities": [], "mean": [], "width": [], "zeta": [], "phi": [], "gamma": [], "bound": "lower"}'
)
REASON = Reason("initial design", "point 1 of 3 at this fidelity", 1, t=1, bound="lower")

STORED = [
    (Asked(0, POINT, POINT, 1, 4.0, REASON), EventRow("ask", 0, None, None, "[0.25]", "[0.25]", 1, 4.0, ASKED)),
    (Told(0, 0.1 + 0.2), EventRow("tell", 0, 0.30000000000000004)),
    (Told(1, None), EventRow("tell", 1)),
    (Added(2, POINT, POINT, 0, 1.5, -0.5), EventRow("add", 2, -0.5, None, "[0.25]", "[0.25]", 0, 1.5)),
    (CapitalSet(44.0), EventRow("capital", y=44.0)),
    (Refused("nothing", "points"), EventRow("refuse", detail='["nothing", "points"]')),
]

BOUND = (Told(1, None, 2.5), EventRow("tell", 1, None, '{"bound": 2.5}'))  # not in the first version

# From a study of the first version: the number of such an event, the checksum before it, and its own.
CHECKSUMS = [
    (1, 2771294459, 400931124),
    (3, 3529839751, 2049739748),
    (4, 2049739748, 945550912),
    (5, 945550912, 1240169080),
    (6, 1240169080, 2057714380),
    (7, 2057714380, 890371632),
]


@pytest.mark.parametrize(("event", "row"), [*STORED, BOUND])
def test_an_event_is_stored_as_ever(event, row):
    assert to_row(event) == row


@pytest.mark.parametrize(("event", "row"), [*STORED, BOUND])
def test_an_event_is_read_as_it_was_written(event, row):
    if row.kind == "tell":  # it is read together with its trial
        row = row._replace(x="[0.25]", u="[0.25]", fidelity=1, cost=4.0)
    again = from_row(row)
    assert type(again) is type(event)
    assert repr(again) == repr(event)
    assert not any(value.flags.writeable for value in vars(again).values() if isinstance(value, np.ndarray))


@pytest.mark.parametrize(("stored", "checksum"), list(zip(STORED, CHECKSUMS, strict=True)))
def test_checksums_are_those_of_studies_written_before(stored, checksum):
    seq, before, own = checksum
    assert to_row(stored[0]).checksum(before, seq) == own


def test_the_columns_of_its_trial_do_not_enter_the_checksum_of_a_tell():
    row = EventRow("tell", 0, 0.5)
    joined = row._replace(x="[0.25]", u="[0.25]", fidelity=1, cost=4.0, reason=ASKED)
    assert joined.checksum(1, 2) == row.checksum(1, 2)


@pytest.mark.parametrize(
    "row",
    [
        EventRow("tell", 0, 1.0),  # no trial
        EventRow("tell", None, 1.0, x="[0.25]"),
        EventRow("ask", 0, None, None, "[0.25]", None, 1, 4.0, ASKED),
        EventRow("add", 0, None, None, "[0.25]", "[0.25]", 0, 1.5),
        EventRow("capital"),
        EventRow("refuse"),
        EventRow("boast", 0),
    ],
)
def test_a_row_that_holds_no_event_is_refused(row):
    with pytest.raises(ValueError, match="lacks"):
        from_row(row)
