"""Weight maps against SciPy by hand: every object, every class, every pixel in turn."""

import pickle
import re
import subprocess
import sys
from functools import partial
from math import exp, hypot, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from paths import DOCS

import wmcc
import wmcc.measures
from wmcc import weightmaps
from wmcc.errors import InputTypeError, WmccError
from wmcc.weightmaps import _distances

ndimage = pytest.importorskip("scipy.ndimage", reason="weight maps need SciPy, which is not installed")

VOID = 9


def images(*labels, most=12):
    """Small images and volumes of some labels, in patches and in single pixels."""
    shapes = array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=most)
    single = shapes.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.sampled_from(labels)))
    patches = st.tuples(single, st.integers(1, 4)).map(lambda x: _enlarged(*x))
    return single | patches


def _enlarged(image, times):
    for axis in range(image.ndim):
        image = image.repeat(times if image.ndim == 2 else min(times, 2), axis)
    return image


spacings = st.none() | st.sampled_from([0.5, (1.0, 2.0), (0.3, 1.7), (5.0, 1.0, 1.0), (0.1, 0.7, 3.0)])


def fitted(spacing, image):
    return None if isinstance(spacing, tuple) and len(spacing) != image.ndim else spacing


def sampling(spacing, image):
    return spacing if isinstance(spacing, tuple) else (spacing or 1.0,) * image.ndim


@pytest.fixture(params=[128, 1, 5], ids="tiles of {}".format)
def tile(request, monkeypatch):
    """Cut small images into tiles, too."""
    monkeypatch.setattr(_distances, "LEAST_TILE", request.param)
    return request.param


# ---- border ------------------------------------------------------------------------------------------------


def components(image, void=VOID):
    """The mask of each object: connected pixels of one class, corners included."""
    whole = np.ones((3,) * image.ndim)
    for label in np.unique(image[(image != 0) & (image != void)]):
        found, count = ndimage.label(image == label, whole)
        yield from (found == k for k in range(1, count + 1))


def border_by_hand(image, masks, w0, sigma, spacing, class_weight=None):
    w = (
        np.ones(image.shape)
        if class_weight is None
        else np.vectorize({**class_weight, VOID: 0}.get, otypes=[float])(image)
    )
    d = np.sort([ndimage.distance_transform_edt(~mask, sampling(spacing, image)) for mask in masks], axis=0)
    if len(d) > 1:
        w += w0 * np.exp(-((d[0] + d[1]) ** 2) / (2 * sigma**2))
    w[image == VOID] = 0
    return w


def close(ours, by_hand):
    assert ours.dtype == np.float32
    assert ours.shape == by_hand.shape
    np.testing.assert_allclose(ours, by_hand, rtol=1e-6, atol=1e-37)


@pytest.mark.usefixtures("tile")
@given(
    image=images(0, 0, 0, 1, 2, VOID), spacing=spacings, sigma=st.sampled_from([0.4, 1, 5, 200]), light=st.booleans()
)
def test_border(image, spacing, sigma, light):
    spacing = fitted(spacing, image)
    class_weight = {0: 0.0, 1: 2.0, 2: 1 / 3} if light else None
    before = image.copy()
    ours = weightmaps.border(
        image, w0=7, sigma=sigma, class_weight=class_weight, ignore=VOID, spacing=spacing, ndim=image.ndim
    )
    close(ours, border_by_hand(image, list(components(image)), 7, sigma, spacing, class_weight))
    assert np.array_equal(image, before)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("sigma", [1, 4, 50])
def test_border_of_many_objects_and_of_one_around_others(sigma):
    """Windows, bits and an object whose box is the image."""
    image = np.zeros((61, 83), dtype=int)
    image[::5, ::4] = image[1::5, ::4] = 1
    image[30, :] = image[:, 40] = 1
    image[10:14, 10:30] = 2
    close(weightmaps.border(image, sigma=sigma), border_by_hand(image, list(components(image)), 10, sigma, None))


def test_both_ways_to_the_second_object_are_gone(monkeypatch):
    image = np.zeros((40, 40), dtype=int)
    image[::4, ::4] = 1
    shapes = []
    plain = _distances.transform
    monkeypatch.setattr(_distances, "LEAST_TILE", 128)
    monkeypatch.setattr(_distances, "transform", lambda x, *a, **k: shapes.append(x.shape) or plain(x, *a, **k))
    weightmaps.border(image, sigma=0.5)
    assert len(shapes) == 1 + 100
    assert max(shapes[1:]) < (10, 10)
    shapes.clear()
    weightmaps.border(image, sigma=50)
    assert shapes == [(40, 40)] * (1 + 2 * 7)  # 100 < 2⁷


