"""How often a command changes from one file of the package to another: few enough that one can follow it."""

import os
import sys

from cli_helpers import SAMPLE, WEIGHTED, run

import wmcc

MOST = 566
"""Calls from a function of one file to a function of another, in `wmcc score`: less than half of 1,140."""


def test_a_score_walks_few_changes_of_file():
    args = ("score", SAMPLE, *WEIGHTED)
    run(*args)  # imports are none of it
    package, changes = os.path.dirname(wmcc.__file__) + os.sep, 0

    def watch(frame, event, _):
        nonlocal changes
        caller = frame.f_back
        if event == "call" and caller is not None:
            here, there = frame.f_code.co_filename, caller.f_code.co_filename
            changes += here != there and here.startswith(package) and there.startswith(package)

    sys.setprofile(watch)
    try:
        run(*args)
    finally:
        sys.setprofile(None)
    assert changes <= MOST
