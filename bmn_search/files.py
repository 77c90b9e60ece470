"""Files to be written: refused before any work is done, rather than after it."""

import os
from collections.abc import Iterable
from pathlib import Path

from bmn_search.errors import BmnError

__all__ = ["check_output"]


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