def test_border_by_hand():
    image = np.zeros((1, 30), dtype=int)
    image[0, [4, 10]] = 1
    w = weightmaps.border(image)[0]
    assert w[7] == np.float32(1 + 10 * exp(-((3 + 3) ** 2) / 50))
    assert w[4] == np.float32(1 + 10 * exp(-((0 + 6) ** 2) / 50))
    assert w[29] == np.float32(1 + 10 * exp(-((19 + 25) ** 2) / 50)) == 1


@pytest.mark.parametrize("image", [[[0, 1, 1, 0]], [[0, 0]], [[1, 1]], [[VOID, VOID]], [[1, VOID]]])
def test_without_a_second_object_there_is_no_term(image):
    image = np.array(image)
    w = weightmaps.border(image, ignore=VOID)
    assert np.array_equal(w, np.where(image == VOID, 0, 1))


def test_objects_that_touch():
    corner = np.array([[1, 0], [0, 1]])
    assert (weightmaps.border(corner) == 1).all()  # one object
    assert weightmaps.border(corner, instances=np.array([[1, 0], [0, 2]]))[0, 0] == np.float32(1 + 10 * exp(-2 / 50))
    assert weightmaps.border(np.array([[1, 2]]))[0, 0] == np.float32(1 + 10 * exp(-1 / 50))  # two classes


@pytest.mark.usefixtures("tile")
@given(image=images(0, 1, 2, VOID, most=7), data=st.data())
def test_instances_that_are_given(image, data):
    numbers = data.draw(arrays(np.int64, image.shape, elements=st.sampled_from([0, 1, 7, 70_000_000_000])))
    masks = [
        (image == c) & (numbers == k)
        for c in np.unique(image[image != VOID])
        for k in np.unique(numbers[numbers != 0])
        if ((image == c) & (numbers == k)).any()
    ]
    ours = weightmaps.border(image, instances=numbers, ignore=VOID, ndim=image.ndim)
    close(ours, border_by_hand(image, masks, 10, 5, None))


def test_foreground_are_the_classes_with_objects():
    image = np.array([[0, 3, 3, 1, 2, 1, 3, 3, 0]])
    w = weightmaps.border(image, foreground=1)
    assert np.array_equal(w, weightmaps.border((image == 1).astype(int)))
    numbers = np.array([[9, 0, 0, 5, 0, 6, 0, 0, 9]])
    assert np.array_equal(weightmaps.border(image, instances=numbers, foreground=[1]), w)
    assert not np.array_equal(weightmaps.border(image, instances=numbers), w)  # class 0 has an instance here


def test_class_weights():
    image = np.array([[0, 0, 0, 1, VOID]])
    assert weightmaps.border(image, class_weight="balanced", ignore=VOID).tolist() == [
        [np.float32(4 / 6)] * 3 + [2.0, 0.0]
    ]
    assert weightmaps.border(image, class_weight={0: 0, 1: 3, 2: 5}, ignore=[VOID, 77]).tolist() == [[0, 0, 0, 3, 0]]


# ---- distance --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tile")
@given(
    image=images(0, 1, 2, VOID),
    spacing=spacings,
    scale=st.sampled_from([0.2, 3, 80]),
    floor=st.sampled_from([0, 0.3, 2]),
)
def test_distance_that_fades(image, spacing, scale, floor):
    spacing = fitted(spacing, image)
    by_hand = np.full(image.shape, float(floor))
    there = np.isin(image, [1, 2])
    if there.any():
        d = ndimage.distance_transform_edt(~there, sampling(spacing, image))
        by_hand = np.maximum(np.exp(-d / scale), floor)
    by_hand[image == VOID] = 0
    close(
        weightmaps.distance(image, to=(1, 2), scale=scale, floor=floor, ignore=VOID, spacing=spacing, ndim=image.ndim),
        by_hand,
    )


@pytest.mark.usefixtures("tile")
@given(
    image=images(0, 1, 2, VOID),
    radius=st.sampled_from([0, 1, sqrt(2), 2.5, 6, 100]),
    factor=st.sampled_from([0, 0.5, 9]),
)
def test_distance_within_a_radius(image, radius, factor):
    there = image == 1
    near = ndimage.distance_transform_edt(~there) <= radius if there.any() else there
    by_hand = np.where(image == VOID, 0, 1 + factor * near)
    close(weightmaps.distance(image, to=1, radius=radius, factor=factor, ignore=VOID, ndim=image.ndim), by_hand)


