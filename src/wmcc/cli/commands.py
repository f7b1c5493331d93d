"""The commands by name: each is a module of this folder, which is imported when the command is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .guard import exit_on_error

NAMES = (
    "score", "compare", "threshold", "images", "drift", "certify", "radius", "rank", "map", "plan", "draw", "report",
    "tabulate", "merge", "show", "demo", "example", "reproduce",
)  # fmt: skip


class Commands(click.Group):
    """The commands, which end with the exit code that their failure deserves."""

    words: list[str]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names, in the order in which they are listed."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, if there is one of this name."""
        if cmd_name not in NAMES:
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        """Read the options that come before a command."""
        self.words = list(args)
        if extra.get("resilient_parsing"):  # a shell asks for completions
            return super().make_context(info_name, args, parent, **extra)
        with exit_on_error(self.words):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Read the options of a command, and run it."""
        with exit_on_error(self.words):
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Example:
  $ wmcc example -o parcels.csv
  $ wmcc score parcels.csv --true label --pred pred --weight area""",
)
@click.version_option(package_name="wmcc", message="wmcc %(version)s")
def wmcc() -> None:
    """Scores for classifiers whose observations do not count equally."""
