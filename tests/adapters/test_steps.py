"""Scores in a tally of PyTorch, against `wmcc.tabulate` with thresholds: equal to the last bit, whatever the type."""

import copy
import io
import pickle
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
import torch_processes
from hypothesis import given

import wmcc
from wmcc.adapters.torch import Tally
from wmcc.adapters.torch.steps import MOST_EDGES, ScoreSteps
from wmcc.core.design import PIXELS
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, WeightError

torch.set_num_threads(1)

SCORES = [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.float8_e4m3fn]
ODD = (-1.5, -0.25, 0.0, 0.1, 0.30000000000000004, 0.5, np.nextafter(0.5, 1), 1.0, 3e38, 1e300)
"""Thresholds that a score in a smaller type is beside, or beyond."""


def edges_of(bins):
    return [k / bins for k in range(bins + 1)] if isinstance(bins, int) else [float(edge) for edge in bins]


def tabulated(score, target, weight=None, *, bins, ignore=None, **more):
    """The score table of wmcc.tabulate, of vectors."""
    return wmcc.tabulate(
        target.flatten().numpy(),
        score=score.double().flatten().numpy(),
        sample_weight=None if weight is None else weight.double().flatten().numpy(),
        thresholds=edges_of(bins),
        labels=[0, 1],
        ignore=ignore,
        **more,
    )


def at_each(scores, drawn=None):
    """The table of each threshold."""
    tables = [scores.at(edge) for edge in (*scores.edges, np.inf, -np.inf)]
    return tables if drawn is None else [replace(table, drawn=drawn) for table in tables]


@st.composite
def batches(draw):
    """Batches of (score, target, weight), bins and the ignored label."""
    bins = draw(st.sampled_from([1, 2, 10, 100, 1000, ODD, (0.5,)]))
    ignore = draw(st.sampled_from([None, 255, -1, -100, 7, 1 << 40]))
    dtype = draw(st.sampled_from(SCORES))
    label = torch.int64 if ignore not in (None, 255) else draw(st.sampled_from([torch.uint8, torch.int32, torch.int64]))
    item = draw(st.sampled_from([(), (3,), (5, 7), (2, 3, 4)]))
    weights = draw(st.sampled_from([None, torch.float32, torch.float64, torch.bfloat16]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    found = []
    for count in [draw(st.integers(1, 6)), *draw(st.lists(st.integers(0, 6), max_size=2))]:
        shape = (count, *item)
        target = rng.integers(0, 2, shape)
        near = np.array(edges_of(bins))[rng.integers(0, len(edges_of(bins)), shape)] + rng.integers(-1, 2, shape) * 1e-9
        score = torch.from_numpy(np.where(rng.random(shape) < 0.5, near, rng.random(shape)))
        if isinstance(bins, int):
            score = score.clamp(0, 1)
        elif dtype is not torch.float8_e4m3fn:
            score = torch.where(torch.from_numpy(rng.random(shape) < 0.1), torch.inf, score)
        score = score.to(dtype)
        if ignore is not None:
            left_out = rng.random(shape) < 0.2
            target[left_out] = ignore
            score = score.double().masked_fill_(torch.from_numpy(left_out), torch.nan).to(dtype)  # nobody asks
        weight = None
        if weights is not None:
            weight = torch.from_numpy(np.exp2(rng.uniform(-40, 40, shape))).to(weights)
        found.append((score, torch.from_numpy(target).to(label), weight))
    return bins, ignore, found


def whole(found):
    score, target, weight = zip(*found, strict=True)
    return torch.cat([x.double() for x in score]), torch.cat(target), None if weight[0] is None else torch.cat(weight)


# ---- equal to the CPU's table ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches())
def test_equal_to_tabulate(made):
    bins, ignore, found = made
    tally = Tally(bins=bins, ignore_index=ignore)
    for batch in found:
        tally.update(*batch)
    scores, expected = tally.scores, tabulated(*whole(found), bins=bins, ignore=ignore)
    assert at_each(scores, expected.drawn) == at_each(expected)
    assert scores.edges == expected.edges
    if expected.rows:
        assert replace(scores, tables=replace(scores.tables, drawn=expected.drawn)) == expected
    assert scores.drawn == (PIXELS if any(target.numel() > len(target) for _, target, _ in found) else expected.drawn)


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches())
def test_images_are_clusters(made):
    bins, ignore, found = made
    tally = Tally(bins=bins, ignore_index=ignore, per_image=True)
    for batch in found:
        tally.update(*batch)
    score, target, weight = whole(found)
    key = np.repeat(np.arange(len(target)), target[0].numel() if len(target) else 0)
    expected = at_each(tabulated(score, target, weight, bins=bins, ignore=ignore, cluster=key))
    assert at_each(tally.scores) == expected
    stored = Tally(bins=bins, ignore_index=ignore, per_image=True)
    stored.load_state_dict(tally.state_dict())
    assert at_each(stored.scores) == expected


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches(), st.data())
def test_parts_merge_to_the_whole_in_any_order(made, data):
    bins, ignore, found = made
    one, other = (Tally(bins=bins, ignore_index=ignore) for _ in range(2))
    for score, target, weight in data.draw(st.permutations(found)):
        order = torch.randperm(len(target), generator=torch.Generator().manual_seed(0))
        half = data.draw(st.sampled_from([one, other]))
        own = None if weight is None else weight[order].double()
        half.update(score.double()[order], target[order], own)
    one.merge(other)
    drawn = one.scores.drawn
    assert at_each(one.scores) == at_each(tabulated(*whole(found), bins=bins, ignore=ignore), drawn)


