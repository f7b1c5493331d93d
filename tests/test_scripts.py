"""What a clone promises: commands that work on a machine with nothing else, and wheels whose names are true."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

import pytest

there = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name in ("torch", "torchmetrics") else there(name, *more)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[1:]]))
"""


def without_torch(*args, insist=""):
    """Run pytest where PyTorch cannot be imported."""
    env = {**os.environ, "WMCC_TEST_TORCH": insist}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *args], capture_output=True, text=True, cwd=ROOT, env=env
    )


@pytest.mark.slow
def test_without_pytorch_all_tests_are_collected():
    others = [path for path in (ROOT / "tests").glob("test_*.py") if "torch" not in path.read_text()]  # for speed
    done = without_torch("--collect-only", "tests", "src/wmcc/adapters", *(f"--ignore={path}" for path in others))
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
def test_without_pytorch_its_tests_are_skipped_with_a_sentence_unless_they_must_run():
    files = "tests/test_loss.py", "tests/test_torchmetrics.py", "tests/test_weightmaps.py"
    done = without_torch("-m", "torch", *files)
    assert done.returncode == 0, done.stdout
    reasons = re.findall(r"^SKIPPED \[\d+\] \S+ (.*)", done.stdout, re.MULTILINE)
    assert len(reasons) >= 3
    assert {reason.split(";")[1] for reason in reasons} == {
        " WMCC_TEST_TORCH=1 scripts/test installs PyTorch and TorchMetrics"
    }
    for file in ("tests/test_loss.py", "tests/test_weightmaps.py"):
        assert without_torch("-m", "torch", file, insist="1").returncode


def test_tests_ask_for_pytorch_in_one_way():
    """Another way would leave them out of CI's step for PyTorch, which runs what is marked ``torch``."""
    for path in (ROOT / "tests").glob("test_*.py"):
        assert not re.search(r"importorskip\(.torch", path.read_text()), path.name


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
        ("ERROR tests/test_gpu.py - ModuleNotFoundError", 2, False),
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
