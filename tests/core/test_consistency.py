"""Sums that rows can have are taken from every store, and sums that no rows can have from none."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from helpers import any_weight, joint_table, rows
from hypothesis import assume, given
from hypothesis import strategies as st

import wmcc
from wmcc import Table
from wmcc.core.exact import Exact
from wmcc.core.stack import Stack
from wmcc.core.sums import Sums
from wmcc.errors import InputError, SchemaError


def cells(table, **changes):
    """What `Table.from_cells` takes."""
    names = ("n", "w", "w2", "w_min", "w_max")
    return table.labels, *(changes.get(name, getattr(table, name)) for name in names)


def changed(table, **changes):
    """What is stored of a table, with other sums in its first cell."""
    data = copy.deepcopy(table.to_dict())
    for name, value in changes.items():
        stored = data["cells"]
        if name in ("w", "w2"):
            vector = Exact.from_hex(_hex(value))
            stored[f"{name}_exact"][0], (value,) = vector.hex()[0], vector.floats().tolist()
            value = value if math.isfinite(value) else None
        stored[name][0] = value
    return data


def _hex(x):
    """A fraction as an exact sum, cut off where that makes no difference here."""
    power = 64 + x.denominator.bit_length() - x.numerator.bit_length()
    return [f"{math.floor(x * Fraction(2) ** power):#x}p{-power}"]


def fits_float64(table):
    """Whether the rounded sums say as much as the exact ones."""
    return bool((np.isfinite(table.w) & np.isfinite(table.w2) & ((table.w2 > 0) | ~(table.w_max > 0))).all())


# ---- what rows have ------------------------------------------------------------------------------------


@given(rows(most=12), rows(most=12), st.sampled_from([0.3, 1.0, 2.0, 50.0, 1e12]), st.integers(1, 40))
def test_what_rows_make_is_taken_from_every_store(a, b, half_life, updates):
    one, two = wmcc.tabulate(*a.arrays), wmcc.tabulate(*b.arrays)
    fading = wmcc.Accumulator(half_life=half_life)
    fading.update(one)
    for _ in range(updates):
        fading.update(two)
    joint = joint_table(a.t, a.p, a.p[::-1], a.w)
    tables = [one, one + two, fading.table, joint["b"], wmcc.tabulate(a.t, a.p)]
    text = wmcc.tabulate([*map(str, a.t)], [*map(str, a.p)], a.w)
    for table in [*tables, text.against_rest(text.labels[0])]:
        assert Table.from_json(table.to_json()) == table
        assert Table.from_dict(table.to_dict()) == table
        assert pickle.loads(pickle.dumps(table)) == table
        if fits_float64(table):
            assert np.array_equal(Table.from_cells(*cells(table)).w, table.w)


@given(st.lists(any_weight, min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_sums_of_any_engine_are_taken(weights, random):
    """Rounded at each addition, in any order; squares rounded too, and gone where they are too small."""
    random.shuffle(weights)
    w, squares = (sum(x) for x in (weights, [x * x for x in weights]))
    assume(math.isfinite(squares) and (squares or not any(weights)))
    numbers = (np.array([x]) for x in (w, squares, min(weights), max(weights)))
    sums = Sums.from_floats(np.array([len(weights)]), *numbers)
    table = Table((0,), Stack(np.zeros((2, 1), dtype=np.int64), sums))
    assert Table.from_json(table.to_json()) == table


@given(st.integers(1, 10**11), st.floats(1e-100, 1e100), st.floats(-1, 1), st.floats(-1, 1))
def test_sums_of_many_rows_are_taken(n, weight, a, b):
    """All rows weigh the same, which leaves no room, and the sums are as wrong as n additions can make them."""
    worst = n * 2.0**-53
    w, w2 = n * weight * (1 + a * worst), n * weight**2 * (1 + b * worst)
    table = Table.from_cells([0], [[n]], [[w]], [[w2]], [[weight]], [[weight]])
    assert Table.from_json(table.to_json()) == table


# ---- what no rows have ----------------------------------------------------------------------------------

LARGEST = Fraction(np.finfo(np.float64).max)

sizes = st.integers(-480, 980).map(lambda power: 2.0**power)
"""Squares are normal numbers, so that an engine's are right; those of large weights overflow, and exact sums do not."""