def test_three_pixels_of_a_tenth_are_within_three_tenths():
    w = weightmaps.distance(np.array([[1, 0, 0, 0, 0]]), to=1, radius=0.3, spacing=0.1)
    assert w.tolist() == [[2, 2, 2, 2, 1]]


# ---- bands -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tile")
@given(image=images(0, 1, 2, 3, VOID), spacing=spacings, radius=st.sampled_from([0.1, 1, sqrt(2), 3, 40]))
def test_boundary_band(image, spacing, radius):
    spacing = fitted(spacing, image)
    by_hand = np.zeros(image.shape)
    for label in range(4):
        others = (image != label) & (image != VOID)
        if others.any():
            d = ndimage.distance_transform_edt(~others, sampling(spacing, image))
            by_hand[(image == label) & (d <= radius * (1 + 1e-9))] = 1
    close(weightmaps.boundary_band(image, radius=radius, ignore=VOID, spacing=spacing, ndim=image.ndim), by_hand)


def band_by_hand(mask, ratio):
    """As published: pad by one, erode in steps, take away what is left."""
    d = max(1, round(ratio * sqrt(sum(n * n for n in mask.shape))))
    padded = np.pad(mask, 1)
    left = ndimage.binary_erosion(padded, np.ones((3,) * mask.ndim), iterations=d, border_value=1)
    return mask & ~left[(slice(1, -1),) * mask.ndim]


@given(image=images(0, 1, 2, VOID), ratio=st.sampled_from([0, 0.02, 0.1, 0.2, 5]))
def test_boundary_iou_band(image, ratio):
    by_hand = np.zeros(image.shape, dtype=bool)
    for label in range(3):
        by_hand |= band_by_hand(image == label, ratio)
    close(weightmaps.boundary_iou_band(image, ratio=ratio, ignore=VOID, ndim=image.ndim), by_hand)


def test_the_band_is_two_percent_of_the_diagonal():
    image = np.zeros((300, 400), dtype=np.uint8)
    assert weightmaps.boundary_iou_band(image)[150].sum() == 2 * 10 == 2 * 0.02 * hypot(300, 400)


def test_boundary_iou_is_the_iou_of_the_masks():
    rng = np.random.default_rng(0)
    truth, pred = (
        np.argmax([ndimage.gaussian_filter(rng.normal(size=(60, 80)), 5) for _ in range(3)], axis=0) for _ in range(2)
    )
    masked = [weightmaps.mask(x, weightmaps.boundary_iou_band(x)) for x in (truth, pred)]
    table = wmcc.tabulate(*masked, labels=[0, 1, 2, 255])
    for label in range(3):
        a, b = (band_by_hand(x == label, 0.02) for x in (truth, pred))
        assert wmcc.measures.CLASS_MEASURES["iou"](table)[label] == pytest.approx(
            (a & b).sum() / (a | b).sum(), rel=1e-15
        )


def test_a_mask_makes_void_what_has_no_weight():
    truth = np.array([[0, 1, 2, 3]], dtype=np.int16)
    out = weightmaps.mask(truth, np.array([[1, 0, 0.5, 0]]), void=-1)
    assert out.tolist() == [[0, -1, 2, -1]]
    assert out.dtype == truth.dtype


# ---- sizes -----------------------------------------------------------------------------------------------


@given(image=images(0, 1, 2, VOID), mean=st.none() | st.just({1: 12.5, 2: 3}))
def test_instance_size(image, mean):
    by_hand = np.where(image == VOID, 0.0, 1.0)
    for label in (1, 2):
        masks = [m for m in components(image) if (image[m] == label).all()]
        for mask in masks:
            usual = np.mean([m.sum() for m in masks]) if mean is None else mean[label]
            by_hand[mask] = usual / mask.sum()
    ours = weightmaps.instance_size(image, mean_size=mean, ignore=VOID, ndim=image.ndim)
    close(ours, by_hand)
    if mean is None:  # a class weighs as much as before
        for label in (1, 2):
            assert ours[image == label].sum(dtype=float) == pytest.approx((image == label).sum(), rel=1e-5)


