"""What pyproject.toml cannot say: a wheel's name tells whether the kernel is in it, and nothing stays of old builds."""

import os
import shutil

from setuptools import setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext


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


setup(cmdclass={"build": Build, "build_ext": BuildKernel})
