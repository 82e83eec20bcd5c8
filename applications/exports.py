"""Applications as CSV and XLSX, with the answers as columns. The server stores nothing.

Applications of different forms share the column of a field that has the same name in both. A
heading that two fields have is followed by the name of the field.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.models import Application, FormSnapshot, Submission, SubmissionFile
from applications.models.stage import reason_label
from applications.querysets import ApplicationQuerySet
from applications.submissions.answers import answers
from forms_structure.structure import walk
from jobsite.spreadsheets import writing
from jobsite.spreadsheets.writing import Cell, local
from vacancies.models import Vacancy

BATCH = 500  # rows that are read at a time


@dataclass(frozen=True)
class ApplicationTable:
    """The applications `pks` in this order: headings in `language`, and rows of the same length."""

    pks: Sequence[int]
    language: str

    def batches(self) -> Iterator[list[list[Cell]]]:
        """Yield the headings, then the rows in batches. Applications that were erased in the
        meantime are left out. The language is active during a batch only: a streamed response
        outlives the request's.
        """
        with translation.override(self.language):
            snapshots = self._snapshots()
            fields = _fields(snapshots.values())
            yield [[*_headings(), *_labels(fields), _("Other values")]]
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            with translation.override(self.language):
                found = _rows().in_bulk(pks)
                files = _files(found.values())
                yield [
                    _row(found[pk], fields, snapshots, files.get(pk, ()))
                    for pk in pks
                    if pk in found
                ]

    def _snapshots(self) -> dict[int, FormSnapshot]:
        """Return the forms as they were, by id, the newest first: many applications have one."""
        snapshots: set[int] = set()
        for start in range(0, len(self.pks), BATCH):
            pks = self.pks[start : start + BATCH]
            used = FormSnapshot.objects.filter(submissions__application__in=pks).values_list(
                "pk", flat=True
            )
            snapshots.update(used.distinct())
        rows = FormSnapshot.objects.filter(pk__in=snapshots).order_by("-pk")
        found = {row.pk: row for row in rows}
        for row in found.values():
            row.sections = row.original or row.sections  # one column for all languages of a form
        return found


def _fields(snapshots: Iterable[FormSnapshot]) -> dict[str, str]:
    """Return the label of each field by name, in the order of the `snapshots`."""
    found: dict[str, str] = {}
    for snapshot in snapshots:
        for _path, field in walk(snapshot.sections):
            label = field["label"]
            found.setdefault(field["name"], label["label"] if isinstance(label, dict) else label)
    return found


def _files(applications: Iterable[Application]) -> dict[int, list[SubmissionFile]]:
    """Return the files of the `applications` by the id of the application."""
    found: dict[int, list[SubmissionFile]] = {}
    pks = [each.pk for each in applications]
    rows = SubmissionFile.objects.filter(submission__application__in=pks)
    for pk, field, name in rows.values_list("submission__application", "field", "original_name"):
        found.setdefault(pk, []).append(SubmissionFile(field=field, original_name=name))
    return found


def _row(
    application: Application,
    fields: dict[str, str],
    snapshots: dict[int, FormSnapshot],
    files: Iterable[SubmissionFile],
) -> list[Cell]:
    given: dict[str, str] = {}
    submission = getattr(application, "submission", None)
    if submission:
        submission.snapshot = snapshots[submission.snapshot_id]
        for section in answers(submission, files):
            for answer in section.answers:
                given[answer.name] = "; ".join(answer.values)
    own = [given.pop(name, "") for name in fields]
    others = "; ".join(f"{name}: {value}" for name, value in given.items())
    return [*_values(application, submission), *own, others]


def _headings() -> list[str]:
    return [
        _("Number"),
        _("Reference"),
        _("Applied"),
        _("Vacancy"),
        _("Number of the vacancy"),
        _("Stage"),
        _("Name"),
        _("E-mail address"),
        _("Telephone number"),
        _("Language"),
        _("Rating"),
        _("New"),
        _("Applied again"),
        _("Withdrawn"),
        _("Source"),
        _("Reason"),
    ]


def _labels(fields: dict[str, str]) -> list[str]:
    times = Counter([*_headings(), *fields.values()])
    return [label if times[label] == 1 else f"{label} ({name})" for name, label in fields.items()]


def _values(application: Application, submission: Submission | None) -> list[Cell]:
    """Return the cells below `_headings()`."""
    return [
        application.pk,
        application.reference or "",
        local(application.created_at),
        application.vacancy.title,
        application.vacancy_id,
        application.stage_label,
        application.display_name,
        application.address,
        application.phone,
        application.language,
        application.rating or "",
        "" if application.read_at else _("yes"),
        _("yes") if application.is_repeated else "",
        local(application.withdrawn_at),
        submission.source if submission else "",
        reason_label(getattr(application, "reason_name", None) or ""),
    ]


def _rows() -> ApplicationQuerySet:
    titles = Prefetch("vacancy", Vacancy.objects.only("title"))  # not its texts
    rows = Application.objects.with_stage().with_reason().select_related("user", "submission")
    return rows.prefetch_related(titles)


def csv_response(pks: Sequence[int], *, at: datetime) -> StreamingHttpResponse:
    return writing.csv_response(_table(pks), "applications", at=at)


def xlsx_response(pks: Sequence[int], *, at: datetime) -> HttpResponse:
    return writing.xlsx_response(_table(pks), "applications", at=at)


def _table(pks: Sequence[int]) -> Iterator[list[list[Cell]]]:
    return ApplicationTable(pks, translation.get_language()).batches()
