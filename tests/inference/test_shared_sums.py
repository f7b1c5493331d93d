"""What a reader computes of a table is kept with it for the next: no answer depends on what was asked before."""

import numpy as np
import pytest

import wmcc
from wmcc.measures import MEASURES

READERS = {
    **{f"interval {name}": lambda x, name=name: wmcc.interval(x, name) for name in MEASURES if name != "mcc"},
    **{name: lambda x, name=name: wmcc.measures.MEASURES[name](x) for name in ("ecc", "mpc2", "mean_iou")},
    "recall of 1": lambda x: wmcc.interval(x, "recall", of=1),
    "score": lambda x: wmcc.score(x).to_json(),
    "diagnose": wmcc.diagnose,
    "certify": lambda x: wmcc.certify(x, "mpc1", eps=0.1),
    "sensitivity": lambda x: wmcc.sensitivity(x, "ecc"),
}


@pytest.mark.parametrize("classes", [3, 12])
@pytest.mark.parametrize("drawn", ["rows", "clusters", "strata"])
def test_no_answer_depends_on_what_was_asked_before(classes, drawn):
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, 400)
    pred = np.where(rng.random(400) < 0.7, truth, rng.integers(0, classes, 400))
    how = {
        "clusters": {"cluster": rng.integers(0, 20, 400)},
        "strata": {"design": wmcc.Strata(rng.integers(0, 4, 400))},
    }
    ask = {"y_true": truth, "y_pred": pred, "sample_weight": rng.lognormal(0, 1, 400), **how.get(drawn, {})}
    alone = {name: repr(read(wmcc.tabulate(**ask))) for name, read in READERS.items()}
    shared = wmcc.tabulate(**ask)
    for _ in range(2):
        for name in rng.permutation(list(READERS)).tolist():
            assert repr(READERS[name](shared)) == alone[name], name
    assert shared == wmcc.tabulate(**ask)
