"""Which code runs: its version and its commit.

The settings import this module: nothing here may read them.
"""

import tomllib
from pathlib import Path

UNKNOWN = "unknown"


def version_in(folder: Path) -> str:
    """Return the version of the project in `folder`, as in its pyproject.toml."""
    text = (folder / "pyproject.toml").read_text()
    version: str = tomllib.loads(text)["project"]["version"]
    return version


def commit_in(folder: Path) -> str:
    """Return the commit that is checked out in `folder`, or UNKNOWN if it is no clone.

    The files are read here, because git refuses a clone that belongs to another account.
    """
    git = folder / ".git"
    try:
        name = (git / "HEAD").read_text().strip()
        if not name.startswith("ref: "):
            return name
        branch = name.removeprefix("ref: ")
        if (git / branch).is_file():
            return (git / branch).read_text().strip()
        lines = [line.split() for line in (git / "packed-refs").read_text().splitlines()]
    except OSError:
        return UNKNOWN
    return next((line[0] for line in lines if line[1:] == [branch]), UNKNOWN)
