"""What the README shows is run: its Python as that of all pages, its commands as examples of the help texts."""

import re
from pathlib import Path

from cli_helpers import examples, run
from test_cli_docs import COMMANDS as NAMES

README = Path(__file__).parent.parent / "README.md"
COMMANDS = re.findall(r"^    (wmcc .*?)(?:  .*)?$", README.read_text(), re.MULTILINE)


def test_it_opens_with_a_dozen_lines_the_picture_and_four_commands():
    text = README.read_text()
    picture = text.index("![")
    block = text[text.index("```python") : picture].split("```")[1].strip().splitlines()
    assert len(block) - 1 <= 12
    assert (README.parent / re.search(r"\]\((.*?)\)", text[picture:])[1]).exists()
    first = re.search(r"^(    .*\n)+", text[picture:], re.MULTILINE)[0]
    assert [line.split()[1] for line in first.splitlines()] == ["demo", "score", "report", "reproduce"]


def test_its_commands_are_examples_of_help_which_are_run():
    run_elsewhere = {line for name in ["", *NAMES] for line in examples(run(*name.split(), "--help").stdout)}
    assert {f"$ {command}" for command in COMMANDS} <= run_elsewhere


def test_its_pages_exist():
    for page in re.findall(r"\]\((?!http)([^)#]+)", README.read_text()):
        assert (README.parent / page).exists(), page
