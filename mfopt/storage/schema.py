"""The tables, the same for SQLite and PostgreSQL.

Points are JSON lists whose numbers read back to the same float64; BLOB becomes BYTEA on PostgreSQL. The constraints
make impossible what the code above them must never do: a trial asked or told twice, an event without its trial. The
header carries a checksum of its `spec`, each event one of itself and all before it (see event_log.py).
"""

from collections.abc import Iterator

VERSION = 3

# Since version 2. How often each leased trial was handed out, and what its deadline (mfopt_trials.lease) goes by: how
# long the lease is, under which start of the machine it was made, and when that start was by the clock then (clock.py).
# A trial without a row was handed out once.
_CLAIMS = """CREATE TABLE mfopt_claims (
        study TEXT NOT NULL,
        trial BIGINT NOT NULL,
        claim BIGINT NOT NULL CHECK (claim > 0),
        seconds DOUBLE PRECISION,
        boot TEXT,
        epoch DOUBLE PRECISION,
        PRIMARY KEY (study, trial),
        FOREIGN KEY (study, trial) REFERENCES mfopt_trials (study, id)
    )"""

# Since version 3. The strategy's state after the event `seq`, by whose checksum its own begins, for processes with the
# same stamp (states.py). Only the latest are kept, and none of them is needed: one without its event does no harm.
_STATES = """CREATE TABLE mfopt_states (
        study TEXT NOT NULL,
        seq BIGINT NOT NULL,
        stamp TEXT NOT NULL,
        state TEXT NOT NULL,
        crc BIGINT NOT NULL,
        PRIMARY KEY (study, seq)
    )"""

# What turns the tables of the version before into those of the version that is the key.
_UPGRADES = {2: (_CLAIMS,), 3: (_STATES,)}

TABLES = (
    """CREATE TABLE mfopt_schema (
        version BIGINT NOT NULL
    )""",
    """CREATE TABLE mfopt_studies (
        name TEXT PRIMARY KEY CHECK (name <> ''),
        created TEXT NOT NULL,
        mfopt TEXT NOT NULL,
        spec TEXT NOT NULL,
        crc BIGINT NOT NULL
    )""",
    # Large arrays of a header: the candidates of a finite set, little-endian, row by row.
    """CREATE TABLE mfopt_arrays (
        study TEXT NOT NULL REFERENCES mfopt_studies (name),
        name TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (study, name)
    )""",
    """CREATE TABLE mfopt_trials (
        study TEXT NOT NULL REFERENCES mfopt_studies (name),
        id BIGINT NOT NULL CHECK (id >= 0),
        x TEXT NOT NULL,
        u TEXT NOT NULL,
        fidelity BIGINT NOT NULL CHECK (fidelity >= 0),
        cost DOUBLE PRECISION NOT NULL CHECK (cost >= 0),
        reason TEXT,
        worker TEXT,
        lease DOUBLE PRECISION,
        PRIMARY KEY (study, id)
    )""",
    """CREATE TABLE mfopt_events (
        study TEXT NOT NULL REFERENCES mfopt_studies (name),
        seq BIGINT NOT NULL CHECK (seq > 0),
        kind TEXT NOT NULL CHECK (kind IN ('ask', 'refuse', 'tell', 'add', 'capital')),
        trial BIGINT,
        y DOUBLE PRECISION,
        detail TEXT,
        at DOUBLE PRECISION NOT NULL,
        crc BIGINT NOT NULL,
        PRIMARY KEY (study, seq),
        FOREIGN KEY (study, trial) REFERENCES mfopt_trials (study, id),
        CHECK ((trial IS NOT NULL) = (kind IN ('ask', 'tell', 'add'))),
        CHECK (kind = 'capital' OR y IS NULL OR (kind IN ('tell', 'add') AND y BETWEEN -1e140 AND 1e140)),
        CHECK (kind <> 'add' OR y IS NOT NULL)
    )""",
    _CLAIMS,
    _STATES,
    "CREATE UNIQUE INDEX mfopt_asked_once ON mfopt_events (study, trial) WHERE kind IN ('ask', 'add')",
    "CREATE UNIQUE INDEX mfopt_told_once ON mfopt_events (study, trial) WHERE kind IN ('tell', 'add')",
    "CREATE INDEX mfopt_leases ON mfopt_trials (study, lease) WHERE lease IS NOT NULL",
)


def upgrade(version: int) -> Iterator[str]:
    """The statements that make tables of this version into those of the present one, in one transaction."""
    for following in range(version + 1, VERSION + 1):
        yield from _UPGRADES[following]
        yield f"UPDATE mfopt_schema SET version = {following}"
