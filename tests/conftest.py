"""Settings of the whole suite."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

from wmcc.core.kernel import kernel

sys.path.insert(0, str(Path(__file__).parent / "support"))

# Programs and helpers hold no tests, and some import what need not be installed.
collect_ignore = ["support", "typed"]

# The same examples each time, so that a change is judged by what it changed; `thorough` looks for new ones, `quick` is
# for slow machinery such as sanitizers, and `smoke` for `scripts/test --quick`.
hypothesis.settings.register_profile("default", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30, derandomize=True)
hypothesis.settings.register_profile("smoke", deadline=None, max_examples=5, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

if kernel() != "compiled" and not os.environ.get("WMCC_TEST_WITHOUT_COMPILED"):
    raise RuntimeError(
        "the compiled kernel was not built, so these tests would not test it; install a C compiler and reinstall, "
        "or set WMCC_TEST_WITHOUT_COMPILED=1 to test the NumPy kernel alone"
    )


@pytest.fixture
def torch():
    """PyTorch, for a test that needs it in a module that does not."""
    import torch

    return torch


def pytest_collection_modifyitems(items):
    """Let drawn labels have nothing in common: tests with examples drawn by hypothesis are about other things."""
    for item in items:
        if hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.filterwarnings("ignore:no true label is ever predicted"), append=False)


def pytest_runtest_setup(item):
    """Start Spark, or skip the test with a sentence where there is no Java."""
    if item.get_closest_marker("spark"):
        from engines import spark

        spark()
