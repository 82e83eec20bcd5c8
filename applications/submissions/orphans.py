"""Files below PRIVATE_ROOT that no row names, and those whose rename was interrupted."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from applications.models import SubmissionFile
from jobsite import private_files

ORPHAN_AGE = timedelta(days=1)  # a submission stores its files before their rows
STEP = 500  # names


def complete_all(*, is_dry_run: bool) -> int:
    """Complete interrupted renames of files that have a row. Return their number."""
    temporary = [name for name, _path, is_temporary in private_files.stored() if is_temporary]
    named = _named(temporary)
    return sum(is_dry_run or private_files.complete(name) for name in temporary if name in named)


def orphans(*, at: datetime) -> Iterator[tuple[Path, int]]:
    """Yield (path, size in bytes) of each file without a row. A file with a temporary name is kept for
    ORPHAN_AGE, because its submission may be about to commit. Other files of the folder are not touched."""
    found = list(private_files.stored())  # before the rows are read, which may be deleted meanwhile
    named = _named([name for name, _path, _is_temporary in found])
    for name, path, is_temporary in found:
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue  # renamed or deleted meanwhile
        is_recent = is_temporary and stat.st_mtime > (at - ORPHAN_AGE).timestamp()
        if name not in named and not is_recent:
            yield path, stat.st_size


def _named(names: list[str]) -> set[str]:
    """Return those of `names` that have a row."""
    steps = (names[start : start + STEP] for start in range(0, len(names), STEP))
    rows = SubmissionFile.objects.values_list("path", flat=True)
    return {path for step in steps for path in rows.filter(path__in=step)}
