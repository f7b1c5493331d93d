"""The calls of the golden corpus: small data, the same on every machine, from every source there is."""

from __future__ import annotations

import array
import gzip
import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from corpus import Case, Group, Opened

GROUPS: dict[str, Group] = {}


def group(name: str, *needs: str) -> Callable[[Callable[[], Iterator[Case]]], Callable[[], Iterator[Case]]]:
    """Register a function that makes cases; it is called where all the packages are installed."""

    def add(cases: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
        GROUPS[name] = Group(cases, needs)
        return cases

    return add


def opened(data: Any, **options: Any) -> Opened:
    """A raster of which something is said."""
    return Opened(data, options)


# ---- data, from a generator that no version changes ---------------------------------------------------------


def draws(count: int, below: int, seed: int) -> Any:
    """Whole numbers below a limit."""
    make = random.Random(seed)
    return np.array([int(make.random() * below) for _ in range(count)])


def labels(count: int, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """True labels, and predictions of which three in four are right."""
    t, p, right = (draws(count, below, 10 * seed + k) for k, below in enumerate((classes, classes, 2)))
    return t, np.where(right == 1, t, p)


def rough(count: int, seed: int = 7) -> Any:
    """Weights of several sizes, whose sums no float holds."""
    return np.ldexp((1 + draws(count, 10**6, seed)) / 7, draws(count, 6, seed + 1) - 16)


def eighths(count: int, seed: int = 7) -> Any:
    """Weights whose sums, and sums of squares, no engine rounds."""
    return (1 + draws(count, 64, seed)) / 8


N = 24
T, P = labels(N)
Q = labels(N, seed=3)[1]
W, E = rough(N), eighths(N)
WORDS = np.array(["ash", "böhmische Eiche", "elm"])
TEXT, SAID, OTHER = WORDS[T], WORDS[P], WORDS[Q]
REGION = np.array(["north", "south"])[draws(N, 2, 41)]
TILE = draws(N, 6, 42)
SIZES = {"north": 5200, "south": 813.5}


# ---- arrays -----------------------------------------------------------------------------------------------------

KINDS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">i2", ">u4", ">i8", ">f4", ">f8"]


def strided(x: Any) -> Any:
    wide = np.zeros((len(x), 3), dtype=np.asarray(x).dtype)
    wide[:, 1] = x
    return wide[:, 1]


def read_only(x: Any) -> Any:
    own = np.array(x)
    own.flags.writeable = False
    return own


def unaligned(x: Any) -> Any:
    own = np.ascontiguousarray(x)
    return np.frombuffer(b"-" + own.tobytes(), dtype=own.dtype, offset=1)


class InterfaceOnly:
    """An object that speaks the array interface and nothing else."""

    def __init__(self, own: Any) -> None:
        self.__array_interface__ = own.__array_interface__
        self._keep = own


class DLPackOnly:
    """An object that speaks DLPack and nothing else."""

    def __init__(self, own: Any) -> None:
        self._array = own

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "objects": lambda x: x.astype(object),
    "strided": strided,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "masked": np.ma.array,
}
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "memoryview": memoryview,
    "array.array": lambda x: array.array("q" if x.dtype.kind == "i" else "d", x.tolist()),
    "array interface": InterfaceOnly,
    "dlpack": DLPackOnly,
}


