"""Files of applications and their emails that no row names."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet

from applications.models import MessageFile, PrivateFile, SubmissionFile
from jobsite import private_files

ORPHAN_AGE = timedelta(days=1)  # a submission stores its files before their rows
STEP = 500  # names


def orphans(*, at: datetime) -> Iterator[private_files.Stored]:
    """Yield each file without a row that is older than ORPHAN_AGE: the submission of a younger one
    may be about to commit. Other files of the folder are not touched.
    """
    found = list(private_files.stored())  # before the rows are read, which may be deleted meanwhile
    named = _named([file.name for file in found])
    oldest = (at - ORPHAN_AGE).timestamp()
    yield from (file for file in found if file.name not in named and file.modified_at <= oldest)


def _named(names: list[str]) -> set[str]:
    """Return those of `names` that have a row."""
    steps = (names[start : start + STEP] for start in range(0, len(names), STEP))
    models = (SubmissionFile, MessageFile)
    return {path for step in steps for model in models for path in _of(model, step)}


def _of(model: type[PrivateFile], names: list[str]) -> QuerySet:
    return model._default_manager.filter(path__in=names).order_by().values_list("path", flat=True)
