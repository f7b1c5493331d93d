"""What is wrong with a design is said in a sentence that names it; hints that can be followed are followed."""

from __future__ import annotations

import flat
import numpy as np
import pandas as pd
import polars as pl
import pytest

import wmcc
from wmcc.errors import InputError, InputTypeError

TRUTH, GUESS = list("oeeo"), list("oeoo")
S, N = list("aabb"), [1, 1, 2, 2]
FRAME = pd.DataFrame({"t": TRUTH, "p": GUESS, "s": S, "n": N, "size": [5.0, 5.0, 6.0, 6.0], "c": [1, 2, 2, 3]})
SIZES = {"a": 5, "b": 6}
REPLICATED = {"replicates": np.ones((4, 2)), "method": "brr"}


def of_arrays(**call):
    return flat.tabulate(TRUTH, GUESS, **call)


def of_frame(frame=FRAME, **call):
    return flat.tabulate(frame, true="t", pred="p", **call)


def refused(call, said, hint=None, tabulate=of_arrays):
    with pytest.raises((InputError, InputTypeError)) as caught:
        tabulate(**call)
    assert caught.value.message == said
    assert (caught.value.hint or "") == (hint or "")


NUMBER = "expected a number"
COULD_BE = (
    "give a mapping such as population={'forest': 3200000, 'water': 150000}, a frame with a column of keys and one "
)
COULD_BE += "of sizes, or the name of a column of the data."


@pytest.mark.parametrize(
    ("sizes", "said", "hint"),
    [
        ({"a": 5}, "`population` has no size for 'b', which the sample has.", "add it to `population`."),
        (
            {"a": 5, "c": 6},
            "`population` has no size for 'b', which the sample has.",
            "add it to `population`; it also names 'c', of which the sample has no row: check the spelling.",
        ),
        (
            {"x": 5, "y": 6},
            "`population` has no size for 'a', 'b', which the sample has.",
            "add them to `population`; it also names 'x', 'y', of which the sample has no row: check the spelling.",
        ),
        ({"a": 5, "b": -6}, "`population` of stratum 'b' is -6; expected a finite number of at least 0.", None),
        ({"a": 5, "b": np.inf}, "`population` of stratum 'b' is inf; expected a finite number of at least 0.", None),
        ({"a": 5, "b": np.nan}, f"`population` of stratum 'b' is missing; {NUMBER}.", None),
        ({"a": 5, "b": None}, f"`population` of stratum 'b' is missing; {NUMBER}.", None),
        ({"a": 5, "b": pd.NA}, f"`population` of stratum 'b' is missing; {NUMBER}.", None),
        ({"a": 5, "b": "six"}, f"`population` of stratum 'b' is 'six' (str); {NUMBER}.", None),
        ({"a": 5, "b": "6"}, f"`population` of stratum 'b' is '6' (str); {NUMBER}.", None),
        ({"a": 5, "b": True}, f"`population` of stratum 'b' is True (bool); {NUMBER}.", None),
        ({"a": 5, "b": [6]}, f"`population` of stratum 'b' is [6] (list); {NUMBER}.", None),
        (
            {"a": 5, "b": 0},
            "`population` of stratum 'b' is 0, and rows were sampled there.",
            "give the size that it has, or leave these rows out.",
        ),
        (
            {1: 5, 2: 6},
            "`population` has the stratum 1 (number), and the sample has 'a' (text); keys of different types cannot be "
            "matched.",
            "write the keys of `population` as the sample has them.",
        ),
        ({("a", 1): 5}, "`population` has the key ('a', 1); expected a single value.", None),
        ({None: 5, "a": 5, "b": 6}, "`population` has a stratum without a key.", "leave it out, or name it."),
        ({}, "`population` is an empty mapping; expected a size for each stratum.", None),
        (
            7,
            "`population` is one number, 7; with `stratum` expected a size for each stratum.",
            "give a mapping such as population={'a': …}.",
        ),
        (True, "`population` is True (bool); expected a size for each stratum.", COULD_BE),
        (
            "size",
            "`population` is 'size'; a column name works only with a frame or a file.",
            "give a mapping from keys to numbers, or a number per observation.",
        ),
        (
            [5, 5, 6, 7],
            "the column given as `population` has 6 and 7 in stratum 'b'; "
            "expected one number in all rows of a stratum.",
            None,
        ),
        ([5, 5, 6], "`population` has shape (3,), and the labels (4,).", "give a number per observation."),
        (["5", "5", "6", "6"], "population[0] is '5'; expected a number per observation.", None),
        ([5, 5, np.nan, 6], f"`population` of stratum 'b' is missing; {NUMBER}.", None),
        ([5, 5, -6, -6], "`population` of stratum 'b' is -6; expected a finite number of at least 0.", None),
    ],
)
def test_sizes(sizes, said, hint):
    refused({"stratum": S, "population": sizes}, said, hint)


