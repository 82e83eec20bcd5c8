"""What is wrong or doubtful about vacancies and brands before somebody outside notices."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import models, transaction

from jobsite.html import sanitise
from vacancies.fields import FoldedField, HtmlField, html_fields
from vacancies.models import Brand, State, Vacancy

SOON = timedelta(days=7)


@dataclass
class Finding:
    """One remark; an error is something that the public already gets wrong, or will."""

    kind: str  # "vacancy" or "brand"
    id: int
    name: str
    is_error: bool
    code: str
    text: str

    def __str__(self) -> str:
        level = "error" if self.is_error else "warning"
        return f"{level}: {self.kind} {self.id} {self.name!r}: {self.text} [{self.code}]"


def about_brand(brand: Brand) -> Iterator[Finding]:
    """Yield what there is to say about `brand`."""
    if unclean := unclean_fields(brand):
        text = f"stored otherwise than it would be saved now: {', '.join(unclean)}"
        yield Finding("brand", brand.pk, brand.name, True, "unclean", text)


def about_vacancy(vacancy: Vacancy, *, at: datetime) -> Iterator[Finding]:
    """Yield what there is to say about `vacancy` at the moment `at`; needs its `choices`."""
    state = vacancy.state_at(at)
    is_shown = state in (State.PUBLISHED, State.SCHEDULED)

    def say(code: str, text: str, *, error: bool = False) -> Finding:
        return Finding("vacancy", vacancy.pk, vacancy.title, error, code, text)

    if unclean := unclean_fields(vacancy):
        text = f"stored otherwise than it would be saved now: {', '.join(unclean)}"
        yield say("unclean", text, error=is_shown)
    if not is_shown:
        if state is State.EXPIRED and vacancy.is_hot:
            yield say("hot-expired", "still flagged hot, but expired")
        return
    for name, text in vacancy.missing_to_publish().items():
        yield say(f"no-{name.replace('_', '-')}", text, error=True)
    if not vacancy.description:
        yield say("no-description", "goes out without a description", error=True)
    if vacancy.is_hot and vacancy.publish_until and vacancy.publish_until - at < SOON:
        yield say("hot-ending", "hot, but gone within a week")
    if vacancy.is_permanent and vacancy.publish_until:
        yield say("permanent-ends", "continuously open, but has a last day")
    if not (vacancy.image or vacancy.image_url):
        yield say("no-image", "has no image")
    if len(vacancy.title) > 3 and vacancy.title.isupper():
        yield say("capitals", "the title is in capitals")
    if vacancy.slug == f"({vacancy.pk})":
        yield say("no-slug", "no letter of the title can stand in its address")
    if not vacancy.choices.all():
        yield say("no-options", "no filter finds it: it carries no option")
    for name in html_fields(Vacancy):
        text = getattr(vacancy, name)
        if "&amp;lt;" in text or "&amp;nbsp;" in text:
            yield say("double-escaped", f"{name} shows markup as text: it was escaped twice")


def unclean_fields(instance: models.Model) -> list[str]:
    """Return the fields that do not hold what saving would put there (rows written around the models)."""
    unclean = []
    for field in instance._meta.fields:
        stored = getattr(instance, field.attname)
        if isinstance(field, HtmlField) and sanitise(stored) != stored:
            unclean.append(field.name)
        elif isinstance(field, FoldedField) and field.pre_save(instance, add=False) != stored:
            setattr(instance, field.attname, stored)
            unclean.append(field.name)
    return unclean


def clean(instance: models.Model, *, at: datetime) -> None:
    """Save the unclean fields of `instance` and nothing else, as the row is now."""
    with transaction.atomic():
        row = type(instance)._default_manager.select_for_update().get(pk=instance.pk)
        names = unclean_fields(row)
        if isinstance(row, Vacancy) and set(names) & set(html_fields(Vacancy)):
            row.updated_at = at  # the public sees another text
            names.append("updated_at")
        row.save(update_fields=names)
