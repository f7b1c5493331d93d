"""Code that pages show without its output, which no doctest runs: it compiles, and names what there is."""

import ast
import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import DOCS, ROOT

import wmcc

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if path.name != "grammar.md"  # which has the calls of earlier versions beside those of today
}
WITH_TORCH = ("wmcc.adapters.torch", "wmcc.adapters.torchmetrics")


def shown(text):
    """Blocks of Python without prompts, indented calls without the remarks beside them, and calls in the text."""
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = [block for block in blocks if not block.lstrip().startswith(">>>")]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"^ {4,}((?:\w+ += +)?wmcc\..*)$", prose, re.MULTILINE):
        found.append(re.split(r"(?<!=) {2,}(?!=)", line)[0])
    found += re.findall(r"(?<!`)`((?:\w+ = )?wmcc(?:\.\w+)+\([^`]*\)[\w.]*)`(?!`)", prose)
    found = [re.sub(r", …\)", ")", re.sub(r"=([,)])", r"=...\1", code)) for code in found]  # `f(a=, b=, …)`
    return [code.replace("{…}", "{}").replace("…", "...") for code in found]


def there_is(module, name):
    """Whether a module has a name; of those that need PyTorch, whether their source has it."""
    if module in WITH_TORCH:
        source = Path(find_spec(module).origin).read_text()
        return bool(re.search(rf'^(?:class|def) {name}\b|^__all__ = .*"{name}"', source, re.MULTILINE))
    return hasattr(import_module(module), name)


def path_of(node):
    """The dotted name that an expression is, or nothing."""
    if isinstance(node, ast.Name):
        return node.id
    owner = path_of(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner else ""


def named(path):
    """What a dotted name of wmcc stands for; None where its module cannot be imported here."""
    for module in WITH_TORCH:
        if f"{path}.".startswith(f"{module}."):
            assert path == module or there_is(module, path.split(".")[3]), path
            return None
    owner, _, last = path.rpartition(".")
    if not owner:
        return wmcc
    thing = named(owner)
    if hasattr(thing, "__path__") and not hasattr(thing, last) and find_spec(path):
        return import_module(path)
    assert hasattr(thing, last) or last in getattr(thing, "__dataclass_fields__", ()), path
    return getattr(thing, last, None)


def check(code):
    """Refuse code that does not compile, names of wmcc that there are not, and keywords that a function has not."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("wmcc"):
            for alias in node.names:
                assert there_is(node.module, alias.name), (node.module, alias.name)
        elif isinstance(node, ast.Attribute) and path_of(node).startswith("wmcc."):
            named(path_of(node))
        elif isinstance(node, ast.Call) and path_of(node.func).startswith("wmcc."):
            function = named(path_of(node.func))
            taken = inspect.signature(function).parameters if function is not None else {}
            names = {keyword.arg for keyword in node.keywords if keyword.arg}
            if taken and not any(x.kind is x.VAR_KEYWORD for x in taken.values()):
                assert names <= set(taken), code


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_not_run_names_what_there_is(page):
    for code in shown(PAGES[page]):
        check(code)


def test_no_two_pages_have_the_same_code():
    blocks = [
        (page, {line.strip() for line in block.splitlines() if line.strip()})
        for page, text in PAGES.items()
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]
    long = [(page, lines) for page, lines in blocks if len(lines) >= 10]
    assert len(long) > 20
    assert not [(a, b) for a, one in long for b, other in long if a < b and len(one & other) >= 10]


def test_there_is_such_code():
    assert sum(len(shown(text)) for text in PAGES.values()) >= 100


@pytest.mark.parametrize(
    "code",
    [
        "from wmcc import tabulat",
        "wmcc.intervall(t)",
        "wmcc.interval(t, confidence=0.9)",
        "wmcc.adapters.torch.Taly(3)",
    ],
)
def test_code_that_names_what_is_not_there_is_refused(code):
    with pytest.raises(AssertionError):
        check(code)
