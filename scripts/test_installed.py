"""Test the wmcc that is installed for this interpreter, with the tests of this folder but none of its sources.

    python scripts/test_installed.py [--kernel compiled|numpy] [argument of pytest ...]

The tests are copied to a folder of their own, so that nothing there is the package. Without arguments, those run that
say most about an installation: the kernel, tables, measures, files, the command line and the shape of the package;
arguments take their place. What a test needs and is not installed makes it a skip, so pytest, hypothesis and jsonschema
(the group `installed`) are enough to begin with. Where tests start programs, they do it with WMCC_TEST_PYTHON, if that
is set, rather than with this interpreter.
"""

import argparse
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    *("conftest.py", "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"),
    *("tests", "docs", "benchmarks"),
)
TELLING = (
    *("tests/core", "tests/measures", "tests/package", "tests/inference/test_inference.py"),
    *("tests/cli/test_formats.py", "tests/cli/test_process.py", "tests/cli/test_report.py"),
    *("tests/results/test_readers.py", "tests/sources/test_short.py", "tests/sources/test_designs.py"),
)
OF_A_CLONE = (
    "tests/package/test_scripts.py",
    "tests/package/test_package.py::test_files_that_pages_for_developers_name_are_there",
)
"""What looks at sources and scripts, which an installation does not have."""


def main():
    """Copy the tests, look at what is installed, and run them; the exit code is pytest's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", choices=["compiled", "numpy"], help="which one must be installed")
    options, given = parser.parse_known_args()
    if options.kernel == "numpy":
        os.environ["WMCC_TEST_WITHOUT_COMPILED"] = "1"
    os.environ.setdefault("HYPOTHESIS_PROFILE", "smoke")
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(folder, name))
        os.chdir(folder)
        sys.executable = os.environ.get("WMCC_TEST_PYTHON", sys.executable)
        sys.path[:] = [path for path in sys.path if Path(path).resolve() not in (ROOT, ROOT / "scripts", ROOT / "src")]
        import pytest

        import wmcc
        from wmcc.core.kernel import kernel

        package = Path(wmcc.__file__).parent
        print(f"wmcc {wmcc.__version__} with the {kernel()} kernel, in {package}", flush=True)
        if ROOT / "src" in package.parents:
            sys.exit("This is the source, not an installation: python -m pip uninstall wmcc, or another environment.")
        with open("pyproject.toml", "rb") as file:
            version = tomllib.load(file)["project"]["version"]
        if version != wmcc.__version__:
            sys.exit(f"These are the tests of {version}.")
        if options.kernel not in (None, kernel()):
            sys.exit(f"Its kernel should be the {options.kernel} one.")
        if native := [path.name for path in package.rglob("*") if path.suffix in (".c", ".h")]:
            sys.exit(f"It holds C sources: {', '.join(native)}.")
        left_out = [f"--deselect={name}" for name in OF_A_CLONE]
        quick = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not spark and not browser", *left_out]
        code = pytest.main([*quick, *(given or TELLING)])
        os.chdir(ROOT)
    sys.exit(code)


if __name__ == "__main__":
    main()