@given(st.lists(st.floats(1, 100), min_size=1, max_size=20), sizes, st.sampled_from([1.0001, 1.01, 2, 1e6, 1e40]))
def test_sums_that_no_rows_have_are_refused(weights, size, factor):
    y, w = [0] * len(weights), [x * size for x in weights]
    table = wmcc.tabulate(y, y, w)
    n, s, low, high = len(w), sum(map(Fraction, w)), Fraction(min(w)), Fraction(max(w))
    factor = Fraction(factor)
    for change in (
        {"w2": s * s / n / factor},
        {"w2": high * s * factor},
        {"w": n * low / factor},
        {"w": n * high * factor},
        {"w_min": s / n * factor, "w_max": max(high, s / n * factor)},
        {"w_max": s / n / factor, "w_min": min(low, s / n / factor)},
        {"w_min": high * factor},
    ):
        if max(change.get("w_min", 0), change.get("w_max", 0)) > LARGEST:
            continue  # ends are float64
        change = {name: float(x) if name.startswith("w_") else x for name, x in change.items()}
        with pytest.raises(SchemaError, match="the cell of true 0 and predicted 0 has impossible sums"):
            Table.from_dict(changed(table, **change))
        try:
            floats = {name: np.array([[float(x)]]) for name, x in change.items()}
        except OverflowError:
            continue
        if fits_float64(table):
            with pytest.raises(InputError, match="the cell of true 0 and predicted 0 has impossible sums"):
                Table.from_cells(*cells(table, **floats))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"w2": 2}, r"n = 2, w = 4, w2 = 2, w_min = 1, w_max = 3; but w2 is smallest .* and then it is w² / n\."),
        (
            {"w2": 11},
            r"w2 = 11, w_min = 1, w_max = 3; but w2 is largest .* n · w_min · w_max\."
            r"[\s\S]*Hint: w is the sum of the weights",
        ),
        ({"w": 1}, r"w = 1, .*; but each row weighs at least w_min, so w is at least n · w_min\."),
        ({"w": 7}, r"w = 7, .*; but each row weighs at most w_max, so w is at most n · w_max\."),
        ({"n": 0}, r"n = 0, w = 4, w2 = 10, w_min = nan, w_max = nan; but the sums of no rows are 0\."),
        ({"w_min": 4}, r"w_min is 4.0 and w_max is 3.0; expected finite numbers of at least 0, in this order\."),
        ({"w2": -1}, r"w2 is -1.0; expected a number of at least 0\."),
        ({"w": math.nan}, r"w is nan; expected a number of at least 0\."),
        ({"w2": math.inf}, r"w2 is inf, beyond the range of float64\.[\s\S]*Hint: scale the weights\."),
    ],
)
def test_the_sentence_names_the_cell_and_says_why(change, said):
    found = {"n": 2, "w": 4.0, "w2": 10.0, "w_min": 1.0, "w_max": 3.0} | change
    arrays = [np.array([[0, x], [0, 0]]) for x in found.values()]
    with pytest.raises(InputError, match=f"the cell of true 'elm' and predicted 'oak' has impossible sums: .*{said}"):
        Table.from_cells(["elm", "oak"], *arrays)


@pytest.mark.parametrize("half_life", [0.7, 2.0])
def test_weights_that_fade_to_nothing_can_be_stored(half_life):
    """Ends are float64 and stop at its smallest number, and sums go on to a size that float64 has not."""
    stream = wmcc.Accumulator(half_life=half_life)
    stream.update([0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [1.0, 1.5, 1.1, 0.3, 0.7])
    for step in range(int(2500 * half_life)):
        stream.update(Table.empty())
        if step % 100 == 0:
            table = stream.table
            assert Table.from_json(table.to_json()) == table
