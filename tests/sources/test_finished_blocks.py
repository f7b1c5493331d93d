"""Blocks that are put aside are those of the table of all."""

import numpy as np
import pytest

import wmcc
from wmcc.sources.finished_blocks import FinishedBlocks


def bands(height, side, unknown=False, weights=False, several=False):
    """Tables of bands of rows of a map, in blocks of so many rows, and the numbers of the rows where they end."""
    rng = np.random.default_rng(height + side)
    truth, pred = rng.integers(0, 4, (2, height, 9)) + np.arange(height)[:, None] // 8  # classes come as one goes down
    w = rng.lognormal(size=truth.shape) if weights else None
    rows, columns = np.indices(truth.shape) // side
    ends = sorted({*rng.integers(1, height, 5).tolist(), height})

    def tabulated(part):
        maps = {"a": pred[part], "b": np.maximum(pred[part] - 1, 0)} if several else pred[part]
        own = {"cluster": {"row": rows[part], "column": columns[part]}, "ignore": [2] if unknown else None}
        return wmcc.tabulate(truth[part], maps, None if w is None else w[part], **own)

    return [tabulated(slice(a, b)) for a, b in zip([0, *ends], ends, strict=False)], ends, tabulated(slice(None))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("side", [1, 3, 7, 100])
def test_the_table_is_that_of_all_bands(side, unknown, weights, several):
    parts, ends, whole = bands(40, side, unknown, weights, several)
    finished = FinishedBlocks()
    assert not finished
    rest = []
    for part, end in zip(parts, ends, strict=True):
        rest = [finished.taken_from(wmcc.merge([*rest, part]), end // side)]
        assert all(row >= end // side for row, _ in rest[0].drawn.units)
    finished.taken_from(rest[0])
    table = finished.table()
    assert table == whole
    assert table.drawn == whole.drawn
    assert not finished


def test_many_classes_are_merged_as_others_are(monkeypatch):
    parts, ends, whole = bands(30, 4)
    monkeypatch.setattr("wmcc.sources.finished_blocks.MOST_PAIRS", 8)
    finished = FinishedBlocks()
    rest = finished.taken_from(wmcc.merge(parts), ends[-2] // 4)
    finished.taken_from(rest)
    assert finished.table() == whole
