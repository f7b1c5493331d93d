"""The commands of the README work; its Python is doctested where all pages are."""

import os
import re
from pathlib import Path

import pytest
from cli_helpers import put_sample, shell

README = Path(__file__).parent.parent / "README.md"
COMMANDS = re.findall(r"^    (wmcc .*?)(?:  .*)?$", README.read_text(), re.MULTILINE)


def test_it_opens_with_the_picture_and_four_commands():
    text = README.read_text()
    picture = text.index("![")
    assert (README.parent / re.search(r"\]\((.*?)\)", text[picture:])[1]).exists()
    first = re.search(r"^(    .*\n)+", text[picture:], re.MULTILINE)[0]
    assert [line.split()[1] for line in first.splitlines()] == ["demo", "score", "report", "reproduce"]
    assert text.index(first) < text.index(">>>")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_work(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    before = set(os.listdir())
    printed = shell(f"$ {command}")
    assert printed or set(os.listdir()) > before
    for out in re.findall(r"(?:-o|--out) (\S+)", command):
        assert os.path.exists(out)


def test_its_pages_exist():
    for page in re.findall(r"\]\((?!http)([^)#]+)", README.read_text()):
        assert (README.parent / page).exists(), page
