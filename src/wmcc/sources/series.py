"""Series of pandas, polars and PyArrow: codes and categories as the engine keeps them, without decoding.

Nothing is imported here: an engine whose object the caller holds is loaded already.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies

from ..core.labels import SKIP_MISSING
from ..errors import InputError, InputTypeError, LabelError

Coded = tuple[Any, Any]
"""Integers and what they stand for (a mapping or a sequence), or plain values and None."""


def labels(data: Any, name: str, first: int, skip_missing: bool) -> Coded:
    """Codes and categories of a series, or its values and None; what is no series is passed on.

    ``first`` is the number of its first row, for messages. Missing labels are a category, or refused.
    """
    data = _text_of_arrow(_native(data))
    read = _reader(data)
    if read is None:
        return data, None
    row = _missing(data)
    if row is not None and skip_missing:
        return group_codes(data)
    if row is not None:
        raise LabelError(f"{name}[{row + first}] is missing; every row needs a label.", SKIP_MISSING)
    coded: Coded = read(data)
    return coded


def weights(data: Any, name: str) -> Any:
    """Values of a series, NaN where one is missing; what is no series is passed on."""
    data = _native(data)
    if _reader(data) is None:
        return data
    if _is_categorical(data):
        raise InputTypeError(f"{name} is categorical; a weight must be a real number.")
    kind = getattr(data, "dtype", None)
    if (isinstance(kind, np.dtype) and kind.kind == "f") or _missing(data) is None:  # NaN is what a missing float is
        return _values(data)
    # The kernel says which row is bad, if it is one that counts.
    if dependencies.is_polars_series(data):
        return _values(data.cast(sys.modules["polars"].Float64))
    return _values(data.cast("float64")) if _is_arrow(data) else data.to_numpy("float64", na_value=np.nan)


def group_codes(data: Any) -> tuple[Any, list[Any]]:
    """Integers for the values of a series of any type, and the values they stand for; missing ones are a value too."""
    data = _text_of_arrow(data)
    if dependencies.is_polars_series(data):
        values = data.unique().to_frame("value").with_row_index("code")
        found = data.to_frame("value").join(values, on="value", how="left", nulls_equal=True, maintain_order="left")
        return found["code"].to_numpy(), values["value"].to_list()
    if _is_arrow(data):
        # Not null_encoding="encode": dictionaries with nulls cannot be unified, and columns that are encoded already
        # would keep theirs.
        data = _whole(data.dictionary_encode())
        known = [*data.dictionary.to_pylist(), None]
        return _values(data.indices.cast("int64").fill_null(len(known) - 1)), known
    codes, values = data.factorize(use_na_sentinel=False)
    return codes, values.tolist()


def _native(data: Any) -> Any:
    return nw.to_native(data) if dependencies.is_narwhals_series(data) else data


def _text_of_arrow(data: Any) -> Any:
    """Text of pandas that Arrow holds, as Arrow has it, without objects on the way; all else as it is."""
    kind: Any = getattr(data, "dtype", None)
    of_arrow = hasattr(kind, "pyarrow_dtype") and _is_text(kind.pyarrow_dtype)
    if not (of_arrow or str(getattr(kind, "storage", "")).startswith("pyarrow")):
        return data
    return getattr(data, "array", data).__arrow_array__()


def _reader(data: Any) -> Any:
    if dependencies.is_polars_series(data):
        return _polars
    if _is_arrow(data):
        return _arrow
    return _pandas if _is_pandas(data) else None


def _is_arrow(data: Any) -> bool:
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(data, (pyarrow.Array, pyarrow.ChunkedArray))


def _is_pandas(data: Any) -> bool:
    if dependencies.is_pandas_like_series(data) or dependencies.is_pandas_like_index(data):
        return True
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "isna") and hasattr(data, "dtype")


def _is_categorical(data: Any) -> bool:
    if _is_arrow(data):
        return bool(sys.modules["pyarrow"].types.is_dictionary(data.type))
    return str(data.dtype).partition("(")[0] in ("category", "Categorical", "Enum")


def _is_text(kind: Any) -> bool:
    """Whether a type of Arrow is one of text."""
    types = sys.modules["pyarrow"].types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _missing(data: Any) -> int | None:
    """Return the first missing row, if any."""
    if dependencies.is_polars_series(data):
        return data.is_null().to_list().index(True) if data.null_count() else None
    if _is_arrow(data):
        return data.is_null().to_pylist().index(True) if data.null_count else None
    null = np.asarray(data.isna())
    return int(np.argmax(null)) if null.any() else None


def _values(data: Any) -> Any:
    whole_array = _is_arrow(data) and hasattr(data, "buffers")
    return np.asarray(data.to_numpy(zero_copy_only=False) if whole_array else data.to_numpy())


def _pandas(data: Any) -> Coded:
    if _is_categorical(data):
        coded = data.cat if hasattr(data, "cat") else data
        return np.asarray(coded.codes), coded.categories
    values = _values(data)
    objects = str(data.dtype) == "object" or getattr(data.dtype, "storage", "") == "python"  # text, or a mix of types
    if values.dtype.kind == "O" and not objects:
        codes, uniques = data.factorize()
        return codes, uniques
    return values, None


def _polars(data: Any) -> Coded:
    polars = sys.modules["polars"]
    if data.dtype == polars.String:
        data = data.cast(polars.Categorical)
    elif not _is_categorical(data):
        return _values(data), None
    codes = data.to_physical()
    known = data.gather(codes.arg_unique())  # which takes half the time of unique
    return _values(codes), dict(zip(known.to_physical(), known.cast(polars.String), strict=True))


def _arrow(data: Any) -> Coded:
    if _is_text(data.type):
        data = data.dictionary_encode()
    if not _is_categorical(data):
        return _values(data), None
    data = _whole(data)
    return _values(data.indices), data.dictionary.to_pylist()


def _whole(data: Any) -> Any:
    """Encoded values of Arrow as one array, whose codes all stand for something: Arrow does not look."""
    compute = importlib.import_module("pyarrow.compute")
    for part in [data] if hasattr(data, "buffers") else data.chunks:
        ends = compute.min_max(part.indices)
        if len(part) > part.null_count and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < len(part.dictionary):
            raise InputError(
                f"a code of encoded text lies outside its dictionary of {len(part.dictionary):,}.",
                "the data are damaged; create them again.",
            )
    # Chunks may have different dictionaries.
    return data if hasattr(data, "buffers") else data.unify_dictionaries().combine_chunks()
