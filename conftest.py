"""What is tested only where PyTorch is installed (see WMCC_TEST_TORCH in ``scripts/test``), and where pages write."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

NEED_TORCH = {
    "docs/segmentation.md": "torchmetrics",
    "src/wmcc/adapters/torch": "torch",
    "src/wmcc/adapters/torchmetrics.py": "torchmetrics",
}
"""Pages and modules whose examples need PyTorch, and the package that each imports."""

collect_ignore = [
    path for path, package in NEED_TORCH.items() if find_spec(package) is None and not os.environ.get("WMCC_TEST_TORCH")
]


def pytest_collection_modifyitems(items):
    """Mark what needs PyTorch, so that CI can run it by itself, and pages and examples that draw, which take long."""
    pages = [Path(__file__).parent / path for path in NEED_TORCH]
    for item in items:
        named = "torch" in getattr(item, "fixturenames", ()) or hasattr(getattr(item, "module", None), "torch")
        if named or any(item.path.is_relative_to(page) for page in pages):
            item.add_marker("torch")
        if item.path.suffix == ".md" or "plot" in item.path.parts:
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def _folder_of_a_page(request):
    """Run the examples of a page in a folder of its own, so that files have short names there."""
    if request.path.suffix == ".md":
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
