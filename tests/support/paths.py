"""Where things are that tests read: the package is the one that is tested, in a clone or installed."""

from pathlib import Path

import wmcc

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests" / "golden"
SOURCE = Path(wmcc.__file__).parent
SAMPLE = SOURCE / "data" / "parcels.csv"
