"""What pyproject.toml cannot say.

A wheel's name tells whether the kernel is in it, nothing stays of old builds, and links of the README work elsewhere.
"""

import os
import re
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

LINK = re.compile(r"```.*?```|`[^`]*`|^ {4}.*?$|(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)", re.DOTALL | re.MULTILINE)
"""A picture or a link of Markdown to a file of this folder; or code, which may look like one."""


def long_description(text, version, urls):
    """Return the README with links that work on a package index, by the addresses in pyproject.toml.

    Pages lead to the site, other files to the sources. Where their address is not known, the text of a link stays,
    and a picture goes.
    """

    def absolute(match):
        if match[3] is None:
            return match[0]
        picture, words, (path, _, part) = match[1], match[2], match[3].partition("#")
        part = part and f"#{part}"
        if picture:
            return f"![{words}]({source}/raw/v{version}/{path})" if source else ""
        if site and path.startswith("docs/") and path.endswith(".md"):
            return f"[{words}]({site}/{path.removeprefix('docs/').removesuffix('.md')}.html{part})"
        return f"[{words}]({source}/blob/v{version}/{path}{part})" if source else words

    source, site = (urls.get(name, "").rstrip("/") for name in ("Source", "Documentation"))
    return LINK.sub(absolute, text)


class Build(build):
    """Build from nothing: a module that was deleted or a kernel of older sources may be left from before."""

    def run(self):
        """Delete what a build before this one made."""
        shutil.rmtree(os.path.join(self.build_lib, "wmcc"), ignore_errors=True)
        super().run()


class BuildKernel(build_ext):
    """Compile the kernel; where that fails, the wheel is one for every machine."""

    def run(self):
        """Compile, and look whether there is a kernel."""
        super().run()
        if not all(map(os.path.exists, self.get_outputs())):
            self.distribution.ext_modules = []
            wheel = self.get_finalized_command("bdist_wheel")
            wheel.root_is_pure, wheel.py_limited_api = True, False


if __name__ == "__main__":
    here = Path(__file__).parent
    project = tomllib.loads((here / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        cmdclass={"build": Build, "build_ext": BuildKernel},
        long_description=long_description(
            (here / "README.md").read_text(encoding="utf-8"), project["version"], project.get("urls", {})
        ),
        long_description_content_type="text/markdown",
    )