def test_strata_without_a_sampled_row():
    unless = "or leave it out of `population` if it is not part of the target; for a sample that comes in parts use "
    refused(
        {"stratum": S, "population": {**SIZES, "c": 7}},
        "1 stratum has a size but no sampled row: 'c' (size 7).",
        f"sample it, merge it with another stratum, {unless}`wmcc.Accumulator`; "
        "or `wmcc tabulate -o` of each part, and `wmcc merge`.",
    )
    with pytest.raises(InputError, match=r"2 strata have a size but no sampled row: 'c' \(size 7\), 'd' \(size 8"):
        of_arrays(stratum=S, population={**SIZES, "c": 7, "d": 8.25})
    with pytest.raises(InputError, match=r"9 strata have .* 'g' \(size 1\) and 4 more\."):
        of_arrays(stratum=S, population=SIZES | dict.fromkeys("cdefghijk", 1))
    with pytest.raises(InputError, match=r"1 stratum has a size but no sampled row: 'c' \(size 9\)"):
        of_arrays(stratum=S, fpc={**SIZES, "c": 9})
    merged = {x: "b" if x == "c" else x for x in "abc"}  # merge it with another stratum
    assert of_arrays(stratum=[merged[x] for x in S], population={"a": 5, "b": 13}).total == 18
    assert of_arrays(stratum=S, population={**SIZES, "c": 0}).total == 11  # nothing is to be sampled there
    survey, strata = wmcc.Accumulator(), wmcc.Strata(population={**SIZES, "c": 7})
    survey.update(TRUTH, GUESS, design=strata.of(S))
    survey.update("o", "o", design=strata.of("c"))
    assert wmcc.score(survey).total == 18


@pytest.mark.parametrize("call", [{"population": {"a": 5, "b": 1}, "fpc": True}, {"fpc": {"a": 5, "b": 1}}])
def test_populations_smaller_than_their_sample(call):
    refused(
        {"stratum": S, **call},
        "stratum 'b' has 2 sampled rows and a size of 1; a population cannot be smaller than its sample.",
        "give the number of rows that it has; for sizes that are areas leave out `fpc`.",
    )
    refused(
        {"stratum": S, "cluster": N[::-1], "fpc": {"a": 0.5, "b": 2}},
        "stratum 'a' has 1 sampled cluster and a size of 0.5; a population cannot be smaller than its sample.",
        "give the number of clusters that it has, not the sampled fraction.",
    )
    with pytest.raises(InputError, match="the population has 4 sampled rows and a size of 3"):
        of_arrays(fpc=3)


def test_two_kinds_of_sizes():
    refused(
        {"stratum": S, "population": SIZES, "fpc": {**SIZES, "c": 9}},
        "`population` has no size for 'c', which `fpc` has.",
        "add it to `population`.",
    )
    refused(
        {"stratum": S, "population": {**SIZES, "c": 9}, "fpc": SIZES},
        "`fpc` has no size for 'c', which `population` has.",
        "add it to `fpc`.",
    )


