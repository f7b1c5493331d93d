"""What is tested only where PyTorch is installed: see WMCC_TEST_TORCH in ``scripts/test``."""

from importlib.util import find_spec

collect_ignore = [
    path
    for path, package in {
        "docs/segmentation.md": "torchmetrics",
        "src/wmcc/adapters/torch": "torch",
        "src/wmcc/adapters/torchmetrics.py": "torchmetrics",
    }.items()
    if find_spec(package) is None
]
