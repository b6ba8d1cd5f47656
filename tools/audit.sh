#!/bin/sh
# Ask a public database for known vulnerabilities of the versions in requirements-dev.lock (pip-audit, in an environment
# of its own). It needs a package index and the database, https for both; without them nothing is audited, and it fails.
set -eu
environment=build/audit
[ -d "$environment" ] || "${PYTHON:-python3}" -m venv "$environment"
if ! "$environment/bin/python" -m pip --disable-pip-version-check install -q pip-audit >"$environment/log" 2>&1; then
    tail -n 3 "$environment/log"
    echo "pip-audit cannot be installed, so nothing was audited: is a package index reachable?"
    exit 1
fi
if "$environment/bin/pip-audit" -r requirements-dev.lock --no-deps --disable-pip --progress-spinner off --timeout 15 \
    >"$environment/log" 2>&1; then
    cat "$environment/log"
elif grep -qE "ConnectionError|ServiceError|Max retries|Timeout|Could not connect|ProxyError" "$environment/log"; then
    tail -n 1 "$environment/log"
    echo "the database of vulnerabilities cannot be reached from here, so nothing was audited"
    exit 1
else
    cat "$environment/log"
    exit 1
fi
