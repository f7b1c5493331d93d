"""The report: how long it takes to make and to open, and how large it is. Needs a Chromium and Playwright.

With ``--write`` the table goes to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile

import numpy as np
from common import data, median, timed, timed_once, write_section
from playwright.sync_api import Page, sync_playwright

import wmcc

ROWS = 100_000
BAR = 2e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    lines = [
        "| classes | predictions | to make | size | to open | over an empty page |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page, empty = browser.new_page(), os.path.join(folder, "empty.html")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><title>Empty</title><p>Empty")
        for classes in (2, 20, 200):
            for count in (1, 2):
                line = measured(classes, count, folder, page, empty)
                lines.append(line)
                print(line, flush=True)
        browser.close()
    if parser.parse_args().write:
        write_section("report", "\n".join(lines))


def measured(classes: int, count: int, folder: str, page: Page, empty: str) -> str:
    """Make a report and open it, beside an empty page; the answer is asserted first."""
    truth, first, w = data(ROWS, classes)
    rng = np.random.default_rng(1)
    second = np.where(rng.random(ROWS) < 0.8, truth, rng.integers(0, classes, ROWS))  # of the same truth
    path = os.path.join(folder, "report.html")
    guesses = first if count == 1 else {"A": first, "B": second}
    (making,) = timed_once(lambda: wmcc.write_report(path, wmcc.tabulate(truth, guesses, w), progress=False))
    size = os.path.getsize(path)
    assert size < BAR

    def load(file: str) -> None:
        page.goto(f"file://{file}")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    load(path)
    assert f"{getattr(wmcc, 'mcc' if classes == 2 else 'ecc')(truth, first, sample_weight=w):.4f}" in page.inner_text(
        "main"
    )
    opening, blank = median(timed(lambda: load(path), 7)), median(timed(lambda: load(empty), 7))
    cells = f"{making:.1f} s", f"{size / 1e3:.0f} kB", f"{1e3 * opening:.0f} ms", f"+{1e3 * (opening - blank):.0f} ms"
    return f"| {classes} | {count} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
