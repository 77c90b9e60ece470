"""Builds the compiled module; everything else about the project stands in pyproject.toml."""

import shlex
import shutil
import sys
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class BuildCore(build_ext):
    """Say in one line that a C compiler is missing, instead of a page of distutils."""

    def build_extensions(self):
        command = getattr(self.compiler, "compiler", None)
        program = shlex.split(" ".join(command))[0] if command else None
        if program and shutil.which(program) is None:
            sys.exit(
                f"bmn_search needs a C compiler and found no {program!r}: "
                "install one (Debian: apt install gcc) or name yours in CC"
            )
        super().build_extensions()


def extensions():
    from Cython.Build import cythonize

    core = Extension(
        "bmn_search._core",
        ["bmn_search/_core.pyx"],
        depends=glob("bmn_search/native/*.h"),
        extra_compile_args=["-O2", "-std=gnu11"],
    )
    return cythonize([core], language_level=3)


setup(cmdclass={"build_ext": BuildCore}, ext_modules=extensions())
