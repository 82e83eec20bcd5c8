"""The publication of a vacancy that a source sends. The source decides the content, recruiters
decide the publication: what a person set after the integration did is kept.
"""

from datetime import datetime

from jobsite.types import JsonObject
from vacancies.choices import VacancyStatus
from vacancies.exchange.comparison import as_shown
from vacancies.history.versions import PUBLICATION, Content, as_json, values_of
from vacancies.manage.parsing import Fault
from vacancies.models import Approval, Change, Integration, IntegrationScope, Vacancy, Version
from vacancies.operations.approval_requests import authors_of, waiting_request

KEYS = {"status": "state", "publish_from": "from", "publish_until": "until"}  # of the body
NEEDS_SCOPE = f"Not changed: this needs the scope {IntegrationScope.PUBLISH}."
OF_A_PERSON = "Not changed: a recruiter set it."


def decide(
    vacancy: Vacancy, sent: JsonObject, integration: Integration, *, at: datetime
) -> tuple[Content, list[Fault]]:
    """Return the columns to write of the publication `sent` for `vacancy`, as stored or new, and a
    warning for each one that is kept. Closing always works.
    """
    wanted = as_json(_columns(vacancy, sent, at=at))
    stored = values_of(vacancy, PUBLICATION)
    kept, reason = {name for name in wanted if wanted[name] != stored[name]}, NEEDS_SCOPE
    if sent.get("state") == "closed":
        kept -= {"status"}
    if IntegrationScope.PUBLISH in integration.scopes:
        kept, reason = kept and kept & _of_people(vacancy), OF_A_PERSON
    if "status" in kept and "from" not in sent:
        wanted.pop("publish_from", None)  # it only follows from the status
        kept -= {"publish_from"}
    warnings = [
        Fault(f"/publication/{KEYS[name]}", reason, "kept") for name in PUBLICATION if name in kept
    ]
    return {name: value for name, value in wanted.items() if name not in kept}, warnings


def _columns(vacancy: Vacancy, sent: JsonObject, *, at: datetime) -> JsonObject:
    """Return the columns that `sent` asks for."""
    found: JsonObject = {}
    start = as_shown(sent.get("from"), vacancy.publish_from)
    if "until" in sent:
        found["publish_until"] = as_shown(sent["until"], vacancy.publish_until)
    is_public = vacancy.status == VacancyStatus.PUBLISHED
    if sent.get("state") == "public":
        found["status"], is_public = VacancyStatus.PUBLISHED.value, True
    elif "state" in sent and (is_public or vacancy._state.adding):
        found["status"] = VacancyStatus.UNPUBLISHED.value
    if start:
        found["publish_from"] = start
    elif is_public and (vacancy.publish_from is None or "from" in sent):
        # Without a start of its own: now, or when it was published.
        now = at.replace(microsecond=0)  # as the interface shows it
        found["publish_from"] = min(vacancy.publish_from or now, now)
    return found


def _of_people(vacancy: Vacancy) -> set[str]:
    """Return the columns of the publication that a person, not an integration, set last, or asks
    for in the request that waits for approval.
    """
    if vacancy._state.adding:
        return set()
    versions = Version.objects.filter(vacancy=vacancy.pk).exclude(change=Change.EXTERNAL)
    versions = versions.select_related("author__integration")
    waiting = waiting_request(vacancy)
    authors = authors_of(waiting) if waiting else {}
    found = {name for name in authors if not is_technical(authors[name])}
    for name in PUBLICATION:
        last = versions.filter(content__has_key=name).first()
        if last and not _is_of_integration(last, name):
            found.add(name)
    return found


def _is_of_integration(version: Version, name: str) -> bool:
    """Whether an integration set `name`, or asked for it in the request that was approved."""
    if is_technical(version.author):
        return True
    approved = Approval.objects.filter(
        vacancy=version.vacancy_id,
        outcome=Approval.Outcome.APPROVED,
        decided_at=version.created_at,
    ).first()
    if approved is None:
        return False
    authors = authors_of(approved)
    return is_technical(authors.get(name) or authors.get("status"))


def is_technical(user: object) -> bool:
    """Whether `user` is the technical user of an integration."""
    return hasattr(user, "integration")
