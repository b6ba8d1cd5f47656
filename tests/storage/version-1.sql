-- A study as the first version of the tables held it, written by that version.
CREATE TABLE mfopt_schema (
        version BIGINT NOT NULL
    );
INSERT INTO mfopt_schema VALUES(1);
CREATE TABLE mfopt_studies (
        name TEXT PRIMARY KEY CHECK (name <> ''),
        created TEXT NOT NULL,
        mfopt TEXT NOT NULL,
        spec TEXT NOT NULL,
        crc BIGINT NOT NULL
    );
INSERT INTO mfopt_studies VALUES('wing','2023-11-14T22:13:20.000000+00:00','0.1.0','{"domain": {"kind": "box", "dimensions": [{"kind": "real", "name": "x0", "lo": 0.0, "hi": 1.0, "log": false}, {"kind": "real", "name": "x1", "lo": -5.0, "hi": 5.0, "log": false}], "constraints": []}, "fidelities": [{"name": "fidelity 0", "cost": 1.0, "zeta": null, "noise": null}, {"name": "fidelity 1", "cost": 10.0, "zeta": 0.0, "noise": null}], "strategy": {"name": "random", "options": {}}, "surrogate": {"name": "se", "options": {}}, "maximiser": {"name": "direct", "options": {}}, "direction": "maximize", "capital": 300.0, "seed": 0}',1741104771);
CREATE TABLE mfopt_arrays (
        study TEXT NOT NULL REFERENCES mfopt_studies (name),
        name TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (study, name)
    );
CREATE TABLE mfopt_trials (
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
    );
INSERT INTO mfopt_trials VALUES('wing',0,'[0.8486500432887727, -2.4574217251091923]','[0.8486500432887727, 0.25425782748908077]',1,10.0,'{"type": "Reason", "kind": "random", "text": "uniform at random", "fidelity": 1, "t": 1, "beta": 0.0, "fidelities": [], "mean": [], "width": [], "zeta": [], "phi": [], "gamma": [], "bound": "upper"}','old',NULL);
INSERT INTO mfopt_trials VALUES('wing',1,'[0.19736126233910434, -3.9748420636542425]','[0.19736126233910434, 0.10251579363457575]',1,10.0,'{"type": "Reason", "kind": "random", "text": "uniform at random", "fidelity": 1, "t": 2, "beta": 0.0, "fidelities": [], "mean": [], "width": [], "zeta": [], "phi": [], "gamma": [], "bound": "upper"}','old',NULL);
INSERT INTO mfopt_trials VALUES('wing',2,'[0.8062347352442338, -3.3554370356132357]','[0.8062347352442338, 0.16445629643867643]',1,10.0,'{"type": "Reason", "kind": "random", "text": "uniform at random", "fidelity": 1, "t": 3, "beta": 0.0, "fidelities": [], "mean": [], "width": [], "zeta": [], "phi": [], "gamma": [], "bound": "upper"}','old',1700003600.0);
INSERT INTO mfopt_trials VALUES('wing',3,'[0.25, 1.0]','[0.25, 0.6]',0,2.5,NULL,NULL,NULL);
INSERT INTO mfopt_trials VALUES('wing',4,'[0.9017506390938482, -2.982196953030302]','[0.9017506390938482, 0.20178030469696984]',1,10.0,'{"type": "Reason", "kind": "random", "text": "uniform at random", "fidelity": 1, "t": 4, "beta": 0.0, "fidelities": [], "mean": [], "width": [], "zeta": [], "phi": [], "gamma": [], "bound": "upper"}','old',1700003600.0);
CREATE TABLE mfopt_events (
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
    );
INSERT INTO mfopt_events VALUES('wing',1,'ask',0,NULL,NULL,1700000000.0,4090789456);
INSERT INTO mfopt_events VALUES('wing',2,'ask',1,NULL,NULL,1700000000.0,1487506214);
INSERT INTO mfopt_events VALUES('wing',3,'ask',2,NULL,NULL,1700000000.0,1772925862);
INSERT INTO mfopt_events VALUES('wing',4,'tell',0,1.5,NULL,1700000000.0,3106096113);
INSERT INTO mfopt_events VALUES('wing',5,'tell',1,NULL,NULL,1700000000.0,1780204409);
INSERT INTO mfopt_events VALUES('wing',6,'add',3,3.0,NULL,1700000000.0,3793889589);
INSERT INTO mfopt_events VALUES('wing',7,'ask',4,NULL,NULL,1700000000.0,277456716);
INSERT INTO mfopt_events VALUES('wing',8,'capital',NULL,400.0,NULL,1700000000.0,1386730136);
CREATE UNIQUE INDEX mfopt_asked_once ON mfopt_events (study, trial) WHERE kind IN ('ask', 'add');
CREATE UNIQUE INDEX mfopt_told_once ON mfopt_events (study, trial) WHERE kind IN ('tell', 'add');
CREATE INDEX mfopt_leases ON mfopt_trials (study, lease) WHERE lease IS NOT NULL;
