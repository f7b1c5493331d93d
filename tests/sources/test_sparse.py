"""Sparse weight matrices whose parts do not fit together: a sentence, and no memory that is not theirs."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import FORMATS, pairs
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc import matrices
from wmcc.errors import InputError, InputTypeError


def dense(S):
    """A matrix in full; SciPy stumbles over room behind the last entry of a BSR matrix, so it is cut off first."""
    S = copy.deepcopy(S)
    if S.format != "coo":
        vars(S).update(indices=S.indices[: S.indptr[-1]], data=S.data[: S.indptr[-1]])
    return S.toarray()


def fits(S):
    """Whether SciPy itself finds nothing wrong; it does not look at all of a matrix that ends where it begins."""
    if S.format != "coo" and (np.diff(S.indptr) < 0).any():
        return False
    S = copy.deepcopy(S)
    try:
        S._check() if S.format == "coo" else S.check_format(full_check=True)
    except ValueError:
        return False
    return True


@given(data=pairs(weight=st.floats(1, 10), most=4), draw=st.data())
@settings(max_examples=300)
def test_a_damaged_matrix_gets_a_sentence_or_is_still_one(data, draw):
    t, c, S = data
    damaged = sp.coo_array(S).asformat(draw.draw(st.sampled_from(FORMATS[:4])))
    parts = {name: getattr(damaged, name) for name in ("indices", "indptr", "data") if hasattr(damaged, name)}
    if damaged.format == "coo":
        parts |= {"row": damaged.row, "col": damaged.col}
    name = draw.draw(st.sampled_from(sorted(parts)))
    part = parts[name].copy()
    if len(part) and name != "data" and draw.draw(st.booleans()):
        part[draw.draw(st.integers(0, len(part) - 1))] = draw.draw(st.integers(-2, 20))
    else:
        part = np.concatenate([part, part[:1]]) if draw.draw(st.booleans()) else part[:-1]
    vars(damaged)["coords" if name in ("row", "col") else name] = (
        (part, damaged.col) if name == "row" else (damaged.row, part) if name == "col" else part
    )
    if not fits(damaged):
        with pytest.raises(InputError, match=r"sample_weight is a sparse matrix \(\w+\) whose parts do not fit"):
            wmcc.tabulate(t, c, damaged)
        with pytest.raises(InputError, match="S is a sparse matrix"):
            matrices.check(damaged)
    else:
        before = copy.deepcopy(damaged)
        assert wmcc.tabulate(t, c, damaged) == wmcc.tabulate(t, c, dense(damaged))
        for name in parts:
            assert np.array_equal(getattr(before, name), getattr(damaged, name))  # left as it was


def broken(form, name, value):
    S = sp.coo_array(np.array([[1.0, 2, 0], [0, 1, 0], [0, 3, 1]])).asformat(form)
    setattr(S, name, value(getattr(S, name)))
    return S


def without_last(lists):
    lists[0] = lists[0][:-1]
    return lists


DAMAGED = {
    "index too large": (broken("csr", "indices", lambda x: x + 2), r"\(csr\) .*: indices must be < 3\."),
    "negative index": (broken("csc", "indices", lambda x: x - 1), r"\(csc\) .*: indices must be >= 0\."),
    "falling": (broken("csr", "indptr", lambda x: x[::-1] - 5), "index pointers must not fall"),
    "start": (broken("bsr", "indptr", lambda x: x + 1), r"\(bsr\) .*: index pointer should start with 0"),
    "end": (broken("csr", "indptr", lambda x: x * 9), "Last value of index pointer should be less than"),
    "short": (broken("bsr", "indptr", lambda x: x[:-1]), r"index pointer size \(3\) should be \(4\)"),
    "no integers": (broken("csr", "indices", lambda x: x * 1.0), "indices must be integers, and are float64 and int32"),
    "coordinates": (broken("coo", "coords", lambda x: (x[0] + 1, x[1])), "axis 0 index 3 exceeds matrix dimension 3"),
    "dict": (broken("dok", "_dict", lambda x: {(9, 0): 1.0}), r"\(dok\) .*: .*9"),
    "lists": (broken("lil", "rows", without_last), "a row has more columns than values, or fewer"),
    "diagonals": (broken("dia", "offsets", lambda x: x[:1]), r"number of diagonals \(3\) does not match"),
}


@pytest.mark.parametrize(("S", "message"), DAMAGED.values(), ids=list(DAMAGED))
def test_damage_is_named(S, message):
    with pytest.raises(InputError, match=message) as caught:
        wmcc.tabulate([0, 1, 1], [0, 1, 0], S)
    assert not caught.value.message.endswith("..")


def test_indices_in_another_byte_order():
    S = broken("csr", "indices", lambda x: x.astype(">i4"))
    assert wmcc.tabulate([0, 1, 1], [0, 1, 0], S) == wmcc.tabulate([0, 1, 1], [0, 1, 0], dense(S))


def test_sparse_weights_that_are_not_real():
    for form in FORMATS:
        S = sp.coo_array(np.eye(3) * (1 + 2j)).asformat(form)
        with pytest.raises(InputTypeError, match="sample_weight holds complex numbers"):
            wmcc.tabulate([0, 1, 1], [0, 1, 0], S)
        with pytest.raises(InputTypeError, match="S holds complex numbers"):
            matrices.check(S)
