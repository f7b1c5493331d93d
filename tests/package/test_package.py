"""The shape of the package: its face, its layers, its weight, its size."""

import ast
import inspect
import os
import re
import runpy
import subprocess
import sys
import tomllib
from typing import get_args

import pytest
from paths import ROOT, SOURCE

import wmcc
import wmcc.measures
from wmcc import optional
from wmcc.core.kernel import kernel

LAYERS = [
    {"present", "errors", "optional", "_lazily"},
    {"core"},
    {"geo", "weightmaps"},
    {"sources"},
    {"measures"},
    {"inference", "robustness"},
    {"matrices"},
    {"mapping", "published", "results"},
    {"experiments", "report"},
    {"plot"},
    {"adapters", "demo"},
    {"cli"},
    {"__main__"},
]
"""From the ground up: a module imports from layers below its own, or from its own folder."""

FACE = {"__init__"}


def layer(name):
    return next(i for i, names in enumerate(LAYERS) if name in names)


def imports(path):
    """Names of wmcc's own top-level modules that a file imports."""
    package = path.relative_to(SOURCE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            full = (*base, *(node.module.split(".") if node.module else ()))
            if full:
                yield full[0]
            else:
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "wmcc":
            yield [*node.module.split("."), ""][1]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in FACE:
        return
    for name in imports(path):
        assert name == own or layer(name) < layer(own) or {name, own} <= LAYERS[0], f"{own} imports {name}"


READS_DATA = {
    "measures/base.py": "a measure that is called with labels instead of a table",
    "inference/rows.py": "the bootstrap, which draws rows",
    "robustness/rows.py": "the weights of rows that reach the end of a certificate",
    "mapping/drawing.py": "a map, whose places are drawn",
    "mapping/planning.py": "a map, whose classes have sizes",
    "mapping/error_map.py": "a picture, which is told of places in the pass that makes the table",
    "matrices/checks.py": "a weight matrix, which is data",
    "matrices/correlation.py": "a weight matrix, which is data",
    "matrices/jackknife.py": "a weight matrix, which is data",
    "matrices/neighbours.py": "labels of neighbours, of which a weight matrix is made",
    "plot/_weights.py": "a picture of weights before there is a table",
    "report/pictures.py": "pictures of the images with the lowest scores",
    "report/provenance.py": "checksums of the files that were read",
}
"""What below the waist asks `sources`, and what for."""


def test_what_reads_data_below_the_waist_is_listed():
    below = {name for names in LAYERS[layer("measures") : layer("adapters")] for name in names}
    places = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0].removesuffix(".py") in below and "sources" in imports(path)
    }
    assert places == set(READS_DATA)


def nodes(kind):
    """Nodes of a kind in the modules of the package, with the module that each is in."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kind):
                yield str(path.relative_to(SOURCE)), node


def test_a_name_means_one_class():
    places = {}
    for path, node in nodes(ast.ClassDef):
        places.setdefault(node.name, []).append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_functions_can_be_read_at_a_glance():
    """At most 80 lines beside the docstring; `scripts/check` holds their complexity to 15."""
    for path, node in nodes((ast.FunctionDef, ast.AsyncFunctionDef)):
        doc = ast.get_docstring(node, clean=False) or ""
        lines = node.end_lineno - node.lineno + 1 - (len(doc.splitlines()) if doc else 0)
        assert lines <= 80, (path, node.name, lines)


def test_tabulate_has_only_what_every_call_may_need():
    """Anything else is a field of a value; those that are not named are refused with the value they belong to."""
    named = [
        p
        for p in inspect.signature(wmcc.tabulate).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    assert len(named) <= 18


def test_all_is_sorted_and_true():
    assert wmcc.__all__ == sorted(wmcc.__all__, key=str.lower)
    for name in wmcc.__all__:
        assert getattr(wmcc, name) is not None
    assert wmcc.__doc__
    assert len(wmcc.__all__) <= 45


@pytest.mark.parametrize("package", [wmcc, wmcc.results])
def test_names_are_loaded_when_they_are_asked_for(package):
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'scoore'"):
        _ = package.scoore


def test_nothing_that_is_imported_warns():
    code = "import wmcc; wmcc.score([0, 1, 1], [0, 1, 0]); wmcc.results, wmcc.errors, wmcc.weightmaps"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_types_of_names_are_the_registry():
    measures = wmcc.measures
    assert get_args(measures.ClassMeasureName) == tuple(measures.CLASS_MEASURES)


def test_import_is_light():
    """Nothing is imported until it is used, and then no more than it needs."""

    def loaded(use):
        code = f"import sys, wmcc{use}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    heavy = {
        "narwhals",
        "pandas",
        "polars",
        "pyarrow",
        "sklearn",
        "scipy",
        "torch",
        "matplotlib",
        "PIL",
        "duckdb",
        "rich",
        "typer",
        "geopandas",
        "pyogrio",
        "pyproj",
        "rasterio",
        "shapely",
        "xarray",
    }
    assert "numpy" in loaded("; wmcc.tabulate")
    assert not loaded("; wmcc.tabulate") & heavy
    for use in ("", ".cli"):  # the command line, too, is there before all that could take long
        assert not loaded(use) & {"numpy", *heavy}


def test_what_stands_on_the_measures_is_loaded_when_used():
    code = """
