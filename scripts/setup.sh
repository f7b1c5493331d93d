# Sourced by the other scripts: a virtual environment with wmcc and what it is used with, made or brought up to date.
# The interpreter can be chosen with PYTHON=python3.12; the folder with VENV=path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV:-.venv}

new_venv() { # FOLDER: an environment whose pip knows dependency groups, which that of Python 3.11 does not
    [ -x "$1/bin/python" ] || "${PYTHON:-python3}" -m venv "$1"
    "$1/bin/python" -c 'import pip; raise SystemExit(tuple(map(int, pip.__version__.split(".")[:2])) < (25, 1))' ||
        "$1/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
}

setup() { # setup [NAME[,NAME...]]: extras and dependency groups of pyproject.toml
    # The stamp holds the state of what is built, and a line for each set of names installed since.
    local stamp="$venv/.wmcc" state names="names ${1:-none}" wanted
    state=$(cat pyproject.toml setup.py src/wmcc/core/kernel/native/* | cksum)
    if [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$state" ] && grep -qx "$names" "$stamp"; then
        return
    fi
    new_venv "$venv"
    wanted=$("$venv/bin/python" - "${1:-}" <<'PY'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    known = tomllib.load(file)
names = sys.argv[1].split(",") if sys.argv[1] else []
groups = [name for name in names if name in known["dependency-groups"]]
extras = ",".join(name for name in names if name not in groups)
print("--editable", f".[{extras}]" if extras else ".", *(word for name in groups for word in ("--group", name)))
PY
    )
    # shellcheck disable=SC2086 # words of their own
    PYTHONWARNINGS=ignore "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $wanted
    if [ "$("$venv/bin/python" -c 'from wmcc.core.kernel import kernel; print(kernel())')" != compiled ]; then
        echo "The C kernel was not built. To see why: $venv/bin/python -m pip install --verbose --editable ." >&2
        echo "It needs a C compiler and Python's headers (python3-dev on Debian)." >&2
        return # not stamped: the next run tries again
    fi
    [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$state" ] || echo "$state" >"$stamp"
    echo "$names" >>"$stamp"
}
