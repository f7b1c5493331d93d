"""What the README shows is run: its Python as that of all pages, its commands as examples of the help texts."""

import re
import tomllib

from cli_helpers import COMMANDS as NAMES
from cli_helpers import examples, run
from paths import ROOT

import wmcc

README = ROOT / "README.md"
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


def test_it_says_where_the_paper_is_cited():
    assert "how to cite\nwmcc, and the paper." in README.read_text()
    cited = (ROOT / "CITATION.cff").read_text()
    assert "references:" in cited
    assert "Cortez" in cited
    assert "Krishnamoorthy" in cited


def test_its_install_lines_name_every_extra():
    with open(README.parent / "pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    lines = "".join(re.findall(r"^    pip install .*\n", README.read_text(), re.MULTILINE))
    assert {*extras} - {*re.findall(r"\w+", lines)} <= {"all"}


def test_its_validation_loop(torch, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drawn = torch.Generator().manual_seed(0)
    target = torch.randint(19, (12, 9, 8), generator=drawn)
    noise, weight = torch.randn(12, 19, 9, 8, generator=drawn), torch.rand(12, 9, 8, generator=drawn)
    image = 2 * torch.nn.functional.one_hot(target).movedim(-1, 1) + noise
    target[:, 0] = 255
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(image, target, weight), batch_size=5)
    (block,) = (own for own in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL) if "Tally(" in own)
    lines = [line for line in block.splitlines() if line]
    assert len(lines) == 6
    made = {"wmcc": wmcc, "loader": loader, "model": torch.nn.Identity(), "device": "cpu"}
    exec(block, made)
    images = torch.arange(12)[:, None, None].expand(12, 9, 8)
    expected = wmcc.tabulate(target, image.argmax(1), weight, ignore=255, labels=range(19), cluster=images)
    assert made["tally"].compute() == expected
    assert capsys.readouterr().out == f"{wmcc.score(expected)}\n"
    assert "Mean over images" in (tmp_path / "report.html").read_text()
