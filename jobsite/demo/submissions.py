"""Submits application forms of the demo for people without an account."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import F

from applications.models import Application, Message, Stage, Submission
from applications.operations import Attempt, Move, move, submit_application
from applications.submissions.forms import ServedForm, submission_form
from forms_structure.choices import CHECKED, FieldRole, FieldType
from jobsite.demo.content import page, read
from jobsite.types import JsonObject
from vacancies.models import Vacancy
from vacancies.statistics.recording import day_of
from vacancies.statistics.visits import Key, folded, store

VISITED_DAYS = 14


@transaction.atomic
def load_submissions(*, at: datetime, base_url: str = "") -> int:
    """Submit the forms of content.json, unless there are submissions. Return their number. The
    receipts count as sent. Raise SubmissionError if PRIVATE_ROOT is not writable.
    """
    if Submission.objects.exists():
        return 0
    made, stages = 0, {stage.name: stage for stage in Stage.objects.all()}
    for row in read()["submissions"]:
        vacancy = Vacancy.objects.with_form().filter(title=row["vacancy"]).first()
        if vacancy is None:
            continue
        form = submission_form(vacancy)
        received = at + timedelta(**row["received"])
        values, files = _filled_in(form, row, received)
        application = submit_application(
            Attempt(
                vacancy=vacancy,
                values=values,
                files=files,
                form_version=form.version,
                source=row.get("source", ""),
                form=form,
            ),
            at=received,
            base_url=base_url,
        )
        rows = Application.objects.filter(pk=application.pk)
        if stage := stages.get(row.get("stage")):
            rows.update(rating=row.get("rating"), read_at=at)
            move(rows, Move(stage=stage, author=None, base_url=base_url, at=at))
        made += 1
    receipts = Message.objects.filter(state=Message.State.QUEUED)
    receipts.update(state=Message.State.SENT, attempts=1, finished_at=F("queued_at"))
    store(dict(_visits(at)))
    return made


def _visits(at: datetime) -> Iterator[tuple[Key, list[int]]]:
    """Yield the visits of the last days of the vacancies that have submissions, by source."""
    sources = Submission.objects.values_list("application__vacancy_id", "source").distinct()
    for vacancy, source in sources:
        for day in range(VISITED_DAYS):
            views = 3 + (vacancy + 7 * day + len(source)) % 11
            yield (vacancy, day_of(at - timedelta(days=day)), folded(source)), [views, views // 6]


def _filled_in(
    form: ServedForm, row: JsonObject, at: datetime
) -> tuple[JsonObject, dict[str, ContentFile]]:
    """Return the values and files of the form:
    what `row` has by role, and something for required fields.
    """
    values = {form.roles[role]: text for role, text in row["person"].items() if role in form.roles}
    files: dict[str, ContentFile] = {}
    if "cv" in row and (name := form.roles.get(FieldRole.CV)):
        files[name] = page(row["cv"], at)
        files[name].name = values[name] = "CV.pdf"
    for section in form.sections:
        for field in section["fields"]:
            if field["required"]:
                values.setdefault(field["name"], _value(field, row))
    return values, files


def _value(field: JsonObject, row: JsonObject) -> object:
    """Return a value of a required field, which shows no conditional field if there is such an
    option.
    """
    if field["type"] == FieldType.CHECKBOX:
        return CHECKED
    if "options" not in field:
        return row["text"]
    showing = {each["on_value"] for each in field.get("conditional", ())}
    options = [option["value"] for option in field["options"]]
    chosen = next(
        (value for value in options[len(options) // 2 :] + options if value not in showing),
        options[0],
    )
    return [chosen] if field["type"] == FieldType.CHECKBOX_GROUP else chosen
