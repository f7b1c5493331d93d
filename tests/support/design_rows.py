"""A sample in strata, with clusters, sizes and post-strata."""

import pyarrow as pa

STRATA = "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD"
MAPPED = "AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD"
TRUTHS = "AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB"
SIZES = {"A": 40_000, "B": 30_000, "C": 20_000, "D": 10_000}
ROWS = pa.table(
    {
        "id": list(range(40)),
        "ref": list(TRUTHS),
        "map": list(MAPPED),
        "other": list(MAPPED[1:] + "A"),
        "stratum": list(STRATA),
        "number": ["ABCD".index(x) + 1 for x in STRATA],
        "zone": [k % 2 for k in range(40)],
        "psu": [k // 2 % 5 for k in range(40)],
        "w": [0.5 + k / 8 for k in range(40)],  # whose sums no engine rounds
        "size": [float(SIZES[x]) for x in STRATA],
        "ha": [SIZES[x] + 0.25 for x in STRATA],
        "psus": [{"A": 50, "B": 40, "C": 30, "D": 10}[x] for x in STRATA],
        "half": ["north" if k % 3 else "south" for k in range(40)],
        "age": ["young" if k % 7 < 3 else "old" for k in range(40)],
        "aged": [120.5 if k % 7 < 3 else 80.0 for k in range(40)],
    }
)
TOTALS = {"young": 120.5, "old": 80}
