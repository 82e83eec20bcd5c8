"""What is wrong or doubtful about a vacancy before somebody outside notices."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from vacancies.fields import FoldedField, HtmlField, sanitise
from vacancies.models import State, Vacancy

SOON = timedelta(days=7)


@dataclass
class Finding:
    """One remark; an error is something that the public already gets wrong."""

    vacancy_id: int
    title: str
    is_error: bool
    code: str
    text: str

    def __str__(self) -> str:
        level = "error" if self.is_error else "warning"
        return f"{level}: {self.vacancy_id} {self.title!r}: {self.text} [{self.code}]"


def findings(vacancy: Vacancy, *, at: datetime) -> Iterator[Finding]:
    """Yield what there is to say about `vacancy` at the moment `at`; needs `attachments` and `choices`."""

    def say(code: str, text: str, *, error: bool = False) -> Finding:
        return Finding(vacancy.pk, vacancy.title, error, code, text)

    state = vacancy.state_at(at)
    if unclean := unclean_fields(vacancy):
        yield say("unclean", f"stored otherwise than it would be saved now: {', '.join(unclean)}", error=True)
    if state not in (State.PUBLISHED, State.SCHEDULED):
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
    if not list(vacancy.choices.all()):
        yield say("no-options", "no filter finds it: it carries no option")
    for name in ("description", "profile", "offer", "company", "contact", "short_description", "postcustom1"):
        if "&amp;lt;" in getattr(vacancy, name) or "&amp;nbsp;" in getattr(vacancy, name):
            yield say("double-escaped", f"{name} shows markup as text: it was escaped twice")


def unclean_fields(vacancy: Vacancy) -> list[str]:
    """Return the fields that do not hold what saving would put there (rows written around the models)."""
    unclean = []
    for field in Vacancy._meta.fields:
        stored = getattr(vacancy, field.attname)
        if isinstance(field, HtmlField) and sanitise(stored) != stored:
            unclean.append(field.name)
        elif isinstance(field, FoldedField) and field.pre_save(vacancy, add=False) != stored:
            setattr(vacancy, field.attname, stored)
            unclean.append(field.name)
    return unclean
