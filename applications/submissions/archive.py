"""The files of applications as one ZIP file, which is made while it is sent."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZIP_STORED, ZipFile

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from applications.models import Application, SubmissionFile
from applications.submissions.files import clean_name, download_name, open_file

APPLICATIONS_MAX = 200
FILES_BYTES_MAX = 300 * 1024 * 1024
CHUNK = 64 * 1024

logger = logging.getLogger(__name__)


class NoArchiveError(Exception):
    """There are no files, or too many. The text is for the user."""


def files_of(pks: Sequence[int]) -> list[SubmissionFile]:
    """Return the files of the applications `pks`, with their applicants. Raise NoArchiveError."""
    if len(pks) > APPLICATIONS_MAX:
        raise NoArchiveError(
            _("Select at most %(count)d applications.") % {"count": APPLICATIONS_MAX}
        )
    rows = SubmissionFile.objects.filter(submission__application__in=pks)
    files = list(
        rows.select_related("submission__application__user").order_by(
            "submission__application", "pk"
        )
    )
    if not files:
        raise NoArchiveError(_("The selected applications have no files."))
    size = sum(file.size for file in files)
    if size > FILES_BYTES_MAX:
        text = _("The files have %(size)s, a ZIP file at most %(max)s: select fewer applications.")
        raise NoArchiveError(
            text % {"size": filesizeformat(size), "max": filesizeformat(FILES_BYTES_MAX)}
        )
    return files


def chunks(files: Iterable[SubmissionFile]) -> Iterator[bytes]:
    """Yield the ZIP file. Needs the memory of two files.

    MISSING.txt names files that cannot be read, for example because the applicant was erased
    meanwhile. Files are stored as they are: most are compressed. zipfile goes back to the header of
    an entry, so that size and checksum are there, and not behind the content, where some programs
    do not look.
    """
    window = _Window()
    missing = []
    with ZipFile(window, "w", ZIP_STORED) as packed:
        for path, file in _named(files):
            try:
                with open_file(file) as opened:
                    content = opened.read()  # at most 10 MB
            except (OSError, ValueError) as error:
                logger.error("The file %s of an application cannot be read: %s", file.pk, error)
                missing.append(path)
                continue
            packed.writestr(path, content)
            del content
            yield from window.taken()
        if missing:
            packed.writestr("MISSING.txt", "".join(f"{path}\r\n" for path in missing))
    yield from window.taken()


def _named(files: Iterable[SubmissionFile]) -> Iterator[tuple[str, SubmissionFile]]:
    """Yield each file with its path, such as "0412 Peeters An/CV.pdf". Equal names get a number."""
    used = set()
    for file in files:
        path = PurePosixPath(_folder(file.submission.application), download_name(file))
        number, stem = 1, path.stem
        while str(path).casefold() in used:  # Windows and macOS ignore case
            number += 1
            path = path.with_stem(f"{stem} ({number})")
        used.add(str(path).casefold())
        yield str(path), file


def _folder(application: Application) -> str:
    name = f"{application.family_name} {application.given_name}".strip() or application.display_name
    return clean_name(f"{application.pk:04d} {name}")[:100].rstrip(". ")


class _Window(BytesIO):
    """A file of which only what is not sent yet is kept."""

    start = 0

    def tell(self) -> int:
        return self.start + super().tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.start + super().seek(offset - self.start, whence)

    def taken(self) -> Iterator[bytes]:
        super().seek(0)
        while chunk := self.read(CHUNK):
            yield chunk
        self.start += super().tell()
        super().seek(0)
        self.truncate()
