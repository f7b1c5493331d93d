"""What a clone promises: commands that work on a machine with nothing else, and wheels whose names are true."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from paths import ROOT

WITHOUT = """
import sys
from importlib.machinery import PathFinder

import pytest

hidden, there = sys.argv[1].split(), PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in hidden else there(name, *more)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[2:]]))
"""
SENTENCE = re.compile(r"(\S+) is not installed; the extra '\w+' brings it")


def without(modules, *args, insist=""):
    """Run pytest where these modules cannot be imported; what it returned, and the reasons of skips, each once."""
    env = {**os.environ, "WMCC_TEST_TORCH": insist, "HYPOTHESIS_PROFILE": "smoke"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, modules, *args], capture_output=True, text=True, cwd=ROOT, env=env
    )
    return done, set(re.findall(r"^SKIPPED \[\d+\] \S+ (.*)", done.stdout, re.MULTILINE))


def may_need(modules):
    """Files of tests that name one of these modules, or import a helper that does."""
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    named = {path.stem for path, text in texts.items() if re.search(rf"\b({modules.replace(' ', '|')})\b", text)}
    helped = re.compile(rf"^(?:from|import) (?:{'|'.join(named)})\b", re.MULTILINE)
    return [path for path, text in texts.items() if path.stem in named or helped.search(text)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "modules",
    ["torch torchmetrics duckdb", "geopandas sklearn pyspark", "rasterio dask", "polars matplotlib", "pandas PIL"],
)
def test_without_an_extra_all_tests_are_collected(modules):
    files = [str(path) for path in may_need(modules) if path.name.startswith("test_")]
    assert len(files) > 5
    done, reasons = without(modules, "--collect-only", "src/wmcc/adapters", *files)
    assert done.returncode == 0, done.stdout[-3000:]
    assert all(map(SENTENCE.fullmatch, reasons)), reasons


@pytest.mark.slow
def test_without_an_extra_its_tests_are_skipped_with_a_sentence():
    modules = "torch torchmetrics geopandas rasterio pyspark duckdb sklearn"
    files = {
        "adapters": ("loss", "torchmetrics"),
        "cli": ("labels",),
        "geo": ("raster",),
        "matrices": ("matrices",),
        "sources": ("grammar", "groups"),
        "weightmaps": ("weightmaps",),
    }
    paths = [f"tests/{folder}/test_{name}.py" for folder, names in files.items() for name in names]
    some = "tensors or scorers or flags or duckdb or of_geopandas or scored_as_arrays"
    done, reasons = without(modules, "-k", some, *paths, "src/wmcc/adapters")
    assert done.returncode == 0, done.stdout
    named = {SENTENCE.fullmatch(reason)[1] for reason in reasons}
    assert named == {"torch", "geopandas", "rasterio", "pyspark", "duckdb", "scikit-learn"}


@pytest.mark.slow
def test_pytorch_must_be_there_where_its_tests_must_run():
    for file in ("tests/adapters/test_loss.py", "tests/weightmaps/test_weightmaps.py"):
        assert without("torch torchmetrics", "-m", "torch", file, insist="1")[0].returncode


def test_tests_ask_for_extras_in_one_way():
    """Another way would have sentences of its own, and leave tests of PyTorch out of CI's step for ``torch``."""
    core = "scipy|setuptools|lightning"
    files = [*(ROOT / "tests").rglob("test_*.py")]
    assert len(files) > 50
    for path in files:
        assert not re.search(rf"importorskip\(.(?!{core})", path.read_text()), path.name


def test_ci_begins_with_the_commands_of_the_readme():
    commands = re.findall(r"^    (scripts/.*?)  ", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands == ["scripts/demo", "scripts/test"]
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    ran = [line for line in lines if "scripts/" in line and not line.startswith("#")]
    assert ran[:2] == commands
    assert "WMCC_TEST_TORCH=1" in ran[-1]


@pytest.mark.parametrize(
    ("said", "code", "fine"),
    [
        ("24 passed, 3 deselected in 9.1s", 0, True),
        ("1 failed, 23 passed in 9.1s", 1, False),
        ("no tests ran in 0.01s", 5, False),
        ("3 skipped, 40 deselected in 0.4s", 0, False),
        ("ERROR tests/adapters/test_gpu.py - ModuleNotFoundError", 2, False),
    ],
)
def test_gpu_tests_that_did_not_run_are_a_failure(said, code, fine, tmp_path):
    for folder in ("scripts", "src"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "scripts" / "check-gpu", tmp_path / "scripts")
    python = tmp_path / "python"
    answers = f'*pytest\\ -q*) echo "{said}"; exit {code};; *gpu.py*) echo figures >build/gpu/figures.md'
    python.write_text(f'#!/usr/bin/env bash\ncase "$*" in {answers};; esac\n')
    python.chmod(0o755)
    env = {**os.environ, "PYTHON": str(python), "CC": "true"}
    done = subprocess.run([tmp_path / "scripts" / "check-gpu"], capture_output=True, text=True, env=env)
    assert (done.returncode == 0) is fine, done.stderr
    if "passed" in said:
        assert f"Tests: {said}." in done.stdout
        assert "figures" in done.stdout
    else:
        assert done.stdout == f"{said}\nThe tests did not run.\n"


def wheel(folder, out, **env):
    """Build a wheel of a clone, and return it with the names of its files."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", out, folder]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **env})
    (made,) = out.glob("*.whl")
    with zipfile.ZipFile(made) as file:
        return made.name, set(file.namelist())


@pytest.mark.slow
def test_a_wheel_says_whether_the_kernel_is_in_it_and_holds_nothing_old(tmp_path):
    pytest.importorskip("setuptools", "77", "building a wheel without a network needs setuptools 77 or later")
    clone, kernel = tmp_path / "clone", "wmcc/core/kernel/_native.abi3.so"
    shutil.copytree(ROOT / "src", clone / "src", ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    gone = clone / "src" / "wmcc" / "gone.py"
    gone.touch()
    name, files = wheel(clone, tmp_path / "first")
    assert re.fullmatch(r"wmcc-[\d.]+-cp311-abi3-\w+\.whl", name)
    assert {kernel, "wmcc/gone.py"} <= files
    gone.unlink()
    for source in clone.glob("src/wmcc/core/kernel/native/*.c"):
        source.write_text(source.read_text() + "\n")  # newer than the kernel that was built
    name, rest = wheel(clone, tmp_path / "second", CC="false")
    assert re.fullmatch(r"wmcc-[\d.]+-py3-none-any\.whl", name)
    old = {file for file in files if ".dist-info/" not in file} - {kernel, "wmcc/gone.py"}
    assert {file for file in rest if ".dist-info/" not in file} == old
