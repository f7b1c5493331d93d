"""What is tested only where PyTorch is installed (see WMCC_TEST_TORCH in ``scripts/test``), and where pages write."""

from importlib.util import find_spec

import pytest

collect_ignore = [
    path
    for path, package in {
        "docs/segmentation.md": "torchmetrics",
        "src/wmcc/adapters/torch": "torch",
        "src/wmcc/adapters/torchmetrics.py": "torchmetrics",
    }.items()
    if find_spec(package) is None
]


@pytest.fixture(autouse=True)
def _folder_of_a_page(request):
    """Run the examples of a page in a folder of its own, so that files have short names there."""
    if request.path.suffix == ".md":
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
