"""How Sphinx makes the site of these pages: ``scripts/docs``."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "wmcc"
author = "the authors of wmcc"
version = release = installed("wmcc")
html_title = f"wmcc {version}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_click",
    "wmcc_site",
]
exclude_patterns = ["_ext", "_static", "_templates", "**/verdicts.md"]
templates_path = ["_templates"]
highlight_language = "none"  # indented lines are commands, and calls with remarks beside them
nitpicky = True
smartquotes = False  # two hyphens are an option

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = False  # wmcc_site writes these pages
autosummary_filename_map = {  # files whose names differ in more than capitals
    "wmcc.results.uncertainty": "wmcc.results.uncertainty-function",
    "wmcc.experiments.separation": "wmcc.experiments.separation-function",
    "wmcc.adapters.torch.correlation_loss": "wmcc.adapters.torch.correlation_loss-function",
    "wmcc.adapters.sklearn.scorer": "wmcc.adapters.sklearn.scorer-function",
}
autodoc_mock_imports = ["torch", "torchmetrics"]
autodoc_typehints = "none"  # types stand in the docstrings; as signatures they hide what one types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "wmcc"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # summaries are fetched, which pages opened from a file may not do
html_permalinks_icon = "#"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "wmcc"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"gallery": [], "coming-from": [], "benchmarks": [], "changes": []}