def test_keys_of_several_columns():
    refused(
        {"stratum": {"x": S, "z": N}, "population": SIZES},
        "`population` has the key 'a'; expected a tuple of 2 values, one for each column of `stratum`.",
    )
    with pytest.raises(InputTypeError, match=r"stratum \('a', '1'\) \(text, text\), and the sample has \('a', 1\)"):
        of_arrays(stratum={"x": S, "z": N}, population={("a", "1"): 5, ("b", "2"): 6})
    assert of_arrays(stratum={"x": S, "z": N}, population={("a", 1): 5, ("b", 2): 6}).total == 11
    with pytest.raises(InputError, match=r"no size for \('b', 2\), which the sample has"):
        of_arrays(stratum={"x": S, "z": N}, population={("a", 1): 5})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"size": [5, 6]}, "a frame with the columns 'size'; expected a column of keys and one of numbers"),
        ({}, "a frame with the columns none; expected a column of keys and one of numbers"),
        (
            {"s": ["a", "b"], "n": [1, 2], "size": [5, 6]},
            "columns 's', 'n', 'size'; expected those of 's' and one of numbers",
        ),
        ({"s": ["a", "b", "a"], "size": [5, 6, 5]}, "`population` has two rows for 'a'; expected one"),
        ({"s": ["a", "b"], "size": [5, None]}, "`population` of stratum 'b' is missing"),
        ({"size": [5, 6], "class": ["a", "b"]}, "the stratum 5 (number), and the sample has 'a' (text)"),
        ({"s": ["a", None], "size": [5, 6]}, "`population` has a stratum without a key"),
    ],
)
def test_frames_of_sizes(columns, said):
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises((InputError, InputTypeError)) as caught:
            of_frame(stratum="s", population=make(columns))
        assert said in str(caught.value)
    if list(columns) == ["size"]:
        assert "reset_index()" in str(caught.value)
        indexed = pd.DataFrame(columns, index=pd.Index(["a", "b"], name="s"))
        assert of_frame(stratum="s", population=indexed.reset_index()).total == 11
    if list(columns) == ["size", "class"]:
        assert "the last column of `population` has the numbers" in str(caught.value)
        assert of_frame(stratum="s", population=pd.DataFrame(columns)[["class", "size"]]).total == 11


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"strata": S}, "tabulate() has no keyword 'strata'.\n\nHint: write tabulate(…, design=wmcc.Strata(…))."),
        ({"populations": SIZES}, "design=wmcc.Strata("),
        ({"stratum": S[:3]}, "`stratum` has shape (3,), and the labels (4,)."),
        ({"stratum": "s"}, "`stratum` is 's'; a column name works only with a frame or a file."),
        (
            {"stratum": ["a", None, "b", "b"]},
            "stratum[1] is missing (None); every row needs a stratum.\n\nHint: leave such rows out, or assign them to",
        ),
        ({"stratum": np.ma.array(N, mask=[0, 1, 0, 0])}, "stratum[1] is masked; every row needs a stratum."),
        ({"stratum": [0.5, np.nan, 2.0, 2.0]}, "stratum[1] is missing (nan); every row needs a stratum."),
        ({"by": np.array(["2026-01-01", "NaT"] * 2, "M8[D]")}, "by[1] is missing (NaT); every row needs a key."),
        ({"cluster": [1, 2, None, 2]}, "Hint: leave such rows out, or give each its own cluster."),
        ({"stratum": [1, 2, {3}, 2]}, "stratum[2] is {3} (set); a key must be a number, a boolean, a text, a date or"),
        ({"stratum": np.ones(4, complex)}, "stratum has dtype complex128; keys must be integers, booleans or strings."),
        (
            {"poststratum": N, "totals": {1: 0, 2: 5}},
            "`totals` of post-stratum 1 is 0, and rows were sampled there.\n\n"
            "Hint: give the total that it has, or leave",
        ),
        (
            {"stratum": S, "population": SIZES, "poststratum": N, "totals": {1: 3, 2: 5}},
            "wmcc cannot yet make weights from the sizes of strata and scale them to totals as well.",
        ),
        (
            {"stratum": S, "population": "sizes.csv"},
            "Hint: if 'sizes.csv' is a file, read it first, for instance with polars",
        ),
        ({"stratum": ["a", 1, "b", "b"]}, "stratum holds keys of mixed types: 1 is a number and 'a' is a string."),
        ({"stratum": {}}, "`stratum` is empty; expected a key for each row."),
        ({"population": SIZES}, "`population` has a size for each stratum, and there is no `stratum`."),
        (
            {"stratum": S, "population": SIZES, "sample_weight": N},
            "`population` makes the weights of rows, size of the str",
        ),
        ({"stratum": S, "sample_weight": np.eye(4)}, "a weight matrix works for one prediction without groups or clus"),
        (
            {"stratum": S, "lonely": "drop"},
            "`lonely` is 'drop'; expected one of 'error', 'adjust', 'average', 'certain",
        ),
        ({"lonely": "adjust"}, "`lonely` is for samples with several strata; give `stratum`."),
        ({"nested": False}, "`nested` is for samples with several strata; give `stratum`."),
        ({"stratum": S, "nested": False}, "`nested` is False, which is for samples with `cluster`"),
        ({"stratum": S, "cluster": S, "nested": 1}, "`nested` is 1; expected True or False."),
        (
            {"stratum": S, "fpc": True},
            "`fpc` is True, which needs `population`: the number of units that each stratum has.",
        ),
        ({"stratum": S, "cluster": N, "population": SIZES, "fpc": True}, "here clusters were drawn."),
        (REPLICATED | {"cluster": S}, "`cluster` and replicate weights were given; replicate weights already describe"),
        ({"poststratum": S}, "`totals` of `PostStrata` is None; expected the known total of each post-stratum."),
        ({"totals": SIZES}, "`poststratum` of `PostStrata` is None; expected the key of each row."),
        ({"poststratum": S, "totals": 7}, "`totals` is 7 (int); expected a total for each post-stratum."),
        ({"poststratum": S, "totals": {"a": 7}}, "`totals` has no total for 'b', which the sample has."),
        (
            {"poststratum": S, "totals": {1: 7, 2: 8}},
            "`totals` has the post-stratum 1 (number), and the sample has 'a'",
        ),
        (
            {"poststratum": S, "totals": {"a": 1, "b": -2}},
            "`totals` of post-stratum 'b' is -2; expected a finite number",
        ),
        (
            {"poststratum": S, "totals": [5, 5, 6, 7]},
            "the column given as `totals` has 6 and 7 in post-stratum 'b'; expected one number in",
        ),
        (
            {"poststratum": S, "totals": {**SIZES, "c": 1}},
            "1 post-stratum has a total but no weight in the sample: 'c' (t",
        ),
        (
            {"poststratum": S, "totals": SIZES, "sample_weight": [0, 0, 1, 1]},
            "has a total but no weight in the sample: 'a'",
        ),
    ],
)
def test_what_does_not_go_together(call, said):
    with pytest.raises((InputError, InputTypeError)) as caught:
        of_arrays(**call)
    assert said in str(caught.value)