@pytest.mark.parametrize("dtype", SCORES)
def test_each_number_of_a_type_is_on_its_side_of_each_threshold(dtype):
    """All numbers of 16 bits and 8 bits; of the others those around the thresholds."""
    if dtype.itemsize <= 2:
        bits = torch.arange(1 << 8 * dtype.itemsize).to(torch.uint8 if dtype.itemsize == 1 else torch.uint16)
        score = bits.view(dtype)
        score = score[~score.double().isnan()]
    else:
        score = torch.tensor(ODD[:-1], dtype=dtype)
        up, down = (torch.nextafter(score, torch.tensor(x, dtype=dtype)) for x in (torch.inf, -torch.inf))
        score = torch.cat([score, up, down])
    target = torch.arange(len(score)) % 2
    tally = Tally(bins=ODD)
    tally.update(score, target)
    for edge in ODD:
        labels = (score.double() >= edge).long()
        assert tally.scores.at(edge) == wmcc.tabulate(target, labels, labels=[0, 1])


def test_a_number_of_bins_has_round_thresholds():
    tally = Tally(bins=100)
    tally.update(torch.tensor([0.57, 0.57], dtype=torch.float64), torch.tensor([0, 1]))
    assert tally.scores.edges == tuple(k / 100 for k in range(101))
    assert wmcc.measures.mean_recall(tally.scores.at(0.57)) == 0.5
    assert tally.scores.steps.tolist() == [0.57]


def test_channels_strides_and_gradients():
    draw = torch.Generator().manual_seed(0)
    target = torch.randint(0, 2, (3, 1, 6, 8), generator=draw)
    score = torch.rand((3, 8, 6), generator=draw).transpose(1, 2).requires_grad_()
    expected = at_each(tabulated(score.detach(), target[:, 0], bins=10), PIXELS)
    for own, truth in (
        (score, target),
        (score[:, None], target),
        (score[:, None], target[:, 0]),
        (score, target.bool()),
    ):
        tally = Tally(bins=10)
        tally.update(own, truth)
        assert at_each(tally.scores) == expected
    weight = torch.rand((6, 8), generator=draw)
    tally.reset()
    tally(score, target, weight)  # a map for all
    assert at_each(tally.scores) == at_each(tabulated(score.detach(), target, weight.expand(3, 6, 8), bins=10), PIXELS)


def test_names_and_ids():
    tally = Tally(bins=[0.5], names=["road", "car"], per_image=True)
    tally.update(torch.tensor([[0.25, 0.75], [0.5, 0.5]]), torch.tensor([[0, 1], [1, 0]]), image_ids=["b", "a"])
    assert (tally.scores.negative, tally.scores.positive) == ("road", "car")
    assert tally.scores.at(0.5).drawn.clusters == ("a", "b")
    assert "bins=(0.5,)" in repr(tally)


def test_the_best_threshold_is_found():
    draw = torch.Generator().manual_seed(0)
    target = torch.randint(0, 2, (400,), generator=draw)
    score = (target + torch.randn(400, generator=draw)).sigmoid()
    tally = Tally(bins=50)
    tally.update(score, target)
    found = wmcc.best_threshold(tally.scores, "mcc")
    assert found.threshold in tally.scores.edges
    assert found.threshold == wmcc.best_threshold(tabulated(score, target, bins=50), "mcc").threshold


def test_no_rows():
    scores = Tally(bins=4).scores
    assert scores.rows == scores.ignored == 0
    assert "0 rows" in repr(scores)


# ---- a training loop -------------------------------------------------------------------------------------


def example(seed=0, shape=(3, 5, 6)):
    draw = torch.Generator().manual_seed(seed)
    return (
        torch.rand(shape, generator=draw).bfloat16(),
        torch.randint(0, 2, shape, generator=draw),
        torch.rand(shape, generator=draw),
    )


