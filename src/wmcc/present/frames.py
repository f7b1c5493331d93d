"""Tidy rows as data frames, and as the files that frame libraries write."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Literal

from ..errors import InputError, MissingDependencyError
from ..optional import EXTRAS, pip_install
from .json_csv import Record, columns, no_formula

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
EXCEL: dict[Backend, str] = {"pandas": "openpyxl", "polars": "xlsxwriter"}
"""What writes Excel files for each library."""

TEXTS = ("class", "of", "problem", "statement", "winner", "verdict", "warnings")
"""Columns that hold text where they hold anything; others without a value are columns of numbers."""


def frame(records: Sequence[Record], backend: Backend, names: Sequence[str] = ()) -> Any:
    """Make a frame of rows: a column of the same kind whatever it holds, with missing values where there is none.

    Without rows it has the columns ``names``.
    """
    import narwhals as nw

    if backend not in BACKENDS:
        raise InputError.of("backend", backend, "'pandas', 'polars' or 'pyarrow'")
    _check_installed([backend], f"a frame of {backend}", BACKENDS)
    data: dict[str, Any] = {name: [record.get(name) for record in records] for name in columns(records) or names}
    if backend == "pandas":
        import pandas as pd

        data = {name: pd.array(own) if _whole_with_gaps(own) else own for name, own in data.items()}
    schema = {name: kind for name, own in data.items() if (kind := _kind(nw, name, own)) is not None}
    made = nw.from_dict(data, backend=backend)
    return made.with_columns(nw.col(name).cast(kind) for name, kind in schema.items()).to_native()


def _whole_with_gaps(values: list[Any]) -> bool:
    """Whether pandas would make floats of integers: where some are missing."""
    return None in values and any(type(x) is int for x in values) and not any(isinstance(x, float) for x in values)


def _kind(nw: Any, name: str, values: Any) -> Any:
    """Return the type of a column whose values do not tell it, or tell a narrower one; None for any other."""
    known = [x for x in values if x is not None]
    if not known:
        return nw.String if name in TEXTS else nw.Float64
    return nw.Float64 if any(isinstance(x, float) for x in known) else None


def parquet(records: Sequence[Record], names: Sequence[str] = ()) -> bytes:
    """Return a Parquet file, written by the first library that is installed."""
    import narwhals as nw

    backend = next((name for name in ("pyarrow", "polars") if find_spec(name)), None)
    if backend is None:
        raise MissingDependencyError(
            "a Parquet file needs pyarrow or polars, and neither is installed.", pip_install("arrow")
        )
    held = io.BytesIO()
    nw.from_native(frame(records, backend, names)).write_parquet(held)  # type: ignore[arg-type]
    return held.getvalue()


def excel(records: Sequence[Record], names: Sequence[str] = ()) -> bytes:
    """Return an Excel file, written by pandas or polars; no text in it is a formula."""
    safe = [{name: no_formula(x) for name, x in record.items()} for record in records]
    there = [library for library, writer in EXCEL.items() if find_spec(library) and find_spec(writer)]
    library: Backend = next(iter(there), next((name for name in EXCEL if find_spec(name)), "pandas"))
    _check_installed([library, EXCEL[library]], "an Excel file")
    held, made = io.BytesIO(), frame(safe, library, names)
    made.to_excel(held, index=False) if library == "pandas" else made.write_excel(held)
    return held.getvalue()


def _check_installed(names: Sequence[str], what: str, instead: Sequence[str] = ()) -> None:
    missing = [name for name in names if not find_spec(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        other = next((f", or to_frame({name!r}) for a frame of {name}" for name in instead if find_spec(name)), "")
        said = f"{what} needs {' and '.join(names)}; {' and '.join(missing)} {verb} not installed."
        raise MissingDependencyError(said, pip_install(*(EXTRAS.get(name) for name in missing)) + other)