def test_post_strata_of_replicate_weights():
    with pytest.raises(InputTypeError, match=r"the `design` of `PostStrata` is Replicates.*expected a `wmcc\.Strata`"):
        wmcc.PostStrata(S, SIZES, design=wmcc.Replicates(**REPLICATED))


def test_a_cluster_in_two_strata():
    call = {"stratum": "s", "cluster": "c"}
    refused(
        {**call, "nested": False},
        "cluster 2 is in two strata, 'a' and 'b'.",
        "a cluster belongs to one stratum; if the same keys are used again in each stratum, leave out `nested`.",
        of_frame,
    )
    assert of_frame(**call).drawn.clusters == (("a", 1), ("a", 2), ("b", 2), ("b", 3))
    assert of_frame(FRAME.assign(c=[1, 2, 3, 4]), **call, nested=False).drawn.sampled == (2, 2)


def test_rows_without_a_key():
    frame = FRAME.assign(s=["a", None, "b", None], size=[5, 5, 6, None])
    for call, said in (
        ({"stratum": "s"}, "2 rows have no stratum in the column 's'."),
        ({"stratum": ["n", "s"]}, "2 rows have no stratum in the columns 'n', 's'."),
        ({"stratum": "n", "cluster": "s"}, "2 rows have no cluster in the column 's'."),
        ({"poststratum": "s", "totals": SIZES}, "2 rows have no post-stratum in the column 's'."),
        ({"stratum": "n", "population": "size"}, "`population` of stratum 2 is missing; expected a number."),
    ):
        for data in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
            with pytest.raises(InputError) as caught:
                of_frame(data, **call)
            assert caught.value.message == said
    assert of_frame(frame.dropna(subset="s"), stratum="s").rows == 2  # leave them out
    with pytest.raises(InputError, match=r"^1 row has no stratum in the column 's'\.\s+Hint: leave it out, or give it"):
        of_frame(FRAME.assign(s=["a", "a", None, "b"]), stratum="s")


