# Sourced by the other scripts: a virtual environment with wmcc and the named extras, made or brought up to date.
# The interpreter can be chosen with PYTHON=python3.12; the folder with VENV=path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV:-.venv}

setup() { # setup [EXTRA[,EXTRA...]]
    [ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
    # The stamp holds the state of what is built, and a line for each set of extras installed since.
    local stamp="$venv/.wmcc" state extras="extras ${1:-none}"
    state=$(cat pyproject.toml setup.py src/wmcc/core/kernel/native/* | cksum)
    if [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$state" ] && grep -qx "$extras" "$stamp"; then
        return
    fi
    PYTHONWARNINGS=ignore "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".${1:+[$1]}"
    if [ "$("$venv/bin/python" -c 'from wmcc.core.kernel import kernel; print(kernel())')" != compiled ]; then
        echo "The C kernel was not built. To see why: $venv/bin/python -m pip install --verbose --editable ." >&2
        echo "It needs a C compiler and Python's headers (python3-dev on Debian)." >&2
        return # not stamped: the next run tries again
    fi
    [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$state" ] || echo "$state" >"$stamp"
    echo "$extras" >>"$stamp"
}
