"""What a clone promises: commands that work on a machine with nothing else, and wheels whose names are true."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
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
SENTENCE = re.compile(r"(\S+) is not installed; the (?:extra|group) '\w+' brings it")


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
    [
        "torch torchmetrics",
        "geopandas",
        "rasterio",
        "pyspark dask",
        "duckdb",
        "sklearn",
        "polars matplotlib",
        "pandas PIL",
    ],
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


@pytest.fixture
def release():
    """The checks of scripts/wheels, as a module."""
    return runpy.run_path(str(ROOT / "scripts" / "check_wheels.py"))


@pytest.fixture
def tree(tmp_path):
    """A folder with little to release."""
    files = {
        "pyproject.toml": '[project]\nversion = "1.2"\n',
        "src/wmcc/__init__.py": "",
        "src/wmcc/core/kernel/native/cells.c": "",
        "src/wmcc/core/kernel/cuda/tally.cu": "",
    }
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def packed(folder, name, *files, pure=True, tags=("py3-none-any",), about="# wmcc"):
    """Write a wheel with these files of the package."""
    lines = [f"Root-Is-Purelib: {str(pure).lower()}", *(f"Tag: {tag}" for tag in tags)]
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for file in files:
            wheel.writestr(f"wmcc/{file}", "")
        wheel.writestr("wmcc-1.2.dist-info/WHEEL", "\n".join(lines))
        wheel.writestr("wmcc-1.2.dist-info/METADATA", about)
    return folder / name


PURE, ALL = "wmcc-1.2-py3-none-any.whl", ("__init__.py", "core/kernel/cuda/tally.cu")
COMPILED = "wmcc-1.2-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
TAGS = ("cp311-abi3-manylinux2014_x86_64", "cp311-abi3-manylinux_2_17_x86_64")


def test_what_a_wheel_must_be(release, tree, tmp_path):
    def said(name, *files, **options):
        return release["check"](packed(tmp_path, name, *files, **options), tree)

    assert said(PURE, *ALL) == []
    assert said("wmcc-1.2-cp311-abi3-linux_x86_64.whl", *ALL) == ["its name is none that a release has"]
    assert said("wmcc-1.2-cp311-abi3-manylinux_2_28_x86_64.whl", *ALL) == ["its name is none that a release has"]
    assert said("wmcc-1.1-py3-none-any.whl", *ALL) == ["it is of version 1.1, the sources of 1.2"]
    (without,) = said(COMPILED, *ALL, pure=False, tags=TAGS)  # it looks like a wheel with a kernel
    assert without == "it lacks wmcc/core/kernel/_native.abi3.so"
    (kernel,) = said(PURE, *ALL, "core/kernel/_native.abi3.so")  # and this like one without
    assert kernel == "it should not hold wmcc/core/kernel/_native.abi3.so"
    assert said(PURE, *ALL, "gone.py") == ["it should not hold wmcc/gone.py"]
    assert said(PURE, *ALL, "core/kernel/native/cells.c")[0].startswith("it should not hold wmcc/core/kernel/native")
    assert said(PURE, "__init__.py") == ["it lacks wmcc/core/kernel/cuda/tally.cu"]
    assert said(PURE, *ALL, pure=False) == ["its name says otherwise than `Root-Is-Purelib`"]
    assert said(PURE, *ALL, tags=TAGS) == [f"its tags are {', '.join(TAGS)}"]
    (lost,) = said(PURE, *ALL, about="see [the grammar](docs/grammar.md)")
    assert lost.startswith("its description has links that lead nowhere")


def test_links_of_the_readme_work_on_a_package_index():
    described = runpy.run_path(str(ROOT / "setup.py"))["long_description"]
    text = "![A map](docs/demo.png)\n[cli](docs/cli.md#show), [how](CONTRIBUTING.md), [a](https://a.b), [b](#b)\n"
    code = "`x[0](y)`\n\n```python\nMEASURES[name](table)\n```\n\n    names[k](docs/cli.md)\n"
    assert described(text + code, "1.2", {}) == f"\ncli, how, [a](https://a.b), [b](#b)\n{code}"
    source = {"Source": "https://host/wmcc"}
    blob = "https://host/wmcc/blob/v1.2"
    assert described(text, "1.2", source).splitlines() == [
        "![A map](https://host/wmcc/raw/v1.2/docs/demo.png)",
        f"[cli]({blob}/docs/cli.md#show), [how]({blob}/CONTRIBUTING.md), [a](https://a.b), [b](#b)",
    ]
    both = described(text, "1.2", {**source, "Documentation": "https://site/"})
    assert "[cli](https://site/cli.html#show)" in both
    assert f"[how]({blob}/CONTRIBUTING.md)" in both
    readme = described((ROOT / "README.md").read_text(), "1.2", {})
    assert not re.search(r"\]\((?!http|#)", re.sub(r"```.*?```|`[^`]*`", "", readme, flags=re.DOTALL))


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_extras_are_for_users_and_groups_for_developers():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {"test", "lint", "bench"} <= {*known["dependency-groups"]}
    assert not {*known["dependency-groups"]} & {*known["project"]["optional-dependencies"]}
    for script in (ROOT / "scripts").iterdir():  # what `setup` is given is one of them
        for names in re.findall(r"\bsetup ([a-z][\w,]*)$", script.read_text(), re.MULTILINE):
            assert {*names.split(",")} <= {*known["dependency-groups"], *known["project"]["optional-dependencies"]}


@pytest.mark.slow
def test_a_wheel_says_whether_the_kernel_is_in_it_and_holds_nothing_old(tmp_path):
    pytest.importorskip("setuptools", "77", "building a wheel without a network needs setuptools 77 or later")
    clone, kernel = tmp_path / "clone", "wmcc/core/kernel/_native.abi3.so"
    shutil.copytree(ROOT / "src", clone / "src", ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, clone)
    gone = clone / "src" / "wmcc" / "gone.py"
    gone.touch()
    name, files = wheel(clone, tmp_path / "first")
    assert re.fullmatch(r"wmcc-[\d.]+-cp311-abi3-\w+\.whl", name)
    assert {kernel, "wmcc/gone.py", "wmcc/core/kernel/cuda/tally.cu"} <= files
    assert not [file for file in files if file.endswith((".c", ".h"))]
    gone.unlink()
    for source in clone.glob("src/wmcc/core/kernel/native/*.c"):
        source.write_text(source.read_text() + "\n")  # newer than the kernel that was built
    name, rest = wheel(clone, tmp_path / "second", CC="false")
    assert re.fullmatch(r"wmcc-[\d.]+-py3-none-any\.whl", name)
    old = {file for file in files if ".dist-info/" not in file} - {kernel, "wmcc/gone.py"}
    assert {file for file in rest if ".dist-info/" not in file} == old