def test_columns_of_frames():
    for call, said in (
        ({"stratum": "strata"}, "there is no column 'strata'"),
        (
            {"stratum": np.array(S)},
            "`stratum` is array(['a', 'a', 'b', 'b'], dtype='<U1') (ndarray); expected the name of a c",
        ),
        (
            {"stratum": "s", "population": [5, 5, 6, 6]},
            "`population` is [5, 5, 6, 6] (list); expected a size for each stratum",
        ),
        ({"stratum": "s", "population": "area"}, "there is no column 'area'"),
        ({"stratum": "s", "population": "n", "weight": "size"}, "`population` makes the weights of rows"),
        ({"stratum": "s", "population": "p"}, "`population` of stratum 'a' is 'e' (str); expected a number."),
        (
            {"stratum": "s", "population": pd.Series(SIZES.values())},
            "`population` has the stratum 0 (number), and the sam",
        ),
    ):
        with pytest.raises((InputError, InputTypeError)) as caught:
            of_frame(**call)
        assert said in str(caught.value)


def test_a_size_and_rows_left_out():
    assert of_arrays(population=100, ignore="o").total == 50
    truth = [*TRUTH[:3], None]
    assert wmcc.tabulate(truth, GUESS, missing="ignore", design=wmcc.Strata(population=99)).total == pytest.approx(99)
    for design in (wmcc.Strata(population=99), wmcc.Strata([1] * 4, population={1: 99})):
        found = wmcc.tabulate(truth, GUESS, missing="ignore", ignore="o", design=design)
        assert (found.total, found.drawn.rows) == (pytest.approx(66), (3,))


@pytest.mark.parametrize("fpc", [False, True])
def test_weights_of_strata_given_by_hand_are_scaled_to_totals(fpc):
    """The hint on population= with poststratum= can be followed."""
    call = {"stratum": S, "population": {"a": 50, "b": 60}, "poststratum": [1, 2, 1, 2], "totals": {1: 30, 2: 80}}
    with pytest.raises(InputTypeError) as caught:
        of_arrays(**call, fpc=fpc)
    assert ("leave `population` out" in caught.value.hint) is not fpc
    if not fpc:
        del call["population"]
    table = of_arrays(**call, fpc=fpc, sample_weight=[25, 25, 30, 30])
    assert table.total == pytest.approx(110)
    assert wmcc.interval(table, "accuracy").se >= 0


def test_a_file_is_read_first():
    with pytest.raises(InputError, match=r"no column 'sizes.csv'[^ß]*for instance with polars.read_csv"):
        of_frame(stratum="s", population="sizes.csv")


@pytest.mark.parametrize(
    ("keywords", "manner", "keyword"),
    [
        ({"population": 9}, "drawn from a population of known size", "`wmcc.Strata`"),
        ({"fpc": 9}, "drawn from a population of known size", "`wmcc.Strata`"),
        ({"poststratum": N, "totals": {1: 3, 2: 5}}, "weighted to totals of post-strata", "`wmcc.PostStrata`"),
        ({"stratum": S}, "drawn in strata", "`wmcc.Strata`"),
    ],
)
def test_a_plain_table_beside_a_designed_one(keywords, manner, keyword):
    said = f"the rows of one table are {manner}, those of another independent rows; they cannot be merged."
    with pytest.raises(InputError) as caught:
        of_arrays(**keywords) + of_arrays()
    assert (caught.value.message, caught.value.hint) == (said, f"tabulate all with {keyword}, or none.")


