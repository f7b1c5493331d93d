"""The demo shows what it says."""

import wmcc
from wmcc.demo import main, make_map


def test_the_classifiers_tie_unweighted_and_not_weighted(capsys):
    data = make_map()
    a, b = data.careless_with_small, data.careless_with_large
    assert wmcc.tabulate(data.truth, a) == wmcc.tabulate(data.truth, b)
    assert wmcc.mcc(data.truth, a, data.area) > wmcc.mcc(data.truth, b, data.area) + 0.3
    main()
    said = capsys.readouterr().out
    assert "Classifier A" in said
    assert "cannot tell them apart" in said
