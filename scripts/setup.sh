# Sourced by the other scripts: a virtual environment with wmcc and the named extras, made or brought up to date.
# The interpreter can be chosen with PYTHON=python3.12; the folder with VENV=path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV:-.venv}

setup() { # setup [EXTRA[,EXTRA...]]
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
    # Reinstalls when the extras, the metadata or the C sources have changed since the last time.
    local extras=${1:+[$1]} stamp="$venv/.wmcc-${1:-plain}" state
    state=$(cat pyproject.toml src/wmcc/tally/native/* | cksum)
    if [ "$(cat "$stamp" 2>/dev/null)" != "$state" ]; then
        PYTHONWARNINGS=ignore "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".$extras"
        echo "$state" >"$stamp"
    fi
}