def test_strata_of_size_0_that_were_not_sampled_are_not_there():
    table = of_arrays(stratum=S, population={**SIZES, "c": 0})
    assert table == of_arrays(stratum=S, population=SIZES)
    weighted = of_arrays(poststratum=N, totals={1: 3, 2: 5, 3: 0})
    assert weighted == of_arrays(poststratum=N, totals={1: 3, 2: 5})
    assert "2 strata" in repr(table)


DAYS = ["2026-01-01", "2026-01-01", "2026-02-01", "2026-02-01"]


@pytest.mark.parametrize(
    ("keys", "plain"),
    [
        ([0.5, 0.5, 2.0, 2.0], (0.5, 2)),
        (np.array([0.5, 0.5, 2.0, 2.0], np.float32), (0.5, 2)),
        (np.array([0.5, 0.5, 2.0, 2.0], np.longdouble), (0.5, 2)),
        (np.array(DAYS, "M8[D]"), ("2026-01-01", "2026-02-01")),
        ([np.datetime64(x) for x in DAYS], ("2026-01-01", "2026-02-01")),
        (pl.Series(DAYS).str.to_date(), ("2026-01-01", "2026-02-01")),
        (pd.to_datetime(pd.Series(DAYS)), ("2026-01-01T00:00:00", "2026-02-01T00:00:00")),
        (np.array(DAYS, "M8[ns]"), ("2026-01-01T00:00:00", "2026-02-01T00:00:00")),
        (np.array(DAYS, "M8[ns]") + np.timedelta64(1, "ns"), tuple(f"{x}T00:00:00.000000001" for x in DAYS[::2])),
        (np.array([1, 1, 90, 90], "m8[s]"), ("0:00:01", "0:01:30")),
    ],
)
def test_keys_in_arrays_are_what_those_of_frames_are(keys, plain):
    sizes = dict(zip(plain, (5, 6), strict=True))
    table = of_arrays(stratum=keys, population=sizes)
    assert table.drawn.units == table.drawn.design.strata == plain
    assert of_arrays(cluster=keys).drawn.units == plain
    assert tuple(of_arrays(by=keys)) == plain
    assert of_arrays(poststratum=keys, totals=sizes).drawn.design.poststrata.keys == plain
    nested = of_arrays(stratum=S, cluster={"day": keys, "n": N})
    assert nested.drawn.units == (("a", plain[0], 1), ("b", plain[1], 2))
    if isinstance(keys, list) or getattr(keys, "dtype", None) == np.longdouble:
        return
    of_polars = str(keys.dtype) in ("Date", "float32", "datetime64[D]")
    frame = pl.from_pandas(FRAME).with_columns(k=pl.Series(keys)) if of_polars else FRAME.assign(k=keys)
    assert of_frame(frame, stratum="k", population=sizes) == table


def test_a_table_without_rows_has_strata_and_no_score():
    empty = wmcc.tabulate([], [], design=wmcc.Strata([], population=SIZES))
    assert (empty.rows, empty.drawn.design.strata, empty.drawn.design.population) == (0, ("a", "b"), (5.0, 6.0))
    assert empty + of_arrays(stratum=S, population=SIZES) == of_arrays(stratum=S, population=SIZES)
    for ask in (wmcc.ecc, wmcc.score, wmcc.interval, wmcc.diagnose):
        with pytest.raises(InputError, match="the table has no observations; there is nothing to score"):
            ask(empty)


@pytest.mark.parametrize("function", [wmcc.ecc, wmcc.score, wmcc.diagnose, wmcc.bootstrap])
def test_keywords_of_a_design_belong_to_tabulate(function):
    name = "bootstrap" if function is wmcc.bootstrap else function.__name__
    takes = "interval" if function is wmcc.bootstrap else name
    with pytest.raises(InputTypeError) as caught:
        function(TRUTH, GUESS, stratum=S)
    assert caught.value.message == f"wmcc.{name} has no keyword 'stratum'."
    assert caught.value.hint == f"give it to tabulate: wmcc.{takes}(wmcc.tabulate(…, design=wmcc.Strata(…)))."
    if function is not wmcc.ecc:
        with pytest.raises(InputTypeError, match="has no keyword 'strata'"):
            function(TRUTH, GUESS, strata=S)