def test_instance_size_of_instances():
    labels, numbers = np.array([[1, 1, 1, 1, 0]]), np.array([[4, 6, 6, 6, 0]])
    assert weightmaps.instance_size(labels, instances=numbers)[0].tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3, 1])


# ---- kinds of arrays -------------------------------------------------------------------------------------

MAPS = {
    "border": partial(weightmaps.border, ignore=VOID),
    "balanced": partial(weightmaps.border, class_weight="balanced"),
    "distance": partial(weightmaps.distance, to=1, scale=3, ignore=VOID),
    "near": partial(weightmaps.distance, to=1, radius=3),
    "boundary_band": partial(weightmaps.boundary_band, radius=2, ignore=VOID),
    "boundary_iou_band": partial(weightmaps.boundary_iou_band, ignore=VOID),
    "instance_size": partial(weightmaps.instance_size, ignore=VOID),
}


def drawn(shape, seed=0):
    return np.random.default_rng(seed).choice(np.array([0, 0, 0, 1, 2, VOID], dtype=np.uint8), shape)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("name", MAPS)
def test_a_batch_is_its_images(name):
    batch = drawn((3, 2, 9, 8))
    for ndim in (2, 3):
        whole = MAPS[name](batch, ndim=ndim)
        one_by_one = [MAPS[name](x, ndim=ndim) for x in batch.reshape(-1, *batch.shape[-ndim:])]
        assert np.array_equal(whole, np.reshape(one_by_one, batch.shape))
        assert whole.dtype == np.float32


@pytest.mark.parametrize("name", MAPS)
def test_no_pixels_and_nothing_but_void(name):
    assert MAPS[name](np.zeros((0, 5), dtype=int)).shape == (0, 5)
    assert MAPS[name](np.zeros((0, 4, 5), dtype=int), ndim=2).shape == (0, 4, 5)
    if "ignore" in MAPS[name].keywords:
        assert not MAPS[name](np.full((4, 5), VOID)).any()


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", ["i1", "u1", ">i2", "u4", "i8", "u8"])
def test_types_of_labels_and_layouts(name, dtype):
    image = drawn((9, 8))
    expected = MAPS[name](image)
    assert np.array_equal(MAPS[name](image.astype(dtype)), expected)
    assert np.array_equal(MAPS[name](np.asfortranarray(image.astype(dtype))), expected)
    assert np.array_equal(MAPS[name](image.astype(dtype)[::-1])[::-1], expected)


def test_booleans_and_labels_far_apart():
    cells = drawn((9, 8)) == 1
    assert np.array_equal(weightmaps.border(cells), weightmaps.border(cells.astype(int)))
    far = np.where(cells, 2**64 - 1, 0).astype(np.uint64)
    assert np.array_equal(weightmaps.border(far, class_weight={0: 1, 2**64 - 1: 1}), weightmaps.border(cells))
    far = np.where(cells, 2**62, -(2**62))
    assert np.array_equal(weightmaps.border(far, foreground=2**62, ignore=5), weightmaps.border(cells))
    assert weightmaps.border(far, ignore=-(2**62))[~cells].max() == 0
    high = cells + np.uint64(2**63 + 1)  # 2⁶³ + 1 and 2⁶³ + 2 are one float
    near = weightmaps.distance(high, to=2**63 + 2, scale=1, ignore=(-1, 2**63))
    assert np.array_equal(near, weightmaps.distance(cells, to=1, scale=1))
    assert np.array_equal(weightmaps.border(cells, instances=high), weightmaps.border(cells, instances=1 + cells))


def test_labels_come_in_any_collection():
    image = drawn((9, 8))
    expected = weightmaps.distance(image, to=(1, 2), scale=3)
    for to in ({1, 2}, [np.uint8(2), 1], {1: "car", 2: "bus"}.keys(), np.array([1, 2]), range(1, 3)):
        assert np.array_equal(weightmaps.distance(image, to=to, scale=3), expected)


@pytest.mark.parametrize("name", MAPS)
def test_tensors(torch, name):
    torch.set_num_threads(1)
    batch = drawn((2, 9, 8))
    tensor = torch.from_numpy(batch).long()
    ours = MAPS[name](tensor, ndim=2)
    assert ours.dtype == torch.float32
    assert ours.device == tensor.device
    assert np.array_equal(ours.numpy(), MAPS[name](batch, ndim=2))
    assert np.array_equal(tensor.numpy(), batch)
    columns = tensor.permute(1, 2, 0).contiguous().permute(2, 0, 1)  # another layout in memory
    assert torch.equal(MAPS[name](columns, ndim=2), ours)


