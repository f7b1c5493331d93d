"""What can be tested of the GPU's kernel where there is no GPU: its source, its plans, its sentences."""

import ctypes
import re
import shutil
import subprocess

import pytest

from wmcc.core.kernel import cuda
from wmcc.core.kernel.cuda import driver
from wmcc.errors import MissingDependencyError

NVCC = shutil.which("nvcc")
KINDS = [
    ("u8", "u8", "Float32", 4, 0),
    ("u8", "u8", "Float32", 4, 1),
    ("i64", "u8", "Float64", 2, 0),
    ("i64", "i64", "Float64", 1, 1),
    ("i32", "i64", "Ones", 2, 1),
    ("u8", "i32", "Bfloat16", 2, 0),
    ("i32", "i32", "Float16", 1, 1),
]
WEIGHTS = (None, "float32", "float64", "bfloat16", "float16")


def defines(truth, pred, weight, rows, many):
    return [f"TRUTH={truth}", f"PRED={pred}", f"WEIGHT={weight}", f"ROWS={rows}", f"MANY={many}"]


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
@pytest.mark.parametrize("kinds", KINDS, ids=lambda x: "-".join(map(str, x)))
def test_the_source_compiles(kinds, tmp_path):
    arch = 80 if kinds[3] == 2 else 90  # some for the one, some for the other: it takes a second each
    options = ["-std=c++17", f"-arch=compute_{arch}", "-ptx", "-Werror", "all-warnings"]
    command = [
        NVCC,
        *options,
        *(f"-D{x}" for x in defines(*kinds)),
        str(cuda.SOURCE),
        "-o",
        str(tmp_path / "tally.ptx"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ".entry tally" in (tmp_path / "tally.ptx").read_text()


@pytest.mark.slow
def test_nvrtc_compiles_it_once(tmp_path, monkeypatch):
    try:
        driver.nvrtc()
    except MissingDependencyError as problem:
        pytest.skip(problem.message)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = driver.compiled(cuda.SOURCE, defines(*KINDS[0]), 90)
    assert code[:4] == b"\x7fELF"
    monkeypatch.setattr(driver, "_compile", None)  # what is kept is read
    assert driver.compiled(cuda.SOURCE, defines(*KINDS[0]), 90) == code


def test_a_source_that_cannot_be_compiled_is_said(tmp_path, monkeypatch):
    class Nvrtc:
        """As much of NVRTC as a failure needs."""

        def __getattr__(self, name):
            return lambda *args: 6 if name == "nvrtcCompileProgram" else 0

    monkeypatch.setattr(driver, "nvrtc", Nvrtc)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(driver.CudaError, match=r"NVRTC could not compile tally\.cu with --gpu-architecture=sm_90"):
        driver.compiled(cuda.SOURCE, [], 90)
    assert not list(tmp_path.rglob("*.cubin"))


def test_no_driver_is_said(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    for find, said in ((driver.driver, "no CUDA driver"), (driver.nvrtc, "NVRTC, NVIDIA's compiler")):
        find.cache_clear()
        with pytest.raises(MissingDependencyError, match=said) as problem:
            find()
        assert problem.value.hint
        find.cache_clear()


def test_the_folder_of_kernels(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert driver.cache_folder() == tmp_path / "wmcc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert driver.cache_folder() == tmp_path / ".cache" / "wmcc"


def test_python_and_the_source_agree():
    """Numbers that stand in both."""
    source = cuda.SOURCE.read_text()
    assert cuda._POINTERS.size + cuda._NUMBERS.size == 11 * 8 + 7 * 8 + 12 * 4
    assert f"#define THREADS {cuda.THREADS}" in source
    assert f"WASTE = {cuda.WASTE}," in source
    fields = re.search(r"struct Call {(.*?)\n};", source, re.DOTALL)[1]
    names = re.findall(r"\b(\w+)[,;]", re.sub(r"//.*", "", fields))
    pointers = ["truth", "pred", "weight", "digits", "least", "most", "counts", "first", "updates", "scratch", "queue"]
    numbers = [
        "rows",
        "weight_step",
        "ignore",
        "digits_step",
        "ends_step",
        "row0",
        "last",
        "per",
        "K",
        "room",
        "blocks",
    ]
    assert names[: len(pointers + numbers)] == pointers + numbers


def test_plans():
    """More classes need more room; what does not fit is queued, and no plan is larger than the memory."""
    for room in (64 << 10, 96 << 10, 99 << 10, 163 << 10, 227 << 10):
        for weight in WEIGHTS:
            record = {None: 4, "float64": 52}.get(weight, 36)
            many = []
            for K in (2, 5, 20, 33, 64, 76, 100, 200, 390, 1000, 2000):
                if (K + 48) * record > room - 256:  # not even right predictions fit
                    with pytest.raises(cuda.UnsupportedError, match=f"{K:,} classes do not fit"):
                        cuda.plan(K, weight, room)
                    continue
                found = cuda.plan(K, weight, room)
                many.append(found.many)
                assert max(found.shared, found.rest) <= room - 256
                assert found.copies in (1, 2, 4, 8, 16, 32)
                assert found.right in (1, 2, 4, 8, 16, 32)
                assert found.span * cuda.MOST_RANGES >= K * bool(found.span)
                if not found.many:
                    assert (K * (K * found.copies + found.right) + 48) * record <= found.shared
            assert many == sorted(many)


class Launches:
    """Stands in for a device, and notes what is launched."""

    shared, processors = 227 << 10, 132

    def __init__(self, _=0):
        pass

    def load(self, _source, _defines, names):
        return list(names)


@pytest.mark.parametrize("K", [5, 200, 1000])
@pytest.mark.parametrize("apart", [False, True])
def test_launches_cover_all_rows(K, apart, monkeypatch):
    """Every row of every item is in one launch, and only the last one counts the update."""
    monkeypatch.setattr(cuda, "_device", Launches)
    monkeypatch.setattr(cuda, "_kernels", cuda._kernels.__wrapped__)
    monkeypatch.setattr(cuda, "MOST_ROWS", 50_000)
    monkeypatch.setattr(cuda, "QUEUE_ROWS", 30_000)
    monkeypatch.setattr(cuda, "MOST_ITEMS", 3)
    planes, cells = (10, 19, -160), K * (K + 1)
    for rows, items, step in ((7, 4, 0), (100_001, 2, 100_001), (40_000, 7, 0), (20_000, 7, 20_000)):
        todo = cuda.steps.__wrapped__(0, ("uint8", "int64", "float32"), True, rows, items, step, K, 255, planes, apart)
        covered, lasts = [], []
        for kernel, (blocks, several), shared, (t, p, w, d, e), numbers in todo:
            now, weight_step, ignore, digits_step, ends_step, at, last, per, classes, room, own, *_ = (
                cuda._NUMBERS.unpack(numbers)
            )
            assert shared <= Launches.shared - 256
            lasts.append(last)
            assert (p, t) == (8 * at, at)
            assert (classes, ignore) == (K, 255)
            if kernel == "rest":
                continue
            assert now <= blocks * per
            assert per <= cuda.BLOCK_ROWS
            assert (per % 4096, own, room in (0, per)) == (0, blocks, True)
            for k in range(several):
                first = at + k * now
                covered += range(first, first + now)
                item = first // rows
                weight_row = w // 4 + k * weight_step
                assert weight_row == (first if step else first % rows)
                if apart:
                    assert d + 8 * k * digits_step == 8 * item * 30 * cells
                    assert e + 8 * k * ends_step == 8 * item * cells
                else:
                    assert (d, e, digits_step, ends_step) == (0, 0, 0, 0)
        assert covered == list(range(rows * items))
        assert lasts == [0] * (len(lasts) - 1) + [1]