@pytest.mark.parametrize("per_image", [False, True])
def test_copies_stores_and_resumes(per_image):
    tally = Tally(bins=20, per_image=per_image)
    tally.update(*example())
    stream = io.BytesIO()
    torch.save(tally.state_dict(), stream)
    stream.seek(0)
    stored = Tally(bins=20, per_image=per_image)
    stored.load_state_dict(torch.load(stream, weights_only=True))
    others = [stored, copy.deepcopy(tally), pickle.loads(pickle.dumps(tally)), copy.deepcopy(tally).half()]
    tally.update(*example(1))
    for other in others:
        other.update(*example(1))
        assert other.scores == tally.scores


def test_a_model_that_was_made_without_memory():
    with torch.device("meta"):
        tally = Tally(bins=20)
    with pytest.raises(InputError, match="meta"):
        tally.update(*(x.to("meta") for x in example()))
    tally.to_empty(device="cpu")
    tally.update(*example())
    assert at_each(tally.scores) == at_each(tabulated(*example(), bins=20), PIXELS)


def test_inference_mode():
    with torch.inference_mode():
        tally = Tally(bins=20)
        tally.update(*example())
    other = Tally(bins=20)
    other.update(*example())
    assert tally.scores == other.scores


def test_compiled_in_one_graph():
    torch._dynamo.reset()
    tally, other = (Tally(bins=20, ignore_index=255) for _ in range(2))
    step = torch.compile(lambda *batch: tally.update(*batch), fullgraph=True, backend="aot_eager")
    for seed in range(3):
        step(*example(seed))
        other.update(*example(seed))
    assert tally.scores == other.scores


def _process(rank, size, file, out):
    torch.set_num_threads(1)
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    found = []
    for per_image in (False, True):
        tally = Tally(bins=20, per_image=per_image)
        score, target, weight = example(rank)
        tally.update(score, target, weight.double() if rank else weight)
        tally.all_reduce()
        found.append(tally.scores)
    with pytest.raises(InputError, match=r"the tally of process [01] has `bins` 2[01]"):
        Tally(bins=20 + rank).all_reduce()
    Path(f"{out}{rank}").write_bytes(pickle.dumps(found))
    dist.destroy_process_group()


@pytest.mark.slow
def test_processes_add_up(tmp_path):
    torch_processes.run(_process, (2, tmp_path / "store", str(tmp_path / "found")))
    one, other = (pickle.loads((tmp_path / f"found{rank}").read_bytes()) for rank in range(2))
    rows = [torch.cat(x) for x in zip(example(0), example(1), strict=True)]
    images = np.repeat([0, 2, 4, 1, 3, 5], 30)
    for plain, of_images in (one, other):
        assert at_each(plain) == at_each(tabulated(*rows, bins=20), PIXELS)
        assert at_each(of_images) == at_each(tabulated(*rows, bins=20, cluster=images))


# ---- what is refused -------------------------------------------------------------------------------------


def refused(score, target, weight=None, *, kind=InputError, **more):
    tally = Tally(**more)
    tally.update(torch.tensor([0.5, 0.5]), torch.tensor([0, 1]))
    tally.update(score, target, weight)
    with pytest.raises(kind) as problem:
        tally.scores  # noqa: B018
    return problem.value


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_bad_scores_are_named(dtype, per_image):
    target = torch.tensor([[0, 1, 1], [0, 255, 1]])
    for value, bins, said in (
        (torch.nan, 10, "is nan; a score must be a number. 2 rows have such a score."),
        (torch.nan, [0.5], "is nan; a score must be a number. 2 rows have such a score."),
        (-0.5, 10, "is -0.5; with these `bins` a score must be from 0 to 1. 2 rows have such a score."),
        (torch.inf, 10, "is inf; with these `bins` a score must be from 0 to 1. 2 rows have such a score."),
    ):
        score = torch.tensor([[0, 1, value], [0.5, value, value]], dtype=dtype)
        found = refused(score, target, bins=bins, ignore_index=255, per_image=per_image)
        assert found.message == f"pred.flatten()[2] of update 1 {said}"
        assert found.argument == "pred"
    tally = Tally(bins=10)
    tally.update(torch.tensor([[0.0, -0.0, 1.0, torch.finfo(dtype).tiny]], dtype=dtype), torch.tensor([[0, 1, 0, 1]]))
    assert tally.scores.steps.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("label", [2, 3, 19, 255, -1, -2, -(1 << 50), 1 << 50])
def test_bad_labels_are_named(label):
    for bins in (1, 100):
        for ignore in (None, 254):
            target = torch.tensor([0, label, label])
            said = refused(torch.tensor([0.0, 1.0, torch.nan]), target, bins=bins, ignore_index=ignore, kind=LabelError)
            assert said.message.startswith(f"target[1] of update 1 is {label}, which is not among the classes 0 to 1")
            assert "2 rows have such a label." in said.message
            assert "num_classes" not in str(said)


