"""Settings of the whole suite."""

import os
import sys
from pathlib import Path

import hypothesis

import wmcc

sys.path.insert(0, str(Path(__file__).parent))

# The same examples each time, so that a change is judged by what it changed; `thorough` looks for new ones, and
# `quick` is for slow machinery such as sanitizers.
hypothesis.settings.register_profile("default", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

if wmcc.kernel() != "compiled" and not os.environ.get("WMCC_TEST_WITHOUT_COMPILED"):
    raise RuntimeError(
        "the compiled kernel was not built, so these tests would not test it; install a C compiler and reinstall, "
        "or set WMCC_TEST_WITHOUT_COMPILED=1 to test the NumPy kernel alone"
    )
