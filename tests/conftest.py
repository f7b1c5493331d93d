"""Settings of the whole suite."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

import wmcc

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# Programs and helpers hold no tests, and some import what need not be installed.
collect_ignore = ["typed", *(path.name for path in HERE.glob("*.py") if not path.name.startswith("test_"))]

# The same examples each time, so that a change is judged by what it changed; `thorough` looks for new ones, `quick` is
# for slow machinery such as sanitizers, and `smoke` for `scripts/test --quick`.
hypothesis.settings.register_profile("default", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30, derandomize=True)
hypothesis.settings.register_profile("smoke", deadline=None, max_examples=5, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

if wmcc.kernel() != "compiled" and not os.environ.get("WMCC_TEST_WITHOUT_COMPILED"):
    raise RuntimeError(
        "the compiled kernel was not built, so these tests would not test it; install a C compiler and reinstall, "
        "or set WMCC_TEST_WITHOUT_COMPILED=1 to test the NumPy kernel alone"
    )

SLOW = {
    "test_classwise", "test_cli_docs", "test_cli_exits", "test_cli_process", "test_cli_streams", "test_consistency",
    "test_coverage", "test_coverage_designs", "test_demo", "test_design_sources", "test_distributed", "test_files",
    "test_frames", "test_groups", "test_joins", "test_joint_engines", "test_laws", "test_layouts", "test_many_classes",
    "test_many_shown", "test_memory", "test_names", "test_plot", "test_rankings", "test_reliability", "test_reproduce",
    "test_sklearn", "test_valid_files",
}  # fmt: skip
"""Modules that start processes or engines, or that compute for seconds: `scripts/test --quick` leaves them out."""

LONG = {
    "test_equal_classes_are_told_apart_one_time_in_twenty", "test_they_hold_the_truth_as_often_as_they_say",
    "test_too_many_classes", "test_the_first_bad_row_of_many_is_named", "test_many_classes_and_scores_near_zero",
    "test_long_windows_are_quick", "test_shares_by_size", "test_notes_of_many_groups_are_cut_short",
    "test_every_engine_adds_up_replicates", "test_replicates_of_groups_and_predictions",
}  # fmt: skip
"""Single tests of the same kind."""


@pytest.fixture
def torch():
    """PyTorch, for a test that needs it in a module that does not."""
    from helpers import torch_or_skip

    return torch_or_skip()


def pytest_collection_modifyitems(items):
    for item in items:
        module = item.path.stem
        if (
            module in SLOW
            or getattr(item, "originalname", None) in LONG
            or item.path.suffix == ".md"
            or "plot" in item.path.parts
        ):
            item.add_marker("slow")
        if "spark" in item.name.lower():
            item.add_marker("spark")
        if module == "test_browser":
            item.add_marker("browser")
