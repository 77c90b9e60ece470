"""Files to be written: refused before any work is done, and replaced whole or not at all."""

import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from bmn_search.errors import BmnError

__all__ = ["check_output", "replace_text"]


def check_output(path: str | Path, endings: Iterable[str]) -> None:
    """Refuse a file that could not be written.

    Parameters
    ----------
    endings
        What its name may end in, as in ``".png"``.

    Raises
    ------
    BmnError
        When the name ends otherwise, the file is a folder or protected, or its folder is.
    """
    path = Path(path)
    if path.suffix.lower() not in endings:
        raise BmnError(f"{path}: expected a file name that ends in {', '.join(endings)}")
    if path.is_dir():
        raise BmnError(f"{path}: cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise BmnError(f"{path}: cannot be written: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BmnError(f"{path}: cannot be written: no permission")


def replace_text(path: Path, text: str) -> None:
    """Write a file beside another and put it in its place: at no moment is there less than one.

    Raises
    ------
    OSError
        When it cannot be written; then the old one is as it was.
    """
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
