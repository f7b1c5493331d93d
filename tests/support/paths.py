"""Where things are that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests" / "golden"
SAMPLE = ROOT / "src" / "wmcc" / "data" / "parcels.csv"