def test_bad_weights_are_named():
    found = refused(torch.rand(3), torch.tensor([0, 1, 1]), torch.tensor([1, -2.0, 1]), bins=9, kind=WeightError)
    assert found.message.startswith("weight[1] of update 1 is -2.0")


def test_bad_rows_survive_storing():
    tally, other = Tally(bins=7), Tally(bins=7)
    tally.update(torch.tensor([0.5, 2.0]), torch.tensor([0, 1]))
    other.load_state_dict(tally.state_dict())
    with pytest.raises(InputError, match=r"pred\[1\] of update 0 is 2.0"):
        other.scores  # noqa: B018


@pytest.mark.parametrize("bins", [0, -3, True, 0.5, "abc", [], [0.5, torch.nan], [torch.inf], ["x"], object()])
def test_bins_that_are_refused(bins):
    with pytest.raises(InputError, match=r"`bins` is .*; expected a number of steps over") as problem:
        Tally(bins=bins)
    assert problem.value.argument == "bins"


def test_bins_of_any_kind():
    for bins in ([0.5, 0.25, 0.5], (0.25, 0.5), np.array([0.25, 0.5]), torch.tensor([0.25, 0.5])):
        assert Tally(bins=bins).bins == (0.25, 0.5)
    assert Tally(bins=np.int64(7)).bins == 7


def test_too_many_bins():
    assert ScoreSteps.of_bins(MOST_EDGES - 1, None).count == MOST_EDGES + 1
    with pytest.raises(InputError, match="`bins` has 131,073 thresholds; at most 131,072 fit"):
        Tally(bins=MOST_EDGES)


def test_calls_that_are_refused():
    with pytest.raises(InputError, match="`num_classes` is 3; `bins` are thresholds for the scores of two classes"):
        Tally(3, bins=10)
    with pytest.raises(InputError, match="`ignore_index` is 1, one of the two classes"):
        Tally(bins=10, ignore_index=1)
    with pytest.raises(InputError, match="`num_classes` is None; expected an integer"):
        Tally()
    tally, labels = Tally(2, bins=10), torch.tensor([0, 1])
    with pytest.raises(InputTypeError, match=r"`pred` has dtype torch.int64; with `bins` it has scores"):
        tally.update(labels, labels)
    with pytest.raises(InputError, match=r"`pred` has shape \(2, 2\) and `target` \(2,\)"):
        tally.update(torch.rand(2, 2), labels)
    with pytest.raises(InputError, match="must have the same shape"):
        tally.update(torch.rand(2, 1, 3), torch.zeros(3, 2, dtype=torch.int64))
    with pytest.raises(InputTypeError, match="`pred` is of type list"):
        tally.update([0.5, 0.5], labels)
    with pytest.raises(InputTypeError, match=r"`target` has dtype torch.float32"):
        tally.update(torch.rand(2), labels.float())
    with pytest.raises(InputTypeError, match="this tally holds scores, and a table needs labels") as problem:
        wmcc.score(tally)
    assert "tally.scores.at(0.5)" in problem.value.hint
    with pytest.raises(InputTypeError, match="this tally has no scores"):
        Tally(2).scores  # noqa: B018
    tally.update(torch.rand(2), labels)
    with pytest.raises(InputError, match=r"`threshold` is 0.55; scores were put together between edges"):
        tally.scores.at(0.55)


def test_tallies_that_do_not_fit():
    tally = Tally(bins=10)
    for other, said in (
        (Tally(bins=11), "`bins` 11, and this one `bins` 10"),
        (Tally(bins=[0.5]), r"`bins` \(0.5,\), and this one `bins` 10"),
        (Tally(2), "`bins` None, and this one `bins` 10"),
        (Tally(5), "`num_classes` 5, and this one `num_classes` 2"),  # as which steps are counted
    ):
        with pytest.raises(InputError, match=said):
            tally.merge(other)
        with pytest.raises(InputError, match=said):
            tally.load_state_dict(other.state_dict())
    plain, stored = Tally(2), Tally(2).state_dict()
    del stored["_extra_state"]["bins"]  # as it was before there were bins
    plain.load_state_dict(stored)
    with pytest.raises(InputError, match="`bins` 10, and this one `bins` None"):
        plain.load_state_dict(tally.state_dict())


def test_likely_mistakes():
    target = torch.nn.functional.one_hot(torch.randint(0, 2, (4, 3, 3)), 2).movedim(-1, 1)
    one_hot = Tally(bins=10)
    one_hot.update(torch.rand(4, 2, 3, 3), target)
    with pytest.raises(InputError, match="look one-hot"):
        one_hot.scores  # noqa: B018
    outputs = Tally(bins=10)
    outputs.update(torch.rand(50, 3), torch.randint(0, 2, (50, 3)))
    with pytest.warns(LabelWarning, match="3 columns of 0 and 1"):
        outputs.scores  # noqa: B018