@group("numbers")
def numbers() -> Iterator[Case]:
    """Arrays of numbers of every type and layout, and their weights."""
    yield Case("plain", "arrays", {"y_true": T, "y_pred": P, "sample_weight": W}, depth="certificate")
    yield Case("unweighted", "arrays", {"y_true": T, "y_pred": P}, depth="certificate")
    for kind in KINDS:
        t, p = ((x > 0 if kind == "?" else x).astype(kind) for x in (T, P))
        yield Case(f"labels {kind}", "arrays", {"y_true": t, "y_pred": p, "sample_weight": W})
        sort = np.dtype(kind)
        own = W if sort.kind == "f" and sort.itemsize > 2 else E if sort.kind == "f" else np.floor(E)
        w = own.astype(kind)
        yield Case(f"weights {kind}", "arrays", {"y_true": T, "y_pred": P, "sample_weight": w}, depth="table")
    for a, b in (("i1", "u8"), ("u1", ">i4"), ("?", "i8"), ("f4", "i2")):
        t, p = T.astype(a), P.astype(b)
        yield Case(f"labels {a} and {b}", "arrays", {"y_true": t, "y_pred": p}, depth="table")
    for name, make in {**LAYOUTS, **NUMBERS}.items():
        yield Case(f"labels, {name}", "arrays", {"y_true": make(T), "y_pred": make(P)}, depth="table")
        yield Case(f"weights, {name}", "arrays", {"y_true": T, "y_pred": P, "sample_weight": make(W)}, depth="table")
    exact = {"decimals": [Decimal(x) for x in W.tolist()], "fractions": [Fraction(x) for x in W.tolist()]}
    for name, own in exact.items():
        yield Case(f"weights, {name}", "arrays", {"y_true": T, "y_pred": P, "sample_weight": own}, depth="table")
    wide = np.array([-(2**62), 2**62, 5])
    yield Case("wide labels", "arrays", {"y_true": wide[T], "y_pred": wide[P], "sample_weight": W})
    yield Case("labels above 2**63", "arrays", {"y_true": np.uint64(2**63) + T.astype("u8"), "y_pred": P})
    yield Case("a single class", "arrays", {"y_true": [4, 4], "y_pred": [4, 4], "sample_weight": [1.0, 0.1]})
    yield Case("no rows", "arrays", {"y_true": [], "y_pred": []})
    yield Case("many classes", "arrays", {"y_true": np.arange(300), "y_pred": np.arange(300) // 2 * 2})
    extreme = np.array([1e300, 5e-324, 0.0, 1e-200, 2.2e-308, 0.1])[draws(N, 6, 5)]
    far = np.ldexp(W, draws(N, 1800, 6) - 900)
    yield Case("weights of all sizes", "arrays", {"y_true": T, "y_pred": P, "sample_weight": far})
    yield Case("extreme weights", "arrays", {"y_true": T, "y_pred": P, "sample_weight": extreme})
    narrow = (W * 1e-40).astype("f4")
    yield Case("subnormal float32", "arrays", {"y_true": T, "y_pred": P, "sample_weight": narrow})
    yield Case("no weight", "arrays", {"y_true": T, "y_pred": P, "sample_weight": np.zeros(N)})
    t, p, w = np.tile(T, 9000), np.tile(P, 9000), np.resize(rough(999), 9000 * N)
    yield Case("many rows", "arrays", {"y_true": t, "y_pred": p, "sample_weight": w}, depth="certificate")
    yield Case("many rows, narrow", "arrays", {"y_true": t.astype("u1"), "y_pred": p.astype("i2"), "sample_weight": w})
    yield Case("many rows, floats", "arrays", {"y_true": t * 1.0, "y_pred": p, "sample_weight": w.astype("f4")})
    yield Case("many rows, text", "arrays", {"y_true": WORDS[t[:90_000]], "y_pred": WORDS[p[:90_000]]})


@group("text")
def text() -> Iterator[Case]:
    """Labels that are text."""
    makes: dict[str, Callable[[Any], Any]] = {
        **LAYOUTS,
        "wide": lambda x: x.astype("U40"),
        "another byte order": lambda x: x.astype(x.dtype.newbyteorder(">")),
        "bytes": lambda x: np.array([own.encode() for own in x.tolist()]),
    }
    for name, make in makes.items():
        yield Case(name, "arrays", {"y_true": make(TEXT), "y_pred": make(SAID), "sample_weight": W}, depth="table")
    yield Case("scored", "arrays", {"y_true": TEXT, "y_pred": SAID, "sample_weight": W}, depth="certificate")
    yield Case("one by one", "arrays", {"y_true": ["b", "a", "a"], "y_pred": ["a", "a", "b"]})
    odd = ["", "NA", " a", "a ", "it's", 'say "x"', "\u200bz", "9", "10"]
    yield Case("odd words", "arrays", {"y_true": odd, "y_pred": odd[1:] + odd[:1]})
    yield Case("numbers in text", "arrays", {"y_true": ["10", "9", "9"], "y_pred": ["9", "10", "9"]})
    yield Case("booleans", "arrays", {"y_true": [True, False, True], "y_pred": [True, True, False]})
    yield Case("booleans and numbers", "arrays", {"y_true": np.array([True, False, True]), "y_pred": [1, 1, 0]})


@group("series of pandas", "pandas")
def series_of_pandas() -> Iterator[Case]:
    """Series of pandas, by type."""
    import pandas as pd

    yield from _series(
        {
            "int64": lambda x: pd.Series(x),
            "Int64": lambda x: pd.Series(x, dtype="Int64"),
            "an index": pd.Index,
            "an odd index": lambda x: pd.Series(x, index=[7] * len(x)),
            "category": lambda x: pd.Series(x).astype("category"),
            "Categorical": pd.Categorical,
            "objects": lambda x: pd.Series(x, dtype=object),
        },
        {
            "text": lambda x: pd.Series(x),
            "string[python]": lambda x: pd.Series(x, dtype="string[python]"),
            "category of text": lambda x: pd.Series(x).astype("category"),
            "ordered": lambda x: pd.Categorical(x, categories=WORDS[::-1].tolist(), ordered=True),
        },
        {
            "float64": lambda x: pd.Series(x),
            "Float64": lambda x: pd.Series(x, dtype="Float64"),
            "float32": lambda x: pd.Series(x, dtype="float32"),
        },
    )
    gap = pd.Series([1, None, 2, 1], dtype="Int64")
    yield Case("missing", "arrays", {"y_true": gap, "y_pred": [1, 1, 2, 2]})
    yield Case("missing, ignored", "arrays", {"y_true": gap, "y_pred": [1, 1, 2, 2], "missing": "ignore"})
    shifted = {"y_true": pd.Series(T), "y_pred": pd.Series(P, index=range(1, N + 1))}
    yield Case("another index", "arrays", shifted)
    yield Case("a frame of weights", "arrays", {"y_true": T, "y_pred": P, "sample_weight": pd.DataFrame({"w": E})})
    of = {"y_true": pd.Series(T), "y_pred": pd.Series(P), "by": pd.Series(REGION), "cluster": pd.Series(TILE)}
    yield Case("keys", "arrays", of)


@group("series of polars", "polars")
def series_of_polars() -> Iterator[Case]:
    """Series of polars, by type."""
    import polars as pl

    yield from _series(
        {
            "Int64": pl.Series,
            "UInt8": lambda x: pl.Series(x, dtype=pl.UInt8),
        },
        {
            "String": lambda x: pl.Series(x.tolist()),
            "Categorical": lambda x: pl.Series(x.tolist(), dtype=pl.Categorical),
            "Enum": lambda x: pl.Series(x.tolist(), dtype=pl.Enum([*WORDS.tolist(), "never"])),
        },
        {
            "Float64": pl.Series,
            "Float32": lambda x: pl.Series(x, dtype=pl.Float32),
            "Decimal": lambda x: pl.Series([Decimal(round(8 * v)) / 8 for v in E.tolist()]),
        },
    )
    days = pl.Series([date(2025, 6, 1 + k) for k in TILE.tolist()])
    yield Case("days", "arrays", {"y_true": pl.Series(T), "y_pred": pl.Series(P), "by": days})


@group("series of Arrow", "pyarrow")
def series_of_arrow() -> Iterator[Case]:
    """Arrays of Arrow, by type."""
    import pyarrow as pa

    yield from _series(
        {
            "int64": pa.array,
            "uint16": lambda x: pa.array(x, type=pa.uint16()),
            "chunks": lambda x: pa.chunked_array([pa.array(x[:5]), pa.array(x[5:5]), pa.array(x[5:])]),
            "dictionary": lambda x: pa.array(x).dictionary_encode(),
        },
        {
            "string": lambda x: pa.array(x.tolist()),
            "large_string": lambda x: pa.array(x.tolist(), type=pa.large_string()),
            "dictionary of text": lambda x: pa.array(x.tolist()).dictionary_encode(),
            "chunks of dictionaries": lambda x: pa.chunked_array(
                [pa.array(x[:5].tolist()).dictionary_encode(), pa.array(x[5:].tolist()).dictionary_encode()]
            ),
        },
        {"double": pa.array, "float": lambda x: pa.array(x, type=pa.float32())},
    )


def _series(ints: Any, texts: Any, weights: Any) -> Iterator[Case]:
    for name, make in ints.items():
        yield Case(f"labels, {name}", "arrays", {"y_true": make(T), "y_pred": make(P), "sample_weight": W})
    for name, make in texts.items():
        yield Case(f"labels, {name}", "arrays", {"y_true": make(TEXT), "y_pred": make(SAID), "sample_weight": W})
    for name, make in weights.items():
        yield Case(f"weights, {name}", "arrays", {"y_true": T, "y_pred": P, "sample_weight": make(W)}, depth="table")


@group("tensors", "torch")
def tensors() -> Iterator[Case]:
    """Tensors of PyTorch on the CPU."""
    import torch

    for kind in (torch.uint8, torch.int16, torch.int64, torch.float32):
        t, p = (torch.tensor(x.tolist(), dtype=kind) for x in (T, P))
        yield Case(str(kind), "arrays", {"y_true": t, "y_pred": p, "sample_weight": torch.tensor(W.tolist())})
    t, p = (torch.tensor(x.reshape(4, 6).tolist()) for x in (T, P))
    yield Case("maps", "arrays", {"y_true": t, "y_pred": p.T.contiguous().T, "blocks": 2})


# ---- rules of labels --------------------------------------------------------------------------------------------


@group("rules")
def rules() -> Iterator[Case]:
    """Which labels are classes: ignore, missing, labels, names, positive."""
    t, p = T.copy(), P.copy()
    t[:4], p[2:7] = 255, 255
    w = W.copy()
    w[:2] = -1.0  # which are not read
    gaps = t.astype(object)
    gaps[[5, 9]] = None
    nans = t.astype(float)
    nans[7] = np.nan
    void = {"y_true": t, "y_pred": p, "sample_weight": w}
    rules_of: dict[str, dict[str, Any]] = {
        "ignore": {**void, "ignore": 255},
        "ignore several": {**void, "ignore": [255, 2]},
        "ignore what never comes": {"y_true": T, "y_pred": P, "ignore": 77},
        "ignore everything": {"y_true": T, "y_pred": P, "ignore": [0, 1, 2]},
        "not ignored": void,
        "missing": {"y_true": gaps, "y_pred": p, "ignore": 255},
        "missing, ignored": {"y_true": gaps, "y_pred": p, "ignore": 255, "missing": "ignore"},
        "nan": {"y_true": nans, "y_pred": P},
        "nan, ignored": {"y_true": nans, "y_pred": P, "missing": "ignore"},
        "masked": {"y_true": np.ma.array(T, mask=TILE == 2), "y_pred": P},
        "masked, ignored": {"y_true": np.ma.array(T, mask=TILE == 2), "y_pred": P, "missing": "ignore"},
        "labels": {"y_true": T, "y_pred": P, "labels": [2, 0, 1, 9]},
        "labels, a range": {"y_true": T, "y_pred": P, "labels": range(3)},
        "labels with names": {"y_true": T, "y_pred": P, "labels": {2: "elm", 0: "ash", 1: "oak"}},
        "labels and ignore": {**void, "labels": [0, 1, 2], "ignore": 255},
        "labels that lack one": {"y_true": T, "y_pred": P, "labels": [0, 1]},
        "labels that come twice": {"y_true": T, "y_pred": P, "labels": [0, 1, 1, 2]},
        "no labels": {"y_true": T, "y_pred": P, "labels": []},
        "labels of text": {"y_true": TEXT, "y_pred": SAID, "labels": WORDS[::-1].tolist()},
        "labels of another kind": {"y_true": T, "y_pred": P, "labels": ["0", "1", "2"]},
        "names": {"y_true": T, "y_pred": P, "names": {0: "water", 1: "wood", 2: "air", 7: "never"}},
        "names with ignore": {**void, "ignore": 255, "names": {0: "water", 1: "wood", 2: "air", 255: "void"}},
        "names that lack one": {"y_true": T, "y_pred": P, "names": {0: "water", 1: "wood"}},
        "one name for two": {"y_true": T, "y_pred": P, "names": {0: "water", 1: "wood", 2: "wood"}},
        "positive": {"y_true": T > 0, "y_pred": P > 0, "positive": True},
        "positive, by text": {"y_true": WORDS[T // 2], "y_pred": WORDS[P // 2], "positive": "ash"},
        "positive of three": {"y_true": T, "y_pred": P, "positive": 1},
        "positive that is no label": {"y_true": T > 0, "y_pred": P > 0, "positive": "yes"},
        "ignore in text": {"y_true": TEXT, "y_pred": SAID, "ignore": "elm"},
        "ignore of another kind": {"y_true": T, "y_pred": P, "ignore": "elm"},
        "ignore that is a class": {"y_true": T, "y_pred": P, "labels": [0, 1, 2], "ignore": 2},
        "missing misspelt": {"y_true": T, "y_pred": P, "missing": "drop"},
        "like missing": {"y_true": ["NA", "b"], "y_pred": ["b", "b"]},
    }
    for name, given in rules_of.items():
        yield Case(name, "arrays", given)


@group("wrong arrays")
def wrong_arrays() -> Iterator[Case]:
    """What no table can be made of."""
    bad = W.copy()
    one = {"y_true": T, "y_pred": P}
    wrong: dict[str, dict[str, Any]] = {
        "lengths": {"y_true": T, "y_pred": P[1:]},
        "length of weights": {**one, "sample_weight": W[1:]},
        "shapes": {"y_true": T.reshape(4, 6), "y_pred": P.reshape(6, 4)},
        "one-hot": {"y_true": T, "y_pred": np.eye(3)[P]},
        "probabilities": {"y_true": T, "y_pred": np.full(N, 0.3)},
        "a scalar": {"y_true": 1, "y_pred": 1},
        "nothing": {},
        "one side": {"y_true": T},
        "half a label": {"y_true": [0, 1.5], "y_pred": [0, 1]},
        "infinite label": {"y_true": [0, np.inf], "y_pred": [0, 1]},
        "kinds": {"y_true": ["a", 1], "y_pred": ["a", "a"]},
        "text and numbers": {"y_true": TEXT, "y_pred": P},
        "dates": {"y_true": np.array(["2025-01-01"] * 2, dtype="M8[D]"), "y_pred": [0, 1]},
        "complex": {"y_true": [1j, 0], "y_pred": [0, 1]},
        "dict label": {"y_true": [{}, {}], "y_pred": [0, 1]},
        "three dimensions of weights": {**one, "sample_weight": np.ones((2, 3, 4))},
        "text weights": {**one, "sample_weight": TEXT},
        "weights by name": {**one, "sample_weight": "area"},
        "threads 0": {**one, "threads": 0},
        "threads True": {**one, "threads": True},
        "a list of predictions": {"y_true": T, "y_pred": [P, Q]},
        "no predictions": {"y_true": T, "y_pred": {}},
        "predictions called by a tuple": {"y_true": T, "y_pred": {(1, 2): P}},
        "a column by position": {"y_true": {"t": T}, "y_pred": "t"},
        "all are ignored with by": {**one, "ignore": [0, 1, 2], "by": REGION},
    }
    for name, value in {"negative": -1.0, "nan": np.nan, "infinite": np.inf}.items():
        own = bad.copy()
        own[17] = value
        wrong[f"{name} weight"] = {**one, "sample_weight": own}
        wrong[f"{name} weight, float32"] = {**one, "sample_weight": own.astype("f4")}
    for name, given in wrong.items():
        yield Case(name, "arrays", given)
    for name in ("weights", "pos_label", "strata", "nodata", "average", "classes", "tresholds"):
        yield Case(f"keyword {name}", "arrays", {**one, name: None})


# ---- groups, clusters, designs ----------------------------------------------------------------------------------


@group("keys")
def keys() -> Iterator[Case]:
    """Groups and clusters of arrays."""
    one = {"y_true": T, "y_pred": P, "sample_weight": W}
    of: dict[str, Any] = {
        "text": REGION,
        "numbers": TILE,
        "floats": TILE / 4,
        "booleans": TILE > 2,
        "objects": np.array([f"k{k}" for k in TILE.tolist()], dtype=object),
        "days": np.array([f"2025-06-0{1 + k}" for k in TILE], dtype="M8[D]"),
        "a list": TILE.tolist(),
        "several": {"region": REGION, "tile": TILE},
    }
    for name, own in of.items():
        yield Case(f"by {name}", "arrays", {**one, "by": own})
        yield Case(f"cluster {name}", "arrays", {**one, "cluster": own})
    yield Case("by and cluster", "arrays", {**one, "by": REGION, "cluster": TILE}, depth="certificate")
    yield Case("by and labels", "arrays", {**one, "by": TILE, "labels": [0, 1, 2, 3]})
    yield Case("by and ignore", "arrays", {**one, "by": TILE, "ignore": 1})
    yield Case("cluster and ignore", "arrays", {**one, "cluster": TILE, "ignore": 1, "names": {0: "a", 2: "b", 1: "c"}})
    yield Case("one cluster", "arrays", {**one, "cluster": np.zeros(N)})
    missing = np.array([None, *TILE[1:]], dtype=object)
    yield Case("cluster missing", "arrays", {**one, "cluster": missing})
    yield Case("by missing", "arrays", {**one, "by": missing})
    yield Case("by too short", "arrays", {**one, "by": TILE[1:]})
    yield Case("by a name", "arrays", {**one, "by": "region"})
    yield Case("by of mixed kinds", "arrays", {**one, "by": np.array([1, "a"] * 12, dtype=object)})
    yield Case("no rows by", "arrays", {"y_true": [], "y_pred": [], "by": []})


@group("predictions")
def predictions() -> Iterator[Case]:
    """Several predictions of the same rows."""
    one = {"y_true": T, "y_pred": {"old": P, "new": Q}, "sample_weight": W}
    yield Case("two", "arrays", one, depth="certificate")
    yield Case("one", "arrays", {**one, "y_pred": {"only": P}})
    yield Case("three", "arrays", {**one, "y_pred": {"a": P, "b": Q, "t": T}})
    yield Case("numbers for names", "arrays", {**one, "y_pred": {1: P, 2: Q}})
    yield Case("text", "arrays", {"y_true": TEXT, "y_pred": {"old": SAID, "new": OTHER}})
    yield Case("by", "arrays", {**one, "by": REGION})
    yield Case("cluster", "arrays", {**one, "cluster": TILE})
    yield Case("strata", "arrays", {**one, "sample_weight": None, "stratum": REGION, "population": SIZES})
    yield Case("ignore", "arrays", {**one, "ignore": 0})
    yield Case("labels", "arrays", {**one, "labels": [2, 1, 0]})
    yield Case("names", "arrays", {**one, "names": {0: "x", 1: "y", 2: "z"}})
    yield Case("blocks", "arrays", {"y_true": T.reshape(4, 6), "y_pred": {"a": P.reshape(4, 6)}, "blocks": 2})
    yield Case("replicates", "arrays", {**one, "replicates": np.stack([E, E * 2, W]).T, "method": "brr"})
    yield Case("positive", "arrays", {**one, "positive": 1})
    yield Case("lengths", "arrays", {**one, "y_pred": {"old": P, "new": Q[1:]}})
    yield Case("missing in one", "arrays", {**one, "y_pred": {"old": P, "new": np.where(TILE == 1, np.nan, Q)}})


DESIGNS: dict[str, dict[str, Any]] = {
    "sizes": {"stratum": "stratum", "population": {"A": 40_000, "B": 30_000, "C": 2000.5, "D": 10_000}},
    "sizes in a column": {"stratum": "stratum", "population": "size"},
    "areas in a column": {"stratum": "number", "population": "ha"},
    "finite": {"stratum": "stratum", "population": "size", "fpc": True},
    "finite, in a column": {"stratum": "stratum", "weight": "w", "fpc": "size"},
    "weights": {"stratum": "number", "weight": "w"},
    "finite, weights": {"stratum": "stratum", "weight": "w", "population": "size", "fpc": True, "lonely": "adjust"},
    "two columns": {"stratum": ["stratum", "zone"], "weight": "w"},
    "clusters": {"stratum": "stratum", "cluster": "psu", "weight": "w"},
    "clusters of their own": {"stratum": "stratum", "cluster": "unit", "weight": "w", "nested": False},
    "clusters, finite": {"stratum": ["stratum"], "cluster": ["zone", "psu"], "population": "size", "fpc": "psus"},
    "the map": {"stratum": "map", "population": {"A": 9, "B": 8, "C": 7, "D": 60}},
    "post-strata": {"poststratum": "age", "totals": {"young": 120.5, "old": 80}},
    "post-strata in strata": {"stratum": "stratum", "poststratum": "age", "totals": "aged", "weight": "w"},
    "post-strata, clusters": {"stratum": "zone", "cluster": "psu", "poststratum": "age", "totals": "aged"},
    "post-strata, ignored": {"stratum": "zone", "poststratum": "age", "totals": "aged", "weight": "w", "ignore": "B"},
    "domains": {"stratum": "stratum", "population": "size", "by": "half"},
    "domains, post-strata": {"poststratum": "age", "totals": "aged", "by": ["half", "zone"], "weight": "w"},
    "two predictions": {"stratum": "stratum", "population": "size", "pred": {"old": "map", "new": "other"}},
    "ignored": {"stratum": "stratum", "population": "size", "ignore": "A"},
    "names": {"stratum": "stratum", "population": "size", "names": {x: x.lower() for x in "ABCD"}},
    "one size": {"population": 1000},
    "one finite size": {"fpc": 50, "weight": "w"},
    "lonely error": {"stratum": "lone", "weight": "w"},
    **{
        f"lonely {how}": {"stratum": "lone", "weight": "w", "lonely": how}
        for how in ("adjust", "average", "certainty", "collapse")
    },
    "clusters in two strata": {"stratum": "half", "cluster": "zone", "weight": "w", "nested": False},
    "weights twice": {"stratum": "stratum", "population": "size", "weight": "w"},
    "fpc without sizes": {"stratum": "stratum", "fpc": True},
    "fpc of clusters": {"stratum": "stratum", "cluster": "psu", "population": "size", "fpc": True},
    "fpc too small": {"stratum": "stratum", "weight": "w", "fpc": {"A": 9, "B": 10, "C": 11, "D": 12}},
    "one size for strata": {"stratum": "stratum", "weight": "w", "fpc": 30},
    "totals alone": {"totals": {"young": 3}},
    "post-strata alone": {"poststratum": "age"},
    "post-strata and sizes": {"stratum": "zone", "population": 9, "poststratum": "age", "totals": "aged"},
    "lonely alone": {"lonely": "adjust"},
    "nested alone": {"nested": False},
    "nested without clusters": {"stratum": "stratum", "nested": False},
    "lonely misspelt": {"stratum": "stratum", "lonely": "adapt"},
    "a size too few": {"stratum": "stratum", "population": {"A": 1, "B": 2, "C": 3}},
    "a stratum too many": {"stratum": "stratum", "population": {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}},
    "a size of nothing": {"stratum": "stratum", "population": {"A": 0, "B": 2, "C": 3, "D": 4}},
    "a negative size": {"stratum": "stratum", "population": {"A": -1, "B": 2, "C": 3, "D": 4}},
    "sizes that differ in a stratum": {"stratum": "half", "population": "size"},
    "no sizes": {"stratum": "stratum", "population": {}},
    "replicates, brr": {"weight": "w", "replicates": "rw*", "method": "brr"},
    "replicates, bootstrap": {"weight": "w", "replicates": ["rw0", "rw2"], "method": "bootstrap"},
    "replicates, jk1": {"weight": "w", "replicates": "rw*", "method": "jk1", "df": 2},
    "replicates, jkn": {"weight": "w", "replicates": "rw*", "method": "jkn", "scales": [0.5, 0.5, 0.75, 0.75]},
    "replicates, fay": {"weight": "w", "replicates": "rw*", "method": "fay", "fay": 0.3},
    "replicates, sdr": {"weight": "w", "replicates": "rw*", "method": "sdr"},
    "replicates, scales": {"weight": "w", "replicates": "rw*", "scales": 0.25, "df": 9.5},
    "replicates by": {"weight": "w", "replicates": "rw*", "method": "brr", "by": "half"},
    "replicates, ignored": {"weight": "w", "replicates": "rw*", "method": "brr", "ignore": "C"},
    "replicates of two": {"weight": "w", "replicates": "rw*", "method": "brr", "pred": {"a": "map", "b": "other"}},
    "replicates without weights": {"replicates": "rw*", "method": "brr"},
    "replicates without method": {"weight": "w", "replicates": "rw*"},
    "replicates in clusters": {"weight": "w", "replicates": "rw*", "method": "brr", "cluster": "psu"},
    "replicates, fay without k": {"weight": "w", "replicates": "rw*", "method": "fay"},
    "replicates, k without fay": {"weight": "w", "replicates": "rw*", "method": "brr", "fay": 0.3},
    "replicates, jkn without scales": {"weight": "w", "replicates": "rw*", "method": "jkn"},
    "replicates, scales of others": {"weight": "w", "replicates": "rw*", "method": "jkn", "scales": [0.5]},
    "replicates misspelt": {"weight": "w", "replicates": "rw*", "method": "brrr"},
    "replicates of one": {"weight": "w", "replicates": ["rw0"], "method": "brr"},
}
"""Designs of a sample in columns: of a frame, or as arrays in the place of names."""

KEYED = ("stratum", "cluster", "poststratum", "by", "population", "fpc", "totals")


def survey() -> dict[str, list[Any]]:
    """Forty sampled points, whose weights and sizes no engine rounds."""
    strata, truth = "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD", "AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB"
    mapped, k40 = "AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD", range(40)
    sizes = {"A": 40_000.0, "B": 30_000.0, "C": 20_000.0, "D": 10_000.0}
    rw = {f"rw{j}": (eighths(40, 50 + j) * (draws(40, 2, 60 + j))).tolist() for j in range(4)}
    return {
        "id": list(k40),
        "ref": list(truth),
        "map": list(mapped),
        "other": list(mapped[1:] + "A"),
        "stratum": list(strata),
        "number": ["ABCD".index(x) + 1 for x in strata],
        "zone": [k % 2 for k in k40],
        "psu": [k // 2 % 5 for k in k40],
        "unit": [k // 2 for k in k40],
        "lone": ["only" if k == 11 else "last" if k == 39 else x for k, x in enumerate(strata)],
        "w": [0.5 + k / 8 for k in k40],
        "size": [sizes[x] for x in strata],
        "ha": [sizes[x] + 0.25 for x in strata],
        "psus": [{"A": 50, "B": 40, "C": 30, "D": 10}[x] for x in strata],
        "half": ["north" if k % 3 else "south" for k in k40],
        "age": ["young" if k % 7 < 3 else "old" for k in k40],
        "aged": [120.5 if k % 7 < 3 else 80.0 for k in k40],
        **rw,
    }


def in_arrays(design: dict[str, Any]) -> dict[str, Any]:
    """The same keywords with arrays in the place of names."""
    rows, out = survey(), dict(design)
    preds, weight = out.pop("pred", "map"), out.pop("weight", None)
    for word in (word for word in KEYED if word in out):
        own = out[word]
        if isinstance(own, list):
            out[word] = {name: rows[name] for name in own}
        elif isinstance(own, str):
            out[word] = rows[own]
    if "replicates" in out:
        names = out["replicates"] if isinstance(out["replicates"], list) else [f"rw{j}" for j in range(4)]
        out["replicates"] = np.array([rows[name] for name in names]).T
    pred = {name: rows[own] for name, own in preds.items()} if isinstance(preds, dict) else rows[preds]
    given = {"y_true": rows["ref"], "y_pred": pred, **out}
    return given if weight is None else {**given, "sample_weight": rows[weight]}


@group("designs")
def designs() -> Iterator[Case]:
    """How the rows of arrays were drawn."""
    for name, design in DESIGNS.items():
        depth = "certificate" if name in ("sizes", "clusters", "post-strata", "replicates, jkn") else "scores"
        yield Case(name, "arrays", in_arrays(design), depth=depth)
    rough_one = in_arrays(DESIGNS["clusters"]) | {"sample_weight": rough(40)}
    yield Case("rough weights", "arrays", rough_one)
    own = in_arrays(DESIGNS["replicates, brr"])
    makes: dict[str, Callable[[Any], Any]] = {
        "Fortran's order": np.asfortranarray,
        "a list of arrays": lambda x: list(x.T),
        "a mapping": lambda x: dict(zip("abcd", x.T, strict=True)),
        "float32": lambda x: x.astype("f4"),
        "rough": lambda x: x * rough(40)[:, np.newaxis],
        "another byte order": lambda x: x.astype(">f8"),
        "too short": lambda x: x[1:],
        "negative": lambda x: x - 1,
    }
    for name, make in makes.items():
        yield Case(f"replicates, {name}", "arrays", {**own, "replicates": make(own["replicates"])}, depth="table")
    maps = {"y_true": T.reshape(2, 3, 4), "y_pred": P.reshape(2, 3, 4)}
    yield Case(
        "strata of images", "arrays", {**maps, "stratum": ["a", "b"], "cluster": [1, 2], "population": {"a": 5, "b": 9}}
    )
    yield Case("strata of pixels", "arrays", {**maps, "stratum": REGION.reshape(2, 3, 4), "population": SIZES})


# ---- label maps, matrices ---------------------------------------------------------------------------------------


@group("label maps")
def label_maps() -> Iterator[Case]:
    """Arrays of more than one dimension."""
    shape = (2, 9, 11)
    t, p = (x.reshape(shape).astype("u1") for x in labels(198, 4, 5))
    w = rough(198).reshape(shape)
    whole = {"y_true": t, "y_pred": p, "sample_weight": w}
    layouts: dict[str, Callable[[Any], Any]] = {
        "in C": lambda x: x,
        "in Fortran": np.asfortranarray,
        "cropped": lambda x: x[:, 1:-1, 2:],
        "transposed": lambda x: x.transpose(1, 2, 0),
        "backwards": lambda x: x[::-1, :, ::-2],
        "one image": lambda x: x[0],
        "one row": lambda x: x[0, :1],
        "lists": lambda x: x.tolist(),
        "empty": lambda x: x[:0],
    }
    for name, make in layouts.items():
        yield Case(name, "arrays", {key: make(x) for key, x in whole.items()})
    sizes: dict[str, Any] = {"(B, 1, 1)": w[:, :1, :1], "(H, 1)": w[0, :, :1], "(H, W)": w[0], "(1, W)": w[0, :1]}
    for name, own in {
        **sizes,
        "(B,)": w[:, 0, 0],
        "float32": w.astype("f4"),
        "broadcast": np.broadcast_to(w[0], shape),
    }.items():
        yield Case(f"weights {name}", "arrays", {**whole, "sample_weight": own}, depth="table")
    for name, own in {"2": 2, "(2, 5)": (2, 5), "larger": 64, "0": 0, "a text": "2"}.items():
        yield Case(f"blocks {name}", "arrays", {**whole, "blocks": own})
    yield Case("blocks of rows", "arrays", {"y_true": T, "y_pred": P, "blocks": 2})
    yield Case("blocks and by", "arrays", {**whole, "blocks": 4, "by": t % 2})
    yield Case("blocks and strata", "arrays", {**whole, "blocks": 4, "stratum": [0, 1]})
    yield Case("blocks and replicates", "arrays", {**whole, "blocks": 4, "replicates": [w, w], "method": "brr"})
    yield Case("by image", "arrays", {**whole, "by": ["a", "b"], "cluster": [1, 2]})
    yield Case("by pixel", "arrays", {**whole, "by": p})
    yield Case("ignore", "arrays", {**whole, "ignore": 3, "names": {0: "sky", 1: "road", 2: "car", 3: "void"}})
    yield Case("two", "arrays", {**whole, "y_pred": {"a": p, "b": t}, "cluster": [1, 2]})


@group("weight matrices")
def weight_matrices() -> Iterator[Case]:
    """Weights of pairs of rows."""
    from scipy import sparse

    S = np.where(draws(N * N, 3, 8).reshape(N, N) == 0, rough(N * N).reshape(N, N), 0.0)
    forms: dict[str, Any] = {
        "dense": S,
        "float32": S.astype("f4"),
        "integers": (S > 0).astype(int),
        "CSR": sparse.csr_array(S),
        "COO": sparse.coo_array(S),
        "a matrix of SciPy": sparse.csc_matrix(S),
    }
    for name, own in forms.items():
        yield Case(name, "arrays", {"y_true": T, "y_pred": P, "sample_weight": own}, depth="certificate")
    text_ones = {"y_true": TEXT, "y_pred": SAID, "sample_weight": S}
    yield Case("text, ignored", "arrays", {**text_ones, "ignore": "elm"})
    yield Case("labels", "arrays", {"y_true": T, "y_pred": P, "sample_weight": S, "labels": [2, 1, 0]})
    one = {"y_true": T, "y_pred": P}
    wrong = {"not square": S[:, 1:], "negative": -S, "nan": np.where(S > 0, np.nan, 0)}
    for name, own in wrong.items():
        yield Case(name, "arrays", {**one, "sample_weight": own})
    others: dict[str, dict[str, Any]] = {
        "by": {"by": REGION},
        "cluster": {"cluster": TILE},
        "stratum": {"stratum": REGION},
        "two": {"y_pred": {"a": P, "b": Q}},
        "replicates": {"replicates": [W, W], "method": "brr"},
    }
    for name, more in others.items():
        yield Case(f"with {name}", "arrays", {**one, "sample_weight": S, **more})


# ---- frames -----------------------------------------------------------------------------------------------------

CALL = {"true": "ref", "pred": "map"}
FRAMES: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"weight": "w"},
    "by": {"weight": "w", "by": "half"},
    "by two": {"weight": "w", "by": ["half", "zone"]},
    "cluster": {"weight": "w", "cluster": "psu"},
    "cluster of two": {"weight": "w", "cluster": ["zone", "psu"]},
    "two predictions": {"weight": "w", "pred": {"old": "map", "new": "other"}},
    "labels": {"weight": "w", "labels": ["D", "C", "B", "A", "E"]},
    "names": {"weight": "w", "names": {x: x.lower() for x in "ABCD"}},
    "ignore": {"weight": "w", "ignore": ["A", "zz"]},
    "numbers": {"true": "number", "pred": "zone", "weight": "w"},
    "positive": {"true": "zone", "pred": "zone", "positive": 1},
    "replicates, brr": DESIGNS["replicates, brr"],
    "strata": DESIGNS["sizes"],
    "post-strata in strata": DESIGNS["post-strata in strata"],
    "clusters, finite": DESIGNS["clusters, finite"],
    "missing": {"true": "gap"},
    "missing, ignored": {"true": "gap", "missing": "ignore", "weight": "w"},
    "no such column": {"true": "reff"},
    "no such weight": {"weight": "ww"},
    "no such group": {"by": "halves"},
    "negative weights": {"weight": "debt"},
    "text for weights": {"weight": "half"},
    "unknown label": {"labels": ["A", "B"]},
    "text and numbers": {"true": "ref", "pred": "number"},
    "sample_weight": {"sample_weight": "w"},
    "a list of predictions": {"pred": ["map", "other"]},
    "no column for pred": {"pred": None},
    "join without on": {"join": "itself"},
    "replicates that are none": {"weight": "w", "replicates": "x*", "method": "brr"},
}


WRONG = tuple(FRAMES)[-13:]
"""Those that are refused, in the same words wherever columns are named."""


def framed() -> dict[str, list[Any]]:
    """The survey, with a column of labels that lacks some, and one of weights that are negative."""
    rows = survey()
    gap = [None if k in (3, 20) else x for k, x in enumerate(rows["ref"])]
    return rows | {"gap": gap, "debt": [-1.0 if k == 8 else x for k, x in enumerate(rows["w"])]}


def _of_frame(frame: Any, source: str = "frame", but: tuple[str, ...] = (), **more: Any) -> Iterator[Case]:
    for name, given in FRAMES.items():
        if name in but:
            continue
        own = {**CALL, **given, **more}
        if "join" in own:
            own["join"] = frame
        yield Case(name, source, {"data": frame, **own})


@group("frames of pandas", "pandas", "polars")
def frames_of_pandas() -> Iterator[Case]:
    """Frames of pandas; all designs in columns, series and expressions."""
    import narwhals as nw
    import pandas as pd

    frame = pd.DataFrame(framed())
    yield from _of_frame(frame)
    for name, design in DESIGNS.items():
        if name not in FRAMES:
            yield Case(f"design: {name}", "frame", {"data": frame, **CALL, **design})
    one = {"data": frame, **CALL}
    more: dict[str, dict[str, Any]] = {
        "rough weights": {"weight": frame["w"] / 7},
        "a series of weights": {"weight": frame["w"] * 2},
        "series of labels": {"true": frame["ref"], "pred": frame["map"]},
        "a series of other rows": {"weight": frame["w"].iloc[::-1].reset_index(drop=True).iloc[1:]},
        "an expression": {"weight": nw.col("w") * 4, "by": "half"},
        "an expression of labels": {"true": nw.col("number") > 2, "pred": nw.col("zone") == 1},
        "sizes in a series": {"stratum": "stratum", "population": pd.Series({"A": 4, "B": 3, "C": 2, "D": 1})},
        "sizes in a frame": {
            "stratum": "stratum",
            "population": pd.DataFrame({"stratum": list("ABCD"), "n": [4, 3, 2, 1]}),
        },
        "progress": {"progress": False},
        "engine": {"engine": "polars"},
    }
    for name, given in more.items():
        yield Case(name, "frame", {**one, **given})
    numbered = pd.DataFrame({0: T, 1: P, 2: W})
    yield Case("columns called by numbers", "frame", {"data": numbered, "true": 0, "pred": 1, "weight": 2})
    types = pd.DataFrame({"t": pd.Series(TEXT).astype("category"), "p": pd.Series(SAID, dtype="string"), "w": W})
    yield Case("types", "frame", {"data": types, "true": "t", "pred": "p", "weight": "w"})
    yield Case("no rows", "frame", {"data": frame.iloc[:0], **CALL, "by": "half"})
    yield Case("by position", "frame", {"y_true": frame, "y_pred": "ref", "sample_weight": "map"})
    yield Case("a frame alone", "frame", {"data": frame})
    yield Case("an odd index", "frame", {"data": frame.iloc[::-1], **CALL, "weight": "w"})


@group("frames of polars", "polars")
def frames_of_polars() -> Iterator[Case]:
    """Frames of polars in memory."""
    import polars as pl

    frame = pl.DataFrame(framed(), strict=False)
    yield from _of_frame(frame, but=WRONG)
    rough_one = frame.with_columns(w=pl.Series(rough(40)))
    yield Case("rough weights", "frame", {"data": rough_one, **CALL, "weight": "w", "cluster": "psu"})
    one = {"data": frame, **CALL}
    yield Case("an expression", "frame", {**one, "weight": pl.col("w") * 10, "by": pl.col("half").str.head(1)})
    yield Case("engine", "frame", {**one, "engine": "polars"})
    for name in ("clusters of their own", "finite", "domains", "replicates, jkn", "lonely collapse"):
        yield Case(f"design: {name}", "frame", {**one, **DESIGNS[name]})


@group("frames of Arrow", "pyarrow", "polars")
def frames_of_arrow() -> Iterator[Case]:
    """Tables of Arrow."""
    import pyarrow as pa

    frame = pa.table(framed())
    yield from _of_frame(frame, but=WRONG)
    chunks = pa.concat_tables([frame.slice(0, 7), frame.slice(7, 0), frame.slice(7)])
    yield Case("chunks", "frame", {"data": chunks, **CALL, "weight": "w", "by": "half"})
    encoded = frame.set_column(1, "ref", frame["ref"].dictionary_encode())
    yield Case("dictionaries", "frame", {"data": encoded, **CALL, "weight": "w"})


LAZY = ("text for weights", "text and numbers", "unknown label")
"""What engines say in their own words, or of the row that comes first."""


@group("lazy frames of polars", "polars")
def lazy_frames_of_polars() -> Iterator[Case]:
    """Frames whose group-by polars computes."""
    import polars as pl

    frame = pl.LazyFrame(framed(), strict=False)
    yield from _of_frame(frame, but=LAZY)
    yield Case("an expression", "frame", {"data": frame, **CALL, "weight": pl.col("w") * 4})
    for name in ("clusters of their own", "finite", "domains", "replicates, jkn", "lonely collapse"):
        yield Case(f"design: {name}", "frame", {"data": frame, **CALL, **DESIGNS[name]})
    yield Case("a series of weights", "frame", {"data": frame, **CALL, "weight": pl.Series(rough(40))})


@group("relations of DuckDB", "duckdb", "pyarrow", "polars")
def relations_of_duckdb() -> Iterator[Case]:
    """Relations that DuckDB computes."""
    import duckdb
    import pyarrow as pa

    yield from _of_frame(duckdb.from_arrow(pa.table(framed())), but=WRONG)


FEW = ("weights", "by two", "cluster", "two predictions", "ignore", "strata", "replicates, brr", "missing")


@group("frames of ibis", "ibis", "duckdb", "pandas", "polars", "pyarrow", "geopandas")
def frames_of_ibis() -> Iterator[Case]:
    """Tables of ibis."""
    import ibis
    import pyarrow as pa

    yield from _of_frame(ibis.memtable(pa.table(framed())), but=tuple(set(FRAMES) - set(FEW)))


@group("frames of Dask", "dask", "pandas", "pyarrow")
def frames_of_dask() -> Iterator[Case]:
    """Frames of Dask, in three partitions, one of them empty."""
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame(framed())
    cuts = [frame.iloc[:13], frame.iloc[:0], frame.iloc[13:]]
    lazy = dd.from_map(lambda part: part, cuts, meta=frame.iloc[:0])
    yield from _of_frame(lazy, but=tuple(set(FRAMES) - {"weights", "by two", "strata", "missing"}))


@group("frames of Spark", "pyspark", "dask", "duckdb", "ibis", "java")
def frames_of_spark() -> Iterator[Case]:
    """Frames of Spark, where there is Java."""
    import pyarrow as pa
    from engines import to_spark

    frame = to_spark(pa.table(framed()))
    yield from _of_frame(frame, but=tuple(set(FRAMES) - {"weights", "by two", "missing"}))


# ---- files and joins ----------------------------------------------------------------------------------------------


def saved() -> dict[str, Any]:
    """The same rows in files of every format."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    columns = framed()
    frame, table = pl.DataFrame(columns, strict=False), pa.table(columns)
    pq.write_table(table, "a.parquet", row_group_size=9)
    frame.write_csv("a.csv")
    frame.write_csv("a.tsv", separator="\t")
    frame.write_csv("a.txt", separator=";")
    frame.write_csv("semicolons.csv", separator=";")
    frame.write_ndjson("a.jsonl")
    pyarrow.feather.write_feather(table, "a.arrow")
    for name in ("a.csv", "a.tsv", "a.jsonl"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes(), mtime=0))
    pq.write_to_dataset(table, "hive", partition_cols=["half"])
    Path("parts").mkdir()
    for k in range(3):
        pq.write_table(table.slice(15 * k, 15), f"parts/part-{k}.parquet")
        frame.slice(15 * k, 15).write_csv(f"parts-{k}.csv")
    Path("parts/_SUCCESS").touch()
    pl.DataFrame({"t": [1, 2, 2], "p": [1, 2, 1], "w": ["1.5", "x", "2"]}).write_csv("words.csv")
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("ref,map,w\n")
    Path("twice.csv").write_text("ref,ref,map\na,b,a\n")
    return {
        "parquet": "a.parquet",
        "csv": Path("a.csv"),
        "tsv": "a.tsv",
        "json lines": "a.jsonl",
        "arrow": "a.arrow",
        "csv.gz": "a.csv.gz",
        "tsv.gz": "a.tsv.gz",
        "jsonl.gz": "a.jsonl.gz",
        "hive": "hive",
        "folder": "parts/",
        "pattern": "parts/*.parquet",
        "pattern of csv": "parts-*.csv",
        "list": [f"parts/part-{k}.parquet" for k in (2, 0, 1)],
    }


@group("files", "polars", "pyarrow")
def files() -> Iterator[Case]:
    """Files that Arrow reads."""
    one = {**CALL, "weight": "w"}
    for name, data in saved().items():
        yield Case(name, "file", {"data": data, **one, "by": "half"})
        yield Case(f"{name}, strata", "file", {"data": data, **CALL, **DESIGNS["clusters"]}, depth="table")
    for name, given in FRAMES.items():
        if name != "join without on":
            yield Case(f"csv: {name}", "file", {"data": "a.csv", **CALL, **given}, depth="table")
            yield Case(f"parquet: {name}", "file", {"data": "a.parquet", **CALL, **given}, depth="table")
    yield Case("numbers in text", "file", {"data": "a.csv", "true": "number", "pred": "psu", "weight": "w"})
    yield Case("engine arrow", "file", {"data": "a.csv", **one, "engine": "arrow"})
    yield Case("engine misspelt", "file", {"data": "a.csv", **one, "engine": "polar"})
    yield Case("semicolons", "file", {"data": "semicolons.csv", **one})
    yield Case("another ending", "file", {"data": "a.txt", **one})
    yield Case("no such file", "file", {"data": "b.csv", **one})
    yield Case("no such pattern", "file", {"data": "b-*.csv", **one})
    yield Case("words for weights", "file", {"data": "words.csv", "true": "t", "pred": "p", "weight": "w"})
    yield Case("empty", "file", {"data": "empty.csv", **one})
    yield Case("only a header", "file", {"data": "header.csv", **one})
    yield Case("a column twice", "file", {"data": "twice.csv", **CALL})
    yield Case("two formats", "file", {"data": ["a.csv", "a.parquet"], **one})
    yield Case("by position", "file", {"y_true": "a.csv", "y_pred": "ref", "sample_weight": "map"})
    yield Case("a file alone", "file", {"data": "a.csv"})
    yield Case("a file for labels", "file", {"y_true": "a.csv", "y_pred": P})


def _files_by(engine: str) -> Iterator[Case]:
    data = saved()
    one = {**CALL, "weight": "w", "engine": engine}
    for name in ("parquet", "csv", "csv.gz", "json lines", "pattern", "list"):
        yield Case(name, "file", {"data": data[name], **one, "by": "half"}, depth="table")
    for name in ("two predictions", "ignore", "missing", "strata", "replicates, brr", "no such column"):
        yield Case(f"csv: {name}", "file", {"data": "a.csv", **one, **FRAMES[name]})
    yield Case("arrow", "file", {"data": "a.arrow", **one}, depth="table")


@group("files read by polars", "polars", "pyarrow")
def files_by_polars() -> Iterator[Case]:
    """Files that polars reads."""
    return _files_by("polars")


@group("files read by DuckDB", "polars", "pyarrow", "duckdb")
def files_by_duckdb() -> Iterator[Case]:
    """Files that DuckDB reads."""
    return _files_by("duckdb")


def _sides() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    rows = survey()
    truth = {name: rows[name] for name in ("id", "zone", "ref", "stratum", "w", "half", "psu")}
    pred = {name: rows[name][::-1] for name in ("id", "zone", "map", "other", "size", "rw0", "rw1")}
    return truth, pred


JOINS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two keys": {"on": ["zone", "id"]},
    "weights": {"weight": "w", "by": "half"},
    "weights of the prediction": {"weight": "size"},
    "two predictions": {"weight": "w", "pred": {"old": "map", "new": "other"}},
    "strata": {"stratum": "stratum", "population": "size"},
    "clusters": {"stratum": "stratum", "cluster": "psu", "weight": "w"},
    "replicates": {"weight": "w", "replicates": "rw*", "method": "brr"},
    "ignore": {"weight": "w", "ignore": "A"},
    "unmatched misspelt": {"unmatched": "drop"},
    "no such key": {"on": "ids"},
    "no such column": {"pred": "maps"},
    "no on": {"on": None},
    "keys that come twice": {"on": "zone"},
}


def _joins(make: Callable[[dict[str, list[Any]]], Any], source: str = "join") -> Iterator[Case]:
    truth, pred = _sides()
    left, right = make(truth), make(pred)
    for name, given in JOINS.items():
        yield Case(name, source, {"data": left, "join": right, "on": "id", **CALL, **given})
    fewer = make({name: own[3:] for name, own in pred.items()})
    for how in ("error", "ignore"):
        given = {"data": left, "join": fewer, "on": "id", **CALL, "weight": "w", "unmatched": how}
        yield Case(f"unmatched {how}", source, given)
    yield Case("by position", source, {"y_true": left, "y_pred": right, "on": "id", **CALL})


@group("joins of pandas", "pandas", "polars", "pyarrow")
def joins_of_pandas() -> Iterator[Case]:
    """Two frames of pandas with a key."""
    import pandas as pd

    yield from _joins(pd.DataFrame)


@group("joins of polars", "polars")
def joins_of_polars() -> Iterator[Case]:
    """Two lazy frames with a key."""
    import polars as pl

    yield from _joins(lambda rows: pl.LazyFrame(rows, strict=False))


@group("joins of files", "polars", "pyarrow")
def joins_of_files() -> Iterator[Case]:
    """Two files with a key, and a file with a frame."""
    import polars as pl

    made: list[str] = []

    def save(rows: dict[str, list[Any]]) -> str:
        made.append(f"side-{len(made)}.{'csv' if len(made) % 2 else 'parquet'}")
        frame = pl.DataFrame(rows, strict=False)
        frame.write_csv(made[-1]) if len(made) % 2 == 0 else frame.write_parquet(made[-1])
        return made[-1]

    yield from _joins(save)
    truth, pred = _sides()
    both = {"data": save(truth), "join": pl.DataFrame(pred), "on": "id", **CALL, "weight": "w"}
    yield Case("with a frame", "join", both)
    yield Case(
        "with an engine", "join", {"data": save(truth), "join": save(pred), "on": "id", **CALL, "engine": "polars"}
    )


# ---- streams ----------------------------------------------------------------------------------------------------


@group("streams")
def streams() -> Iterator[Case]:
    """Batches that an accumulator adds up."""
    cuts = [slice(0, 5), slice(5, 5), slice(5, 17), slice(17, N)]
    batches = [{"y_true": T[c], "y_pred": P[c], "sample_weight": W[c]} for c in cuts]

    def each(**columns: Any) -> list[dict[str, Any]]:
        more = [{name: own[c] for name, own in columns.items()} for c in cuts if c.start < c.stop]
        return [
            {"y_true": T[c], "y_pred": P[c], **own}
            for c, own in zip([c for c in cuts if c.start < c.stop], more, strict=True)
        ]

    streams_of: dict[str, dict[str, Any]] = {
        "batches": {"updates": batches},
        "one by one": {
            "updates": [{"y_true": "dog", "y_pred": x, "sample_weight": 0.1} for x in ("dog", "cat", "dog")]
        },
        "window": {"updates": batches, "window": 2},
        "half-life": {"updates": batches, "half_life": 1},
        "time": {"updates": [{**b, "at": 60.0 * k} for k, b in enumerate(batches)], "window": timedelta(minutes=1.5)},
        "ignore": {"updates": batches, "ignore": 2, "labels": [1, 0]},
        "names": {"updates": batches, "names": {0: "z", 1: "y", 2: "x"}},
        "by": {"updates": each(by=REGION)},
        "cluster": {"updates": each(cluster=TILE, sample_weight=W)},
        "by and cluster": {"updates": each(by=REGION, cluster=TILE)},
        "strata": {"updates": each(stratum=REGION), "population": SIZES},
        "strata and clusters": {"updates": each(stratum=REGION, cluster=TILE, sample_weight=E), "lonely": "adjust"},
        "finite": {"updates": each(stratum=REGION), "population": SIZES, "fpc": True},
        "post-strata": {"updates": each(poststratum=REGION), "totals": {"north": 7, "south": 9.5}},
        "replicates": {"updates": each(sample_weight=W, replicates=np.stack([E, W]).T)},
        "strata that are not there": {"updates": each(stratum=REGION), "population": {**SIZES, "west": 9}},
        "window of strata": {"updates": each(stratum=REGION), "population": SIZES, "window": 2},
        "half-life of strata": {"updates": each(stratum=REGION), "population": SIZES, "half_life": 2},
        "no updates": {"updates": [], "labels": [0, 1]},
        "groups in some": {"updates": [batches[0], {**batches[2], "by": REGION[cuts[2]]}]},
        "clusters in some": {"updates": [batches[0], {**batches[2], "cluster": TILE[cuts[2]]}]},
        "strata without sizes": {"updates": batches, "population": SIZES},
        "several predictions": {"updates": [{"y_true": T, "y_pred": {"a": P}}]},
        "one side": {"updates": [{"y_true": T}]},
        "window and half-life": {"updates": [], "window": 2, "half_life": 2},
        "window 0": {"updates": [], "window": 0},
        "at without a window": {"updates": [{**batches[0], "at": 3.0}]},
        "a rule of a batch": {"updates": [{**batches[0], "ignore": 2}]},
        "stratum of all": {"updates": batches, "stratum": REGION},
    }
    for update in streams_of["replicates"]["updates"]:
        update["method"] = "brr"
    for name, given in streams_of.items():
        yield Case(name, "stream", given)
    faded = {"updates": batches, "half_life": 3}
    yield Case("half-life of three", "stream", faded, exact=False)


@group("streams of frames", "polars", "pyarrow")
def streams_of_frames() -> Iterator[Case]:
    """Frames and files that come one after another."""
    import polars as pl

    saved()
    frame = pl.DataFrame(framed(), strict=False)
    given = [{"data": frame.slice(0, 15), **CALL, "weight": "w"}, {"data": "parts-2.csv", **CALL, "weight": "w"}]
    yield Case("frames and files", "stream", {"updates": given})
    designed = [{"data": frame.slice(k, 20), **CALL, "stratum": "stratum"} for k in (0, 20)]
    yield Case("strata", "stream", {"updates": designed, "population": {"A": 4, "B": 3, "C": 2, "D": 1}})
    yield Case("strata in a column", "stream", {"updates": designed, "population": "size"})


# ---- images -----------------------------------------------------------------------------------------------------


def put_images() -> None:
    """Folders of label maps of three sizes, and of weights."""
    from PIL import Image

    for k, name in enumerate(("b", "a", "city/c", "void")):
        shape = (4 + k, 6)
        t, p = (x.reshape(shape).astype("u1") for x in labels(6 * shape[0], 3, 20 + k))
        t.flat[::5] = 255
        if name == "void":
            t[:] = 255
        q = np.roll(t, 1, axis=1) % 4
        w = rough(t.size, 30 + k).reshape(shape).astype("f4")
        for folder, own in {"truth": t, "one": p, "two": q.astype("u2"), "maps": w, "copy": t}.items():
            end = {"truth": ".png", "one": ".tif", "two": ".npy", "maps": ".npy", "copy": "_labels.png"}[folder]
            path = Path(folder, f"{name}{end}")
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, own) if end == ".npy" else Image.fromarray(own).save(path)
    for name in ("a", "b"):
        Path("fewer").mkdir(exist_ok=True)
        Image.fromarray(np.zeros((5 if name == "a" else 9, 6), dtype="u1")).save(f"fewer/{name}.png")
    Path("none").mkdir()
    Path("colour").mkdir()
    Image.fromarray(np.zeros((4, 6, 3), dtype="u1")).save("colour/b.png")
    for folder, rows in (("alone", 4), ("taller", 5)):
        Path(folder).mkdir()
        Image.fromarray(np.zeros((rows, 6), dtype="u1")).save(f"{folder}/b.png")


def heavier(truth: Any) -> Any:
    """Weights of a true label map."""
    return np.where(truth == 1, 2.5, 0.1)


@group("images", "PIL")
def images() -> Iterator[Case]:
    """Folders of label maps."""
    put_images()
    one = {"y_true": "truth", "y_pred": "one", "sample_weight": "maps", "ignore": 255}
    named = {name: name[0] for name in ("a", "b", "city/c", "void")}
    of: dict[str, dict[str, Any]] = {
        "weighted": {},
        "unweighted": {"sample_weight": None},
        "not ignored": {"ignore": None, "sample_weight": None},
        "paths": {"y_true": Path("truth"), "y_pred": Path("two/")},
        "patterns": {"y_true": "copy/*_labels.png", "y_pred": "one/*.tif"},
        "two": {"y_pred": {"x": "one", "y": "two/"}},
        "by a mapping": {"by": named},
        "by a function": {"by": lambda name: len(name)},
        "by folder": {"by": "folder"},
        "cluster by folder": {"cluster": "folder"},
        "cluster by a mapping": {"cluster": named, "by": "folder"},
        "weights of a function": {"sample_weight": heavier},
        "labels": {"labels": [2, 1, 0, 3]},
        "names": {"names": {0: "road", 1: "car", 2: "sky", 3: "tree", 255: "void"}},
        "images missing": {"y_pred": "fewer"},
        "sizes": {"y_true": "alone", "y_pred": "taller", "sample_weight": None},
        "an empty pattern": {"y_pred": "fewer/b*"},
        "no images": {"y_pred": "none"},
        "no such folder": {"y_pred": "three"},
        "colours": {"y_true": "alone", "y_pred": "colour", "sample_weight": None},
        "an array": {"y_pred": P},
        "a list of folders": {"y_pred": ["one"]},
        "a list of files": {"y_true": ["truth/a.png"], "y_pred": ["one/a.tif"]},
        "areas": {"sample_weight": "area"},
        "weights by a number": {"sample_weight": 3},
        "by a list": {"by": [1, 2, 3, 4]},
        "by half a mapping": {"by": {"a": 1}},
        "two stars": {"y_true": "truth/*/*.png"},
        "unknown label": {"labels": [0, 1]},
        "fewer threads": {"threads": 1},
    }
    for name, given in of.items():
        yield Case(name, "images", {**one, **given})


@group("images with borders", "PIL")
def images_with_borders() -> Iterator[Case]:
    """Weights that `wmcc.weightmaps` makes of each image."""
    from functools import partial

    import wmcc

    put_images()
    for name, own in {
        "border": partial(wmcc.weightmaps.border, ignore=255),
        "distance": partial(wmcc.weightmaps.distance, to=1, scale=2.0, ignore=255),
    }.items():
        given = {"y_true": "truth", "y_pred": "one", "sample_weight": own, "ignore": 255}
        yield Case(name, "images", given, exact=False)


# ---- rasters ----------------------------------------------------------------------------------------------------

METRES = {"crs": "EPSG:32632", "origin": (500_000, 5_540_000), "step": 10}
DEGREES = {"crs": "EPSG:4326", "origin": (8.0, 60.0), "step": 0.5}
SHAPE = (13, 17)


def put_raster(
    path: str, *bands: Any, crs: Any, origin: Any, step: float, nodata: Any = None, mask: Any = None, names: Any = None
) -> str:
    """Write arrays as the bands of a GeoTIFF."""
    import rasterio

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    transform = rasterio.Affine(step, 0, origin[0], 0, -step, origin[1])
    size = {"height": bands[0].shape[0], "width": bands[0].shape[1], "count": len(bands), "dtype": bands[0].dtype}
    with (
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
        rasterio.open(path, "w", driver="GTiff", crs=crs, transform=transform, nodata=nodata, **size) as file,
    ):
        for k, band in enumerate(bands, 1):
            file.write(band, k)
        if mask is not None:
            file.write_mask(mask)
    if names is not None:
        lines = "".join(f"<Category>{names.get(k, '')}</Category>" for k in range(max(names) + 1))
        band = f'<PAMRasterBand band="1"><CategoryNames>{lines}</CategoryNames></PAMRasterBand>'
        Path(f"{path}.aux.xml").write_text(f"<PAMDataset>{band}</PAMDataset>")
    return path


def maps(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """A truth, a map, zones, and weights."""
    t, p = (x.reshape(SHAPE).astype("u1") for x in labels(221, 4, 70 + seed))
    zones = draws(221, 3, 80 + seed).reshape(SHAPE).astype("i2")
    return t, p, zones, rough(221, 90 + seed).reshape(SHAPE)


@group("rasters", "rasterio", "pyproj", "shapely", "xarray")
def rasters() -> Iterator[Case]:
    """GeoTIFFs, and maps of xarray."""
    import rasterio
    import xarray as xr

    t, p, zones, w = maps()
    truth, pred = put_raster("truth.tif", t, **METRES), put_raster("map.tif", p, **METRES)
    zoned, weights = put_raster("zones.tif", zones, **METRES), put_raster("w.tif", w, **METRES)
    holes, holed = (
        put_raster("t9.tif", t, **METRES, nodata=3),
        put_raster("p9.tif", np.where(p == 3, 9, p), **METRES, nodata=9),
    )
    filled = put_raster("filled.tif", np.where(t == 3, 0, t).astype("u1"), **METRES)
    bands = put_raster("bands.tif", p, t, **METRES)
    masked = put_raster("masked.tif", t, **METRES, mask=zones > 0)
    legend = {0: "water", 1: "wood", 2: "", 3: "town"}
    named = [put_raster(f"named-{k}.tif", x, **METRES, names=legend) for k, x in enumerate((t, p))]
    called = put_raster("called.tif", p, **METRES, names={0: "sea", 1: "wood", 2: "air", 3: "town"})
    wide = [put_raster(f"wide-{k}.tif", x, **DEGREES) for k, x in enumerate((t, p))]
    aside = put_raster("aside.tif", p, **{**METRES, "origin": (500_000 + 4, 5_540_000 - 3)})
    coarse = put_raster("coarse.tif", p[::2, ::2].copy(), **{**METRES, "step": 20})
    far = put_raster("far.tif", p, **{**METRES, "origin": (900_000, 5_540_000)})
    nowhere = put_raster("nowhere.tif", p, **{**METRES, "crs": None})
    other = put_raster("other.tif", p, **{**METRES, "crs": "EPSG:3035"})
    negative = put_raster("negative.tif", w - 1, **METRES)
    lacking = put_raster("lacking.tif", np.where(zones == 1, -9, w), **METRES, nodata=-9)
    one = {"y_true": truth, "y_pred": pred}
    of: dict[str, dict[str, Any]] = {
        "plain": {},
        "paths": {"y_true": Path(truth), "y_pred": Path(pred)},
        "weights": {"sample_weight": weights},
        "weights in an array": {"sample_weight": w},
        "weights by row": {"sample_weight": w[:, :1]},
        "weights by zones": {"sample_weight": weights, "by": zoned},
        "zones in an array": {"by": zones},
        "zones as clusters": {"cluster": zoned},
        "blocks": {"blocks": 4},
        "blocks of two sides": {"blocks": (3, 5), "sample_weight": weights},
        "blocks by zones": {"blocks": 4, "by": zoned},
        "a map in an array": {"y_pred": p},
        "a map with nan": {"y_pred": np.where(p == 2, np.nan, p)},
        "a masked map": {"y_pred": np.ma.array(p, mask=p == 2)},
        "two maps": {"y_pred": {"new": pred, "old": holed}},
        "two maps by zones": {"y_pred": {"new": pred, "old": opened(bands, band=2)}, "by": zones},
        "nodata of the truth": {"y_true": holes},
        "nodata of both": {"y_true": holes, "y_pred": holed},
        "nodata of both, ignored": {"y_true": holes, "y_pred": holed, "missing": "ignore"},
        "nodata and ignore": {"y_true": holes, "y_pred": holed, "ignore": 2},
        "nodata that is a class": {"y_true": put_raster("zero.tif", t, **METRES, nodata=0)},
        "nodata that is a class, ignored": {"y_true": "zero.tif", "ignore": 0},
        "no nodata": {"y_true": opened(holes, nodata=None)},
        "another nodata": {"y_true": opened(filled, nodata=0), "y_pred": opened(filled, nodata=0)},
        "a mask": {"y_true": masked, "blocks": 5},
        "zones that are not known": {"by": opened(zoned, nodata=1)},
        "clusters that are not known": {"cluster": opened(zoned, nodata=1)},
        "band": {"y_true": bands, "y_pred": bands, "band": 2},
        "bands": {"y_true": opened(bands, band=2), "y_pred": opened(bands, band=1)},
        "no band": {"y_pred": bands},
        "no such band": {"y_pred": bands, "band": 3},
        "names of a file": {"y_true": named[0], "y_pred": named[1]},
        "names of a file, labels": {"y_true": named[0], "y_pred": named[1], "labels": range(4)},
        "names of a file, ignore": {"y_true": named[0], "y_pred": named[1], "ignore": 1},
        "names": {"names": dict(enumerate("wxyz"))},
        "names that differ": {"y_true": named[0], "y_pred": called},
        "ignore by name": {"y_true": named[0], "y_pred": named[1], "ignore": "wood"},
        "labels": {"labels": [3, 2, 1, 0]},
        "positive": {"y_true": put_raster("two.tif", t // 2, **METRES), "y_pred": p // 2, "positive": 1},
        "aside": {"y_pred": aside},
        "aside, aligned": {"y_pred": aside, "align": "nearest"},
        "coarse, aligned": {"y_pred": coarse, "align": "nearest", "blocks": 4},
        "coarse": {"y_pred": coarse},
        "far away": {"y_pred": far, "align": "nearest"},
        "elsewhere": {"y_pred": nowhere},
        "elsewhere, crs": {"y_pred": nowhere, "crs": "EPSG:32632"},
        "nowhere": {"y_true": nowhere, "y_pred": nowhere},
        "nowhere, areas": {"y_true": nowhere, "y_pred": nowhere, "sample_weight": "area"},
        "another crs": {"y_pred": other},
        "align misspelt": {"align": "bilinear"},
        "unit misspelt": {"sample_weight": "area", "unit": "acres"},
        "negative weights": {"sample_weight": negative},
        "weights that are not known": {"sample_weight": lacking},
        "weights aside": {"sample_weight": aside, "align": "nearest"},
        "weights by name": {"sample_weight": "areas"},
        "weights of a function": {"sample_weight": heavier},
        "weights of another shape": {"sample_weight": np.ones((3, 3))},
        "a raster alone": {"y_pred": None},
        "a raster and text": {"y_pred": t.astype(str)},
        "an array and a raster": {"y_true": t},
        "a map of another shape": {"y_pred": p[1:]},
        "no such file": {"y_pred": "maps.tif"},
        "tiles": {"y_true": [truth, holes], "y_pred": [pred, holed]},
        "tiles, weights": {"y_true": [truth, holes], "y_pred": [pred, holed], "sample_weight": [weights, w]},
        "tiles by key": {"y_true": [truth, holes], "y_pred": [pred, holed], "by": ["a", "b"], "blocks": 6},
        "tiles by zones": {"y_true": [truth, holes], "y_pred": [pred, holed], "by": [zoned, zones]},
        "tiles of one cluster": {"y_true": [truth, holes], "y_pred": [pred, holed], "cluster": {"truth": 1, "t9": 1}},
        "tiles of two maps": {"y_true": [truth, holes], "y_pred": {"a": [pred, holed], "b": [holed, p % 3]}},
        "tiles that are too few": {"y_true": [truth, holes], "y_pred": [pred]},
        "a tile that is none": {"y_true": [truth, t], "y_pred": [pred, pred]},
    }
    for name, given in of.items():
        yield Case(name, "rasters", {**one, **given})
    for unit in ("ha", "km2", "m2"):
        given = {"y_true": wide[0], "y_pred": wide[1], "sample_weight": "area", "unit": unit, "blocks": 5}
        yield Case(f"areas in {unit}", "rasters", given, exact=False)
    yield Case("areas in metres", "rasters", {**one, "sample_weight": "area", "by": zoned}, exact=False)
    with rasterio.open(truth) as left, rasterio.open(pred) as right:
        yield Case("data sets of rasterio", "rasters", {"y_true": left, "y_pred": right})

    def of_xarray(x: Any, **attrs: Any) -> Any:
        return xr.DataArray(x, {"y": np.arange(13.0)[::-1], "x": np.arange(17.0)}, ("y", "x"), attrs=attrs)

    left, right = of_xarray(t, _FillValue=3), of_xarray(p)
    arrays_of: dict[str, dict[str, Any]] = {
        "plain": {"y_true": of_xarray(t), "y_pred": right},
        "fill values": {"y_true": left, "y_pred": of_xarray(np.where(p == 3, 8, p), _FillValue=8)},
        "weights": {"y_true": of_xarray(t), "y_pred": right, "sample_weight": of_xarray(w), "by": of_xarray(zones)},
        "data sets": {"y_true": xr.Dataset({"cover": of_xarray(t)}), "y_pred": xr.Dataset({"cover": right})},
        "two variables": {"y_true": of_xarray(t), "y_pred": xr.Dataset({"a": right, "b": right})},
        "other coordinates": {"y_true": of_xarray(t), "y_pred": right.assign_coords(x=np.arange(17.0) + 0.4)},
        "aligned": {"y_true": of_xarray(t), "y_pred": right.isel(x=slice(2, 15)), "align": "nearest"},
        "turned": {"y_true": of_xarray(t), "y_pred": right.transpose("x", "y")},
        "three dimensions": {"y_true": left.expand_dims(time=3), "y_pred": right.expand_dims(time=3)},
        "blocks": {"y_true": of_xarray(t), "y_pred": p, "blocks": 4},
    }
    for name, given in arrays_of.items():
        yield Case(f"xarray: {name}", "rasters", given)


@group("rasters of netCDF", "rasterio", "pyproj", "xarray", "netCDF4")
def rasters_of_netcdf() -> Iterator[Case]:
    """Variables of netCDF files."""
    import xarray as xr

    t, p, _, _ = maps(1)
    where = {"lat": 60 - np.arange(13) / 4, "lon": 8 + np.arange(17) / 4}
    one, two = (xr.DataArray(x, where, ("lat", "lon")) for x in (t, p))
    xr.Dataset({"cover": one}).to_netcdf("truth.nc", engine="netcdf4")
    xr.Dataset({"cover": two, "other": one}).to_netcdf("maps.nc", engine="netcdf4")
    yield Case("plain", "rasters", {"y_true": "truth.nc", "y_pred": opened("maps.nc", variable="cover")})
    yield Case("blocks", "rasters", {"y_true": "truth.nc", "y_pred": opened("maps.nc", variable="other"), "blocks": 4})
    yield Case("an array", "rasters", {"y_true": "truth.nc", "y_pred": p})
    yield Case("two variables", "rasters", {"y_true": "truth.nc", "y_pred": "maps.nc"})
    yield Case("no such variable", "rasters", {"y_true": "truth.nc", "y_pred": opened("maps.nc", variable="covr")})
    areas = {"y_true": opened("truth.nc", crs="EPSG:4326"), "y_pred": p, "sample_weight": "area"}
    yield Case("areas", "rasters", areas, exact=False)


@group("folders of GeoTIFFs", "rasterio", "pyproj", "PIL")
def folders_of_geotiffs() -> Iterator[Case]:
    """Folders whose images say where they lie."""
    for k in range(3):
        t, p, _, w = maps(k)
        own = {**DEGREES, "origin": (8.0 + 20 * k, 60.0)}
        put_raster(f"truth/{k}.tif", t, **own, nodata=3)
        put_raster(f"pred/{k}.tif", np.where(p == 3, 2, p), **own)
        put_raster(f"w/{k}.tif", w, **own)
        put_raster(f"aside/{k}.tif", p % 3, **{**own, "origin": (8.2 + 20 * k, 60.1)})
    one = {"y_true": "truth", "y_pred": "pred"}
    yield Case("plain", "images", one)
    yield Case("weights", "images", {**one, "sample_weight": "w", "blocks": 6})
    yield Case("areas", "images", {**one, "sample_weight": "area", "unit": "km2"}, exact=False)
    yield Case("aside", "images", {**one, "y_pred": "aside"})
    aligned = [opened(f"aside/{k}.tif", resample="nearest") for k in range(3)]
    truths = [f"truth/{k}.tif" for k in range(3)]
    of = {"y_true": truths, "y_pred": aligned, "by": lambda name: int(name) % 2}
    yield Case("aside, aligned", "rasters", of)


# ---- layers -----------------------------------------------------------------------------------------------------


def parcels(**columns: Any) -> Any:
    """Four rectangles in degrees."""
    import geopandas as gpd
    import shapely

    boxes = [shapely.box(9 + i / 8, 45, 9 + i / 8 + 1 / 16, 45.25 + i / 8) for i in range(4)]
    own = {
        "ref": list("aabb"),
        "map": list("abbb"),
        "old": list("bbba"),
        "tile": [7, 7, 8, 9],
        "id": [1, 2, 3, 4],
        "ha": [4.0, 3.0, 2.5, 1.0],
    }
    own |= {"size": [10.0, 10, 30, 30], "part": list("xxyy"), "w1": [1.0, 2, 1, 0], "w2": [0.0, 1, 2, 1]}
    return gpd.GeoDataFrame({**own, **columns}, geometry=boxes, crs="EPSG:4326")


@group("polygons", "polars", "pyarrow", "geopandas", "pyogrio", "pyproj", "shapely")
def polygons() -> Iterator[Case]:
    """Layers of polygons, whose areas may be their weights."""
    import pandas as pd

    frame = parcels()
    for name in ("a.gpkg", "a.shp", "a.geojson", "a.fgb"):
        frame.to_file(name)
    frame.to_parquet("a.parquet")
    frame.to_file("layers.gpkg", layer="parcels")
    frame.iloc[:2].to_file("layers.gpkg", layer="lakes")
    frame.iloc[:2].to_file("part-1.gpkg")
    frame.iloc[2:].to_file("part-2.gpkg")
    pd.DataFrame(frame.drop(columns="geometry")).to_csv("plain.csv", index=False)
    frame.set_crs(None, allow_override=True).to_file("nowhere.fgb")
    areal = parcels(area=[1.0, 2, 3, 4])
    one = {"true": "ref", "pred": "map", "weight": "area"}
    for name in ("a.gpkg", "a.shp", "a.geojson", "a.fgb", "a.parquet"):
        yield Case(name, "polygons", {"data": name, **one}, exact=False, depth="table")
        yield Case(f"{name} without areas", "polygons", {"data": Path(name), **one, "weight": "ha", "by": "tile"})
    for unit in ("ha", "km2", "m2"):
        for how in ("geodesic",):
            given = {"data": frame, **one, "unit": unit, "area": how}
            yield Case(f"{how} in {unit}", "polygons", given, exact=False, depth="table")
    exact: dict[str, dict[str, Any]] = {
        "unweighted": {"weight": None},
        "weights": {"weight": "ha", "cluster": "tile"},
        "strata": {"weight": None, "stratum": "part", "population": "size"},
        "replicates": {"weight": "ha", "replicates": "w*", "method": "brr"},
        "two predictions": {"weight": "ha", "pred": {"new": "map", "old": "old"}},
        "a series of weights": {"weight": frame["ha"] * 2},
        "a column of areas": {"data": areal},
        "layer": {"data": "layers.gpkg", "layer": "lakes", "weight": "ha"},
        "no layer": {"data": "layers.gpkg"},
        "no such layer": {"data": "layers.gpkg", "layer": "lake"},
        "layer of a frame": {"layer": "lakes"},
        "layer of a Parquet file": {"data": "a.parquet", "layer": "lakes"},
        "several files": {"data": ["part-1.gpkg", "part-2.gpkg"]},
        "no such column": {"true": "reff"},
        "no such file": {"data": "b.gpkg"},
        "no crs": {"data": "nowhere.fgb"},
        "no crs, unweighted": {"data": "nowhere.fgb", "weight": "ha"},
        "another crs": {"crs": "EPSG:3035"},
        "unit misspelt": {"unit": "acres"},
        "engine": {"data": "a.gpkg", "engine": "duckdb"},
        "engine of a frame": {"engine": "duckdb"},
        "plain file": {"data": "plain.csv"},
        "plain file, unit": {"data": "plain.csv", "unit": "ha"},
        "joined": {"data": "a.gpkg", "join": "plain.csv", "on": "id", "weight": "ha"},
        "missing labels": {"data": parcels(ref=["a", None, "b", "a"])},
        "missing labels, ignored": {"data": parcels(ref=["a", None, "b", "a"]), "missing": "ignore", "weight": "ha"},
        "labels by position": {"data": None, "y_true": frame["ref"], "y_pred": frame},
    }
    for name, given in exact.items():
        own = {"data": frame, **one, **given}
        if own["data"] is None:
            own = {"y_true": own["y_true"], "y_pred": own["y_pred"]}
        yield Case(name, "polygons", own)
    areas: dict[str, dict[str, Any]] = {
        "areas by": {"by": "tile"},
        "areas of clusters": {"cluster": "tile", "unit": "m2"},
        "areas of two": {"pred": {"new": "map", "old": "old"}},
        "areas beside a column": {"data": areal, "unit": "ha"},
        "areas with a crs": {"data": "nowhere.fgb", "crs": "EPSG:4326"},
        "areas in a plane": {"data": frame.to_crs("EPSG:3035")},
        "areas and ignore": {"ignore": "b"},
        "areas of a layer": {"data": "layers.gpkg", "layer": "parcels"},
    }
    for name, given in areas.items():
        yield Case(name, "polygons", {"data": frame, **one, **given}, exact=False)


def _strips(*ends: float, **columns: Any) -> Any:
    """Strips of 100 m between the ends, somewhere in a plane."""
    from itertools import pairwise

    import geopandas as gpd
    import shapely

    x, y = 4_325_000, 3_205_000
    boxes = [shapely.box(x + 100 * a, y, x + 100 * b, y + 100) for a, b in pairwise(ends)]
    return gpd.GeoDataFrame(columns, geometry=boxes, crs="EPSG:3035")


@group("overlays", "pyarrow", "geopandas", "pyogrio", "pyproj", "shapely")
def overlays() -> Iterator[Case]:
    """A map of polygons laid over a reference."""
    reference = _strips(0, 2, 4, ref=["oak", "elm"], w=[1.0, 3.0], zone=["n", "s"])
    cover = _strips(0, 1, 3, map=["oak", "elm"], old=["oak", "oak"], sheet=["A", "B"])
    reference.to_file("reference.gpkg")
    cover.to_file("cover.gpkg", layer="new")
    cover.iloc[:1].to_file("cover.gpkg", layer="small")
    overlapping = _strips(0, 1, 3, map=["oak", "elm"])
    overlapping.loc[0, "geometry"] = overlapping.geometry[0].union(overlapping.geometry[1])
    one = {"data": reference, "overlay": cover, "true": "ref", "pred": "map", "weight": "area"}
    of: dict[str, dict[str, Any]] = {
        "areas": {},
        "in km2": {"unit": "km2"},
        "weights": {"weight": "w"},
        "unweighted": {"weight": None},
        "by the map": {"by": "sheet"},
        "by the reference": {"by": "zone"},
        "cluster": {"cluster": "zone"},
        "strata": {"stratum": "zone", "lonely": "certainty"},
        "two columns": {"pred": {"new": "map", "old": "old"}},
        "files": {"data": "reference.gpkg", "overlay": "cover.gpkg", "overlay_layer": "new"},
        "layers of both": {
            "data": "cover.gpkg",
            "layer": "small",
            "true": "old",
            "overlay": "cover.gpkg",
            "overlay_layer": "new",
        },
        "covered": {"overlay": _strips(-1, 1, 5, map=["oak", "elm"]), "uncovered": "error"},
        "not covered": {"uncovered": "error"},
        "uncovered misspelt": {"uncovered": "ignore"},
        "slivers": {"overlay": _strips(-1, 1.999, 3, 4.5, map=["oak", "elm", "elm"]), "sliver": 0.01},
        "negative sliver": {"sliver": -1},
        "names": {"names": {"oak": "Eiche", "elm": "Ulme"}},
        "ignore": {"ignore": "elm"},
        "nothing in common": {"overlay": _strips(1000, 1001, map=["oak"])},
        "overlapping": {"overlay": overlapping},
        "no layer": {"data": "reference.gpkg", "overlay": "cover.gpkg"},
        "layer of the reference": {"data": "reference.gpkg", "overlay": "cover.gpkg", "layer": "new"},
        "two layers by position": {"by position": True},
        "several maps": {"overlay": {"a": cover, "b": cover}, "pred": None},
        "join": {"join": cover, "on": "zone"},
        "population": {"stratum": "zone", "population": {"n": 3, "s": 4}, "weight": None},
        "no such column": {"pred": "mapp"},
        "no such group": {"by": "sheets"},
        "text for weights": {"weight": "zone"},
        "no pred": {"pred": None},
        "an array": {"overlay": np.zeros((3, 3))},
    }
    for name, given in of.items():
        own = {**one, **given}
        if own.pop("by position", False):
            own = {"y_true": "reference.gpkg", "y_pred": "cover.gpkg"}
        yield Case(name, "overlay", {key: x for key, x in own.items() if x is not None}, exact=False)


@group("points", "pyarrow", "geopandas", "pyogrio", "pyproj", "shapely", "pandas", "rasterio")
def points() -> Iterator[Case]:
    """Points with a true label on maps of polygons or pixels."""
    import geopandas as gpd
    import pandas as pd

    cover = _strips(0, 1, 3, map=["oak", "elm"], old=["oak", "oak"], sheet=["A", "B"])
    x, y = 4_325_000 + 100 * np.array([0.5, 1.5, 2.5, 0.25, 2.75, 3.5]), np.full(6, 3_205_050.0)
    rows = {"ref": ["oak", "elm", "oak", "oak", "elm", "elm"], "x": x, "y": y, "w": [1.0, 2.5, 0.25, 4.0, 8.0, 0.5]}
    rows |= {"part": list("aabbab"), "code": [1, 2, 1, 1, 2, 2], "size": [9.0, 9, 7.5, 7.5, 9, 7.5]}
    table = pd.DataFrame(rows)
    frame = gpd.GeoDataFrame(table, geometry=gpd.points_from_xy(x, y), crs="EPSG:3035")
    inside = table.iloc[:5]
    table.to_csv("points.csv", index=False)
    table.to_parquet("points.parquet")
    cells = np.array([[1, 2, 2, 0], [2, 1, 1, 2]], dtype="u1")
    grid = {"crs": "EPSG:3035", "origin": (4_325_000, 3_205_100), "step": 100}
    raster, named = put_raster("cells.tif", cells, **grid), {1: "oak", 2: "elm", 0: "none"}
    old = put_raster("old.tif", cells[::-1].copy(), **grid, nodata=0)
    legend = put_raster("legend.tif", cells, **grid, names=named)
    one = {"data": table, "overlay": cover, "xy": ("x", "y"), "crs": "EPSG:3035", "true": "ref", "pred": "map"}
    pixels = {"data": table, "overlay": raster, "xy": ("x", "y"), "crs": "EPSG:3035", "true": "code"}
    by_class = {"stratum": "class", "population": {0: 20, 1: 100, 2: 70}}
    frame.to_file("points.gpkg")
    of: dict[str, dict[str, Any]] = {
        "table": one,
        "inside": {**one, "data": inside},
        "layer": {"data": frame, "overlay": cover, "true": "ref", "pred": "map"},
        "csv": {**one, "data": "points.csv"},
        "parquet": {**one, "data": "points.parquet"},
        "weights": {**one, "weight": "w"},
        "by the map": {**one, "weight": "w", "by": "sheet"},
        "strata": {**one, "stratum": "part", "population": {"a": 100, "b": 70}},
        "strata of the map": {**one, "data": inside, "stratum": "sheet", "population": {"A": 100, "B": 70}},
        "sizes in a column": {**one, "stratum": "part", "population": "size"},
        "clusters": {**one, "cluster": "part", "weight": "w"},
        "several maps": {**one, "overlay": {"a": cover, "b": cover.iloc[::-1]}},
        "two columns": {**one, "pred": {"new": "map", "old": "old"}},
        "uncovered": {**one, "uncovered": "error"},
        "missing ignored": {**one, "missing": "ignore"},
        "ignore": {**one, "ignore": "oak"},
        "pixels": pixels,
        "pixels, weights": {**pixels, "weight": "w", "by": "part"},
        "pixels of a layer": {"data": frame, "overlay": raster, "true": "code"},
        "pixels, nodata": {**pixels, "overlay": old},
        "pixels of two maps": {**pixels, "overlay": {"new": raster, "old": old}},
        "pixels, strata": {**pixels, "stratum": "part", "population": {"a": 100, "b": 70}},
        "pixels with names": {**pixels, "true": "ref", "overlay": legend},
        "pixels, names": {**pixels, "names": named},
        "pixels below a file": {"data": "points.gpkg", "overlay": raster, "true": "code", **by_class},
        "pixels, names of text": {**pixels, "true": "ref", "names": named, **by_class},
        "pixels of a raster with names": {**pixels, "true": "ref", "overlay": opened(raster, names=named)},
        "pixels, strata of one of two maps": {
            **pixels,
            "overlay": {"old": old, "new": raster},
            **by_class,
            "stratum": "new",
        },
        "pixels, band": {**pixels, "overlay": opened(raster, band=1)},
        "pixels with pred": {**pixels, "pred": "map"},
        "no crs": {**one, "crs": None},
        "another crs": {**one, "crs": "EPSG:4326"},
        "no such coordinate": {**one, "xy": ("x", "z")},
        "coordinates that are text": {**one, "xy": ("x", "ref")},
        "one coordinate": {**one, "xy": "x"},
        "xy of a layer": {"data": frame, "overlay": cover, "true": "ref", "pred": "map", "xy": ("x", "y")},
        "areas": {**one, "weight": "area"},
        "sliver": {**one, "sliver": 1.0},
        "points alone": {"data": table, "xy": ("x", "y"), "crs": "EPSG:3035", "true": "ref", "pred": "ref"},
        "areas alone": {"data": frame, "true": "ref", "pred": "ref", "weight": "area"},
        "unweighted alone": {"data": frame, "true": "ref", "pred": "ref", "weight": "w"},
    }
    for name, given in of.items():
        yield Case(name, "points", {key: own for key, own in given.items() if own is not None})


# ---- what does not go together --------------------------------------------------------------------------------------

COLUMNED: dict[str, dict[str, Any]] = {
    **{name: {name: value} for name, value in {
        "true": "ref", "pred": "map", "weight": "w", "sample_weight": E, "y_pred": P, "by": "half", "cluster": "psu",
        "labels": list("ABCD"), "names": {"A": "a"}, "ignore": "A", "missing": "ignore", "positive": "A", "threads": 2,
        "progress": False, "stratum": "stratum", "population": 9, "fpc": 60, "lonely": "adjust", "nested": False,
        "nodata": 0,
    }.items()},
    "PostStrata": {"poststratum": "age", "totals": {"young": 3, "old": 4}},
    "Replicates": {"replicates": "rw*", "method": "brr"},
    "Replicates of weights": {"replicates": "rw*", "method": "brr", "weight": "w"},
    "Blocks": {"blocks": 4}, "Area": {"unit": "ha"}, "area": {"weight": "area"}, "Files": {"engine": "polars"},
    "Join": {"join": "a.parquet", "on": "id"}, "Layer": {"layer": "parcels"}, "Overlay": {"overlay": "cover.gpkg"},
    "Layer of points": {"xy": ("x", "y"), "crs": "EPSG:4326"},
}  # fmt: skip
"""A call's parameters, and its values, of sources that have columns."""


def _refusals(source: str, base: dict[str, Any], values: dict[str, Any]) -> Iterator[Case]:
    """A source with each parameter and value that it was not given, one at a time."""
    for name, given in values.items():
        if not base.keys() & given.keys():
            yield Case(name, source, {**base, **given}, depth="table", exact=source not in ("polygons", "overlay"))


def _with(values: dict[str, Any], **more: Any) -> dict[str, dict[str, Any]]:
    """The same parameters and values with other words in them."""
    found = {name: {word: more.get(word, own) for word, own in given.items()} for name, given in values.items()}
    return {name: {word: own for word, own in given.items() if own is not None} for name, given in found.items()}


def _keyed(rows: Any, **more: Any) -> dict[str, Any]:
    """Values of sources without columns, where keys are given by what ``rows`` makes."""
    keyed = {word: rows(word) for word in ("by", "cluster", "stratum", "poststratum")}
    numbers_of = {"labels": [0, 1, 2, 3], "names": {k: str(k) for k in range(4)}, "ignore": 0, "positive": 0}
    own = _with(COLUMNED, **{**keyed, **numbers_of, "totals": {0: 3, 1: 4}, **more})
    own["Replicates of weights"]["sample_weight"] = own["Replicates of weights"].pop("weight")
    if isinstance(own["Replicates of weights"]["sample_weight"], str):
        own["Replicates of weights"]["sample_weight"] = E
    return own


@group("refusals of arrays")
def refusals_of_arrays() -> Iterator[Case]:
    """Keywords with arrays."""
    values = _keyed(lambda word: TILE % 2, replicates=np.stack([E, E]).T)
    yield from _refusals("arrays", {"y_true": T, "y_pred": P}, values)


@group("refusals of weight matrices")
def refusals_of_weight_matrices() -> Iterator[Case]:
    """Keywords with weights of pairs."""
    S = np.outer(E, E)
    values = _keyed(lambda word: TILE % 2, replicates=np.stack([E, E]).T)
    yield from _refusals("arrays", {"y_true": T, "y_pred": P, "sample_weight": S}, values)


@group("refusals of frames", "pandas")
def refusals_of_frames() -> Iterator[Case]:
    """Keywords with a frame in memory."""
    import pandas as pd

    frame = pd.DataFrame(framed())
    yield from _refusals("frame", {"data": frame, **CALL}, _with(COLUMNED, join=frame))


@group("refusals of lazy frames", "polars")
def refusals_of_lazy_frames() -> Iterator[Case]:
    """Keywords with a lazy frame."""
    import polars as pl

    frame = pl.LazyFrame(framed(), strict=False)
    yield from _refusals("frame", {"data": frame, **CALL}, _with(COLUMNED, join=frame))


@group("refusals of files", "polars", "pyarrow")
def refusals_of_files() -> Iterator[Case]:
    """Keywords with a file."""
    saved()
    yield from _refusals("file", {"data": "a.csv", **CALL}, COLUMNED)


@group("refusals of joins", "pandas", "polars", "pyarrow")
def refusals_of_joins() -> Iterator[Case]:
    """Keywords with two frames."""
    import pandas as pd

    truth, pred = (pd.DataFrame(rows) for rows in _sides())
    yield from _refusals("join", {"data": truth, "join": pred, "on": "id", **CALL}, COLUMNED)


@group("refusals of images", "PIL")
def refusals_of_images() -> Iterator[Case]:
    """Keywords with folders of images."""
    put_images()
    words = {k: str(k) for k in (0, 1, 2, 3, 255)}
    values = _keyed(lambda word: "folder", sample_weight="maps", labels=[*words], names=words)
    yield from _refusals("images", {"y_true": "truth", "y_pred": "one"}, values)


@group("refusals of rasters", "rasterio", "pyproj")
def refusals_of_rasters() -> Iterator[Case]:
    """Keywords with rasters."""
    t, p, zones, w = maps()
    truth, pred = put_raster("truth.tif", t, **METRES), put_raster("map.tif", p, **METRES)
    values = _keyed(lambda word: zones, sample_weight=w)
    yield from _refusals("rasters", {"y_true": truth, "y_pred": pred}, values)


LAYERED: dict[str, Any] = {
    "by": "tile", "cluster": "tile", "stratum": "part", "poststratum": "part", "totals": {"x": 1, "y": 2},
    "weight": "ha", "replicates": "w*", "labels": ["a", "b"], "names": {"a": "A", "b": "B"}, "ignore": "a",
    "positive": "a",
}  # fmt: skip


@group("refusals of polygons", "geopandas", "pyogrio", "pyproj", "shapely")
def refusals_of_polygons() -> Iterator[Case]:
    """Keywords with a layer of polygons."""
    frame = parcels()
    values = _with(COLUMNED, **LAYERED, overlay=frame.iloc[:2], join=frame.drop(columns="geometry"))
    yield from _refusals("polygons", {"data": frame, "true": "ref", "pred": "map"}, values)


@group("refusals of files of polygons", "pyarrow", "geopandas", "pyogrio", "pyproj", "shapely")
def refusals_of_files_of_polygons() -> Iterator[Case]:
    """Keywords with a file of polygons."""
    parcels().to_file("a.gpkg", layer="parcels")
    values = _with(COLUMNED, **LAYERED, overlay="a.gpkg", join="a.gpkg")
    yield from _refusals("polygons", {"data": "a.gpkg", "true": "ref", "pred": "map"}, values)


@group("refusals of overlays", "geopandas", "pyogrio", "pyproj", "shapely")
def refusals_of_overlays() -> Iterator[Case]:
    """Keywords with two layers."""
    frame = parcels()
    cover = frame[["old", "geometry"]]
    base = {"data": frame, "overlay": cover, "true": "ref", "pred": "old"}
    yield from _refusals("overlay", base, _with(COLUMNED, **LAYERED, join=frame.drop(columns="geometry")))


@group("refusals of points", "geopandas", "pyogrio", "pyproj", "shapely", "pandas")
def refusals_of_points() -> Iterator[Case]:
    """Keywords with points of a table on a map."""
    import pandas as pd

    frame = parcels()
    inside = frame.geometry.representative_point()
    table = pd.DataFrame(frame.drop(columns=["geometry", "old"])).assign(x=inside.x, y=inside.y)
    base = {
        "data": table,
        "overlay": frame[["old", "geometry"]],
        "xy": ("x", "y"),
        "crs": 4326,
        "true": "ref",
        "pred": "old",
    }
    yield from _refusals("points", base, _with(COLUMNED, **LAYERED, join=table))


@group("refusals of streams")
def refusals_of_streams() -> Iterator[Case]:
    """Keywords with the updates of a stream, and with the stream itself."""
    values = _keyed(lambda word: TILE % 2, replicates=np.stack([E, E]).T)
    for name in (name for name in values if name != "y_pred"):
        update = {"y_true": T, "y_pred": P}
        yield Case(f"update {name}", "stream", {"updates": [{**update, **values[name]}]}, depth="table")
        yield Case(name, "stream", {"updates": [update], **values[name]}, depth="table")


# ---- scores ---------------------------------------------------------------------------------------------------

M = 90
SHOWN = draws(M, 2, 81)
CHANCE = (draws(M, 40, 82) + 16 * SHOWN) / 64
RIVAL = (draws(M, 52, 83) + 9 * SHOWN) / 64


def rated() -> dict[str, list[Any]]:
    """Rows with a true class and two scores, with ties; sums of weights are exact in every engine."""
    columns = {
        "id": np.arange(M), "seen": SHOWN, "p": CHANCE, "q": RIVAL, "w": eighths(M, 84), "half": draws(M, 2, 85),
        "day": draws(M, 12, 86), "region": np.array(["north", "south"])[np.arange(M) % 2],
        "rw0": eighths(M, 87), "rw1": eighths(M, 88), "rw2": eighths(M, 89), "rw3": eighths(M, 90),
    }  # fmt: skip
    return {name: own.tolist() for name, own in columns.items()}


SCORED: dict[str, dict[str, Any]] = {
    "weights": {"weight": "w"},
    "several scores": {"weight": "w", "score": ["p", "q"]},
    "by": {"weight": "w", "by": "half"},
    "thresholds": {"weight": "w", "thresholds": [0.25, 0.5, 0.75]},
    "strata and clusters": {"weight": "w", "stratum": "region", "cluster": ["region", "day"]},
    "replicates": {"weight": "w", "replicates": ["rw0", "rw1", "rw2", "rw3"], "method": "bootstrap"},
}


def _rated(data: Any, source: str, names: tuple[str, ...] = tuple(SCORED), before: str = "") -> Iterator[Case]:
    for name in names:
        own = {"data": data, "true": "seen", "score": "p", **SCORED[name]}
        yield Case(f"{before}{name}", source, own)


@group("scores")
def scores() -> Iterator[Case]:
    """Scores in arrays: one, several, a column for each class, and what is said of bad ones."""
    base: dict[str, Any] = {"y_true": SHOWN, "score": CHANCE}
    weighted = base | {"sample_weight": rough(M)}
    given: dict[str, dict[str, Any]] = {
        "plain": base,
        "weights": weighted,
        "float32, and infinities": weighted | {"score": np.where(RIVAL > 0.8, np.inf, RIVAL).astype("f4") / 3},
        "text and positive": weighted | {"y_true": np.array(["no", "yes"])[SHOWN], "positive": "no"},
        "ignored": weighted | {"y_true": np.where(CHANCE == 0.5, 9, SHOWN), "ignore": 9},
        "thresholds": weighted | {"thresholds": [0.75, 0.25, 0.5]},
        "several scores": weighted | {"score": {"A": CHANCE, "B": RIVAL}},
        "clusters": weighted | {"cluster": draws(M, 12, 86)},
        "strata": base | {"stratum": np.arange(M) % 2, "population": {0: 500, 1: 90}},
        "replicates": weighted | {"replicates": np.stack([rough(M, k) for k in (1, 2, 3, 4)]).T, "method": "bootstrap"},
        "by": weighted | {"by": draws(M, 2, 85)},
        "by two": weighted | {"by": {"half": draws(M, 2, 85), "all": np.zeros(M, int)}},
        "a missing score": weighted | {"score": np.where(CHANCE == 0.5, np.nan, CHANCE)},
        "a constant score": weighted | {"score": np.full(M, 0.5)},
        "one class": weighted | {"y_true": np.ones(M, int)},
    }
    for name, own in given.items():
        yield Case(name, "arrays", own)
    kinds, columns = draws(M, 3, 91), np.stack([(draws(M, 64, k) + 1) / 64 for k in (92, 93, 94)]).T
    several = {"y_true": kinds, "score": columns + np.eye(3)[kinds] / 4, "sample_weight": rough(M)}
    yield Case("a column for each class", "arrays", several)
    yield Case("columns of named classes", "arrays", several | {"y_true": WORDS[kinds], "labels": [*WORDS[[2, 0, 1]]]})
    halves = [{name: own[k::2] for name, own in weighted.items()} for k in (0, 1)]
    yield Case("a stream", "stream", {"updates": halves, "thresholds": [0.25, 0.5, 0.75]})


@group("scores of frames", "pandas", "polars", "duckdb")
def scores_of_frames() -> Iterator[Case]:
    """Scores in frames of pandas, polars and DuckDB, and in two frames."""
    import duckdb
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame(rated())
    yield from _rated(frame, "frame")
    yield from _rated(pl.DataFrame(rated()), "frame", ("weights",), "polars, ")
    yield from _rated(pl.LazyFrame(rated()), "frame", before="lazy, ")
    yield from _rated(duckdb.from_df(frame), "frame", ("weights", "strata and clusters"), "DuckDB, ")
    sides = frame[["id", "seen", "w", "half"]], frame[["id", "p", "q"]][::-1]
    own = {"true": "seen", "weight": "w", "on": "id", "join": sides[1]}
    yield Case("join", "join", {"data": sides[0], "score": "p", **own})
    yield Case("join, several scores", "join", {"data": sides[0], "score": {"A": "p", "B": "q"}, **own})
    lost = {"data": sides[0][3:], "score": "p", "by": "half", **own}
    yield Case("join, unmatched", "join", lost | {"unmatched": "ignore"})
    yield Case("join, unmatched and refused", "join", lost)


@group("scores of files", "polars", "pyarrow")
def scores_of_files() -> Iterator[Case]:
    """Scores in files, read by Arrow and by polars."""
    import polars as pl

    frame = pl.DataFrame(rated())
    frame.write_csv("a.csv")
    frame.write_parquet("a.parquet", row_group_size=32)
    yield from _rated("a.csv", "file")
    yield from _rated("a.parquet", "file", ("weights", "several scores"), "Parquet, ")
    left = {"true": "seen", "score": "p", "weight": "w", "on": "id"}
    frame.drop("p").write_csv("truth.csv")
    frame.select("id", "p", seen=pl.lit("other")).write_csv("scores.csv")
    yield Case("join", "join", {"data": "truth.csv", "join": "scores.csv", **left})
    yield Case("join, polars", "join", {"data": "truth.csv", "join": "scores.csv", "engine": "polars", **left})
    yield Case("polars", "file", {"data": "a.csv", "true": "seen", "score": "p", "weight": "w", "engine": "polars"})
    yield Case("scores as predictions", "file", {"data": "a.csv", "true": "seen", "pred": "p", "weight": "w"})