@pytest.mark.parametrize("name", MAPS)
def test_tensors_on_a_gpu(torch, name):
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    image = drawn((9, 8))
    ours = MAPS[name](torch.from_numpy(image).cuda())
    assert ours.is_cuda
    assert np.array_equal(ours.cpu().numpy(), MAPS[name](image))


def test_tensors_beside_tensors(torch):
    labels, numbers = torch.tensor([[1, 1, 0, 1]]), torch.tensor([[1, 2, 0, 3]], dtype=torch.int32)
    sizes = weightmaps.instance_size(labels, instances=numbers)
    assert torch.equal(sizes, torch.ones(1, 4))
    near = weightmaps.mask(labels, weightmaps.boundary_band(labels, radius=1))
    assert torch.equal(near, torch.tensor([[255, 1, 0, 1]]))
    assert near.dtype == labels.dtype
    with pytest.raises(InputTypeError, match=r"`labels` is a meta tensor.*no values"):
        weightmaps.border(torch.zeros(3, 3, dtype=torch.int64, device="meta"))
    with pytest.raises(InputTypeError, match=r"(?s)`labels` is a sparse tensor.*labels\.to_dense\(\)"):
        weightmaps.border(labels.to_sparse())
    with pytest.raises(InputTypeError, match=r"(?s)of type float32.*argmax"):
        weightmaps.border(torch.zeros(3, 3, dtype=torch.bfloat16))


def test_weights_of_a_table():
    truth, pred = drawn((9, 8)), drawn((9, 8), 1)
    table = wmcc.tabulate(truth, pred, weightmaps.border(truth, ignore=VOID), ignore=VOID)
    kept = truth != VOID
    assert table.total == pytest.approx(weightmaps.border(truth, ignore=VOID)[kept].sum(dtype=float))


@pytest.mark.slow
def test_nothing_heavy_is_imported():
    code = """
import sys
from wmcc import weightmaps
weightmaps.named("border")
print("scipy" in sys.modules, "torch" in sys.modules)
"""
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False False\n"
    )


def test_the_page_has_its_pictures():
    docs = DOCS / "understand"
    shown = set(re.findall(r"\((weightmaps/.*?\.png)\)", (docs / "weightmaps.md").read_text()))
    assert shown == {f"weightmaps/{path.name}" for path in (docs / "weightmaps").iterdir()}
    assert all((docs / name).stat().st_size < 60_000 for name in shown)


# ---- what is refused -------------------------------------------------------------------------------------

SQUARE = np.array([[0, 1], [1, 0]])

