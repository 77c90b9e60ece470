"""The package as it is shipped: doctests, public names, sdist, wheel, no compiler."""

import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from conftest import ROOT

import bmn_search

MODULES = ["bmn_search"] + [
    module.name
    for module in pkgutil.walk_packages(bmn_search.__path__, "bmn_search.")
    if "known_deals" not in module.name
]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_public_names():
    for name in bmn_search.__all__:
        assert getattr(bmn_search, name).__doc__
    with pytest.raises(AttributeError):
        _ = bmn_search.nonsense


def test_help_imports_nothing_heavy():
    code = "import sys, bmn_search.cli; print('numpy' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the sdist, and from the sdist the wheel in a clean environment."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (sdist,) = folder.glob("*.tar.gz")
    make_wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, sdist]
    subprocess.run(make_wheel, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_what_it_should(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("py.typed", "_core.pyi", "known_deals/00-arxiv-2403.13855.txt"):
        assert f"bmn_search/{name}" in names
    assert any(name.startswith("bmn_search/_core.") and name.endswith(".so") for name in names)
    assert not any("tests" in name or name.endswith((".c", ".pyx")) for name in names)


def test_the_wheel_works_in_a_clean_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bin_folder = tmp_path / "venv" / "bin"
    subprocess.run([bin_folder / "pip", "install", "-q", "--no-compile", str(wheel)], check=True)
    done = subprocess.run(
        [bin_folder / "bmn", "verify"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert " 0 fail" in done.stdout
    code = "import bmn_search._core as core; print(core.__file__)"
    done = subprocess.run(
        [bin_folder / "python", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert str(tmp_path) in done.stdout


def test_without_a_compiler_the_build_says_so(wheel, tmp_path):
    """`make demo` and the build itself, from the sdist, with a PATH that has no compiler."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("make", "sh"):
        (tools / tool).symlink_to(shutil.which(tool))
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("bmn_search-*")

    def run(*command):
        environment = os.environ | {"PATH": str(tools), "CC": "no-such-cc"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=source)
        assert done.returncode != 0
        return [line.strip() for line in (done.stdout + done.stderr).splitlines()]

    complaint = "bmn_search needs a C compiler"
    made = run("make", "demo", f"PYTHON={sys.executable}")
    assert [line for line in made if line.startswith(complaint)]
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", ".")
    assert [line for line in built if line.startswith(complaint)], built