import sys
import wmcc

above = ["experiments", "inference", "plot", "published", "report", "results", "robustness"]
wmcc.mcc([0, 1, 1], [0, 1, 0])
print(*(name for name in above if "wmcc." + name in sys.modules))
listed = set(wmcc.__all__) <= set(dir(wmcc))
own = [getattr(wmcc, name) is sys.modules["wmcc." + name] for name in ("experiments", "plot", "published")]
from wmcc import compare, score
print(listed, *own, wmcc.compare is compare is sys.modules[wmcc.compare.__module__].compare, hasattr(wmcc, "nothing"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n" + "True " * 5 + "False\n"


def test_a_missing_extra_is_named():
    code = """
import sys
sys.modules["sklearn"] = None
try:
    import wmcc.adapters.sklearn
except ImportError as problem:
    print(problem)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "needs scikit-learn" in said
    assert "pip install 'wmcc[sklearn]'" in said


def test_the_extra_that_a_message_names_brings_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, extra in optional.EXTRAS.items():
        brought = {re.match(r"[\w-]+", requirement)[0] for requirement in extras[extra]}
        if extra == "excel":  # whichever of pandas and polars writes
            brought.add("xlsxwriter")
        assert package.lower() in brought, (package, extra)
    modules = {*optional.EXTRAS} | {*optional.PACKAGES}
    for path, node in nodes(ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if called == "module" and isinstance(node.args[0], ast.Constant):
            assert node.args[0].value.partition(".")[0] in {*modules, "narwhals"}, path


def test_all_extras_are_in_all():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (every,) = extras.pop("all")
    assert every == f"wmcc[{','.join(sorted(extras))}]"


@pytest.mark.parametrize("name", ["numpy", "compiled", "fortran"])
def test_the_kernel_can_be_chosen(name):
    env = {**os.environ, "WMCC_KERNEL": name}
    done = subprocess.run(
        [sys.executable, "-c", "from wmcc.core.kernel import kernel; print(kernel())"],
        capture_output=True,
        text=True,
        env=env,
    )
    if name == "fortran":
        assert "WMCC_KERNEL is 'fortran'" in done.stderr
    elif name == "numpy" or kernel() == "compiled":
        assert done.stdout.strip() == name


@pytest.mark.parametrize("page", ["docs/contributing/design.md", "CONTRIBUTING.md"])
def test_files_that_pages_for_developers_name_are_there(page):
    names = re.findall(r"`([\w*-]+(?:/[\w.*-]*)+|[\w*]+\.(?:py|c|cu|md|toml))`", (ROOT / page).read_text())
    assert len(names) > 20
    for name in names:
        file = name.rstrip("/")
        ends = f"{file}.py", file
        nested = [path for folder in ("src", "tests") for end in ends for path in (ROOT / folder).rglob(end)]
        assert nested or any((ROOT / folder / file).exists() for folder in ("", "benchmarks")), name


def test_every_public_function_has_an_example():
    for name in wmcc.__all__:
        thing = getattr(wmcc, name)
        if callable(thing) and not isinstance(thing, type) and not isinstance(thing, wmcc.measures.Measure):
            assert ">>>" in thing.__doc__, name
    for thing in (wmcc.Table, wmcc.JointTable, wmcc.measures.Measure):
        assert ">>>" in thing.__doc__


def test_what_type_checkers_read_runs():
    """The types in tests/typed are held to by `scripts/check static`; here is whether the calls work."""
    runpy.run_path(str(ROOT / "tests" / "typed" / "user_code.py"))
