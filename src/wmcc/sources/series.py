"""Series of pandas, polars and PyArrow: codes and categories as the engine keeps them, without decoding.

Nothing is imported here: an engine whose object the caller holds is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies

from ..arraytypes import Array
from ..errors import InputTypeError, LabelError, WeightError
from ..labels import Label, as_label

Coded = tuple[Array, dict[int, Label] | None]


def labels(data: Any, name: str) -> Coded | None:
    """Integers and what they stand for, or plain values and None; None if ``data`` is no series."""
    if dependencies.is_narwhals_series(data):
        data = nw.to_native(data)
    for is_series, read in _READERS:
        if is_series(data):
            return read(data, name)
    return None


def weights(data: Any, name: str) -> Any:
    """Return the values of a series as an array, anything else as it is. Missing weights are refused."""
    if dependencies.is_narwhals_series(data):
        data = nw.to_native(data)
    for is_series, _ in _READERS:
        if is_series(data):
            missing, values = _missing(data), data
            if missing is not None:
                raise WeightError(
                    f"{name}[{missing}] is missing; every row needs a weight.", "drop or impute such rows."
                )
            if (_is_arrow(data) and "dictionary" in str(data.type)) or "category" in str(getattr(data, "dtype", "")):
                raise InputTypeError(f"{name} is categorical; a weight must be a real number.")
            return np.asarray(values.to_numpy(zero_copy_only=False) if _is_arrow_array(data) else values.to_numpy())
    return data


def _is_arrow_array(data: Any) -> bool:
    return (
        type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "null_count") and not _is_chunked(data)
    )


def _is_chunked(data: Any) -> bool:
    return dependencies.is_pyarrow_chunked_array(data)


def _is_arrow(data: Any) -> bool:
    return _is_chunked(data) or _is_arrow_array(data)


def _is_pandas(data: Any) -> bool:
    if dependencies.is_pandas_like_series(data) or dependencies.is_pandas_like_index(data):
        return True
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "isna") and hasattr(data, "dtype")


def _missing(data: Any) -> int | None:
    """Return the first missing row, if any."""
    if dependencies.is_polars_series(data):
        return data.is_null().to_list().index(True) if data.null_count() else None
    if _is_arrow(data):
        return data.is_null().to_pylist().index(True) if data.null_count else None
    null = np.asarray(data.isna())
    return int(np.argmax(null)) if null.any() else None


def _refuse_missing(data: Any, name: str) -> None:
    row = _missing(data)
    if row is not None:
        raise LabelError(f"{name}[{row}] is missing; every row needs a label.", "drop or impute such rows first.")


def _named(codes: Any, values: Iterable[Any], name: str) -> Coded:
    return np.asarray(codes), {k: as_label(x, f"a category of {name}") for k, x in enumerate(values)}


def _pandas(data: Any, name: str) -> Coded:
    _refuse_missing(data, name)
    if str(data.dtype) == "category":
        coded = data.cat if hasattr(data, "cat") else data
        return _named(coded.codes, coded.categories, name)
    values = data.to_numpy()
    if values.dtype.kind == "O" and str(data.dtype) != "object":  # text of any backend, but not a mix of types
        codes, uniques = data.factorize()
        return _named(codes, uniques, name)
    return values, None


def _polars(data: Any, name: str) -> Coded:
    _refuse_missing(data, name)
    polars = sys.modules["polars"]
    kind = str(data.dtype).partition("(")[0]
    if kind == "String":
        data = data.cast(polars.Categorical)
    elif kind not in ("Categorical", "Enum"):
        return data.to_numpy(), None
    known = data.unique()
    categories = zip(known.to_physical().to_list(), known.cast(polars.String).to_list(), strict=True)
    return data.to_physical().to_numpy(), {k: as_label(x, f"a category of {name}") for k, x in categories}


def _arrow(data: Any, name: str) -> Coded:
    _refuse_missing(data, name)
    if "string" in str(data.type) and "dictionary" not in str(data.type):
        data = data.dictionary_encode()
    if "dictionary" not in str(data.type):
        return np.asarray(data.to_numpy() if _is_chunked(data) else data.to_numpy(zero_copy_only=False)), None
    if _is_chunked(data):
        data = data.unify_dictionaries().combine_chunks()
    return _named(data.indices.to_numpy(zero_copy_only=False), data.dictionary.to_pylist(), name)


_READERS = (
    (dependencies.is_polars_series, _polars),
    (_is_arrow, _arrow),
    (_is_pandas, _pandas),
)