REFUSED = {
    "floats": (
        lambda: weightmaps.border(SQUARE * 1.0),
        r"`labels` is of type float64; expected an array or a tensor of integers.*argmax",
    ),
    "text": (lambda: weightmaps.border("truth.png"), r"`labels` is 'truth.png'; expected an array"),
    "objects": (lambda: weightmaps.border(np.array([["a"]])), r"`labels` is of type <U1; expected an array"),
    "ragged": (lambda: weightmaps.border([[1], [1, 2]]), r"`labels` is .*, which is no array"),
    "masked": (lambda: weightmaps.border(np.ma.masked_equal(SQUARE, 1)), r"`labels` is a masked array.*filled"),
    "a line": (lambda: weightmaps.border(SQUARE[0]), r"shape \(2,\); expected 2 axes or more: height and width"),
    "no volume": (lambda: weightmaps.border(SQUARE, ndim=3), r"shape \(2, 2\); expected 3 axes or more: depth"),
    "batch or volume": (
        lambda: weightmaps.border(np.zeros((4, 8, 8), dtype=int)),
        r"shape \(4, 8, 8\), which is a volume or a batch of images.*give `ndim`, 2 .* 3 for volumes",
    ),
    "colours": (lambda: weightmaps.border(np.zeros((4, 8, 3), dtype=np.uint8)), r"a colour image is no label map"),
    "ndim": (lambda: weightmaps.border(SQUARE, ndim=4), r"`ndim` is 4; expected 2 for images or 3 for volumes"),
    "ndim of a float": (lambda: weightmaps.border(SQUARE, ndim=2.0), r"`ndim` is 2\.0; expected 2 for images or 3"),
    "ndim and spacing": (
        lambda: weightmaps.border(SQUARE, ndim=2, spacing=(1, 1, 1)),
        r"`spacing` has 3 numbers and `ndim` is 2",
    ),
    "spacing": (lambda: weightmaps.border(SQUARE, spacing=(1, 0)), r"`spacing` is 0; expected a finite number above 0"),
    "no spacing": (lambda: weightmaps.border(SQUARE, spacing=()), r"`spacing` has 0 numbers"),
    "sigma": (lambda: weightmaps.border(SQUARE, sigma=-5), r"`sigma` is -5; expected a finite number above 0"),
    "sigma nan": (lambda: weightmaps.border(SQUARE, sigma=float("nan")), r"`sigma` is nan; expected a finite number"),
    "w0": (lambda: weightmaps.border(SQUARE, w0=-1), r"`w0` is -1; expected a finite number of at least 0\."),
    "w0 of text": (lambda: weightmaps.border(SQUARE, w0="10"), r"`w0` is '10'; expected"),
    "w0 beyond": (lambda: weightmaps.border(SQUARE, w0=1e39), r"`w0` is 1e\+39; .* at most 1e\+30"),
    "class_weight": (lambda: weightmaps.border(SQUARE, class_weight="balance"), r"is 'balance'; expected 'balanced'"),
    "class_weights": (lambda: weightmaps.border(SQUARE, class_weight=[1, 2]), r"\[1, 2\]; expected a mapping"),
    "class by name": (lambda: weightmaps.border(SQUARE, class_weight={"a": 1}), r"\{'a': 1\}; .* which are integers"),
    "class without": (
        lambda: weightmaps.border(SQUARE, class_weight={1: 2}),
        r"`class_weight` has no number for class 0, which is in the image; it has 1\.",
    ),
    "class of less": (lambda: weightmaps.border(SQUARE, class_weight={0: 1, 1: -2}), r"class_weight\[1\]` is -2"),
    "ignore": (lambda: weightmaps.border(SQUARE, ignore=2.5), r"`ignore` is 2.5; expected an integer or several"),
    "class and void": (
        lambda: weightmaps.border(SQUARE, foreground=1, ignore=[1, 255]),
        r"`foreground` names 1, and so does `ignore`",
    ),
    "no class": (lambda: weightmaps.distance(SQUARE, to=[], scale=1), r"`to` names no label"),
    "to and void": (
        lambda: weightmaps.distance(SQUARE, to=1, scale=1, ignore=1),
        r"`to` names 1, and so does `ignore`",
    ),
    "to none": (lambda: weightmaps.distance(SQUARE, to=None, scale=1), r"`to` is None; expected an integer or several"),
    "to text": (lambda: weightmaps.distance(SQUARE, to="car", scale=1), r"`to` is 'car'; expected an integer"),
    "neither": (lambda: weightmaps.distance(SQUARE, to=1), r"either `scale` or `radius`, and neither is given"),
    "both": (lambda: weightmaps.distance(SQUARE, to=1, scale=1, radius=2), r"either `scale` or `radius`, and both are"),
    "factor": (lambda: weightmaps.distance(SQUARE, to=1, scale=1, factor=2), r"`factor` is for `radius`, which is not"),
    "floor": (lambda: weightmaps.distance(SQUARE, to=1, radius=1, floor=2), r"`floor` is for `scale`, which is not"),
    "scale": (lambda: weightmaps.distance(SQUARE, to=1, scale=0), r"`scale` is 0; expected a finite number above 0"),
    "radius": (lambda: weightmaps.boundary_band(SQUARE, radius=0), r"`radius` is 0; expected a finite number above 0"),
    "ratio": (lambda: weightmaps.boundary_iou_band(SQUARE, ratio=-1), r"`ratio` is -1; expected"),
    "instances": (lambda: weightmaps.border(SQUARE, instances=SQUARE[:1]), r"shape \(1, 2\) and `labels`"),
    "negative": (lambda: weightmaps.border(SQUARE, instances=-SQUARE), r"`instances` holds -1; expected 0 where"),
    "float instances": (lambda: weightmaps.border(SQUARE, instances=SQUARE / 2), r"`instances` is of type float64"),
    "mean_size": (lambda: weightmaps.instance_size(SQUARE, mean_size={2: 5}), r"`mean_size` has no number for class 1"),
    "mean of 0": (lambda: weightmaps.instance_size(SQUARE, mean_size={1: 0}), r"mean_size\[1\]` is 0; .* above 0"),
    "mask": (lambda: weightmaps.mask(SQUARE, np.ones(2)), r"`weights` has the shape \(2,\) and `labels` \(2, 2\)"),
    "voids": (lambda: weightmaps.mask(SQUARE, SQUARE, void=[2, 3]), r"`void` is \[2, 3\]; expected one label"),
    "mask of text": (lambda: weightmaps.mask(SQUARE, SQUARE.astype(str)), r"`weights` is of type <U21; expected"),
    "a generator": (lambda: weightmaps.border(SQUARE, ignore=(x for x in [1])), r"`ignore` is <generator.*expected an"),
    "void": (lambda: weightmaps.mask(SQUARE.astype("i1"), SQUARE), r"type int8, which cannot hold the label 255"),
    "void of booleans": (lambda: weightmaps.mask(SQUARE == 1, SQUARE), r"type bool, which cannot hold the label 255"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_gets_a_sentence(what):
    call, sentence = REFUSED[what]
    with pytest.raises(WmccError, match=rf"(?s){sentence}"):
        call()


# ---- by name ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("border", weightmaps.border),
        ("border:sigma=2,w0=3", partial(weightmaps.border, sigma=2, w0=3)),
        ("border: class_weight=balanced", partial(weightmaps.border, class_weight="balanced")),
        ("border:class_weight=0:1/1:5/2:.5", partial(weightmaps.border, class_weight={0: 1, 1: 5, 2: 0.5})),
        ("border:foreground=1/2,spacing=0.5/2", partial(weightmaps.border, foreground=(1, 2), spacing=(0.5, 2))),
        ("distance:to=1/2,scale=1e1", partial(weightmaps.distance, to=(1, 2), scale=10)),
        ("distance:to=1,radius=2,factor=4,ndim=2", partial(weightmaps.distance, to=1, radius=2, factor=4)),
        ("boundary-band:radius=1", partial(weightmaps.boundary_band, radius=1)),
        ("boundary_iou_band:ratio=.1", partial(weightmaps.boundary_iou_band, ratio=0.1)),
        ("instance_size", weightmaps.instance_size),
    ],
)
def test_names(text, same):
    image = drawn((9, 8))
    found = weightmaps.named(text, ignore=VOID)
    assert np.array_equal(found(image), same(image, ignore=VOID))
    assert np.array_equal(pickle.loads(pickle.dumps(found))(image), found(image))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("boarder", r"weight map is 'boarder'; expected one of border, boundary_band, .*did you mean border\?"),
        ("", r"weight map is ''; expected one of"),
        (3, r"weight map is 3; expected one of"),
        ("mask", r"weight map is 'mask'; expected one of border"),
        ("border:sigm=5", r"'sigm=5' in the weight map .* is no option of border; .*did you mean sigma\?"),
        ("border sigma=5", r"weight map is 'border sigma=5'.*Options follow a colon, as in border:sigma=5"),
        ("border:sigma", r"^the weight map 'border:sigma': `sigma` is ''; expected a finite number above 0"),
        ("border:5", r"'5' in the weight map 'border:5' is no option of border; .*Options are given as name=value"),
        ("border:ignore=255", r"void labels are named once"),
        ("border:sigma=-5", r"^the weight map 'border:sigma=-5': `sigma` is -5; expected a finite number above 0"),
        ("border:sigma=wide", r"`sigma` is 'wide'; expected a finite number above 0"),
        ("border:ndim=5", r"`ndim` is 5"),
        ("border:spacing=1/1/1/1", r"`spacing` has 4 numbers"),
        ("border:class_weight=even", r"`class_weight` is 'even'"),
        (
            "distance:scale=5",
            r"the weight map 'distance:scale=5': distance\(\) missing .* argument: 'to'.*as in to=11/12",
        ),
        ("distance:to=5", r"either `scale` or `radius`"),
        ("distance:to=car,scale=5", r"`to` is 'car'; expected an integer.*several are joined by /, as in to=11/12"),
        ("instance_size:mean_size=3", r"`mean_size` is 3; .*a mapping is class_weight=0:1/1:5"),
        ("boundary_band", r"the weight map 'boundary_band': boundary_band\(\) missing .* argument: 'radius'"),
    ],
)
def test_names_that_are_refused(text, sentence):
    with pytest.raises(WmccError, match=rf"(?s){sentence}"):
        weightmaps.named(text)
