"""The talent pool: applicants who agreed that their data are kept for other vacancies.

Only applicants say yes: on their page, or by a checkbox of a form. `leave_pool` of
applications/privacy is the way out. A consent is of one application, a no of all that the applicant
sent to the brand.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from applications.mail.consent import queue_pool_question
from applications.models import Application, ConsentRequest
from applications.operations.consents import ANSWERED_WITHIN
from applications.querysets import ApplicationQuerySet
from forms_structure.models import ConsentText
from jobsite.days import months_after
from jobsite.text.formats import format_date

POOL = ConsentRequest.Purpose.POOL
YES = ConsentRequest.Answer.YES
RENEWED_BEFORE = timedelta(days=30)  # the end of a consent
REMINDED_AFTER = timedelta(days=20)
PERIOD = timedelta(minutes=1)  # between two searches


@dataclass(frozen=True)
class PoolState:
    """What is known of an application and the pool: the last request, the one that can be answered,
    and until when a consent is valid.
    """

    last: ConsentRequest
    question: ConsentRequest | None
    until: date | None

    def __str__(self) -> str:
        """What colleagues read."""
        last = self.last
        values = {
            "asked": format_date(timezone.localdate(last.asked_at)),
            "answered": _day(last.answered_at),
            "left": _day(last.left_at),
            "until": format_date(self.until or last.until or last.due_on),
            "employer": last.employer,
        }
        return self._text() % values

    def _text(self) -> str:
        last = self.last
        if self.until and self.question:
            return _("In the talent pool until %(until)s, asked on %(asked)s to stay longer.")
        if self.until:
            return _("In the talent pool until %(until)s.")
        if self.question:
            return _("Asked for the talent pool on %(asked)s.")
        if last.left_at:
            return _("Left the talent pool on %(left)s.")
        if last.answer == YES and last.until and last.until >= timezone.localdate():
            return _("Agreed to the talent pool of %(employer)s only.")
        if last.answer == YES:
            return _("Was in the talent pool until %(until)s.")
        if last.answer:
            return _("Refused the talent pool on %(answered)s.")
        return _("Asked for the talent pool on %(asked)s, without an answer.")


def _day(at: datetime | None) -> str:
    return format_date(timezone.localdate(at)) if at else ""


def pool_states(applications: Collection[int], *, at: datetime) -> dict[int, PoolState]:
    """Return the state of those of `applications` whose applicants were asked, or agreed."""
    day = timezone.localdate(at)
    valid = ConsentRequest.objects.in_pool(day).filter(pk=OuterRef("pk")).order_by()
    rows: QuerySet[Any] = ConsentRequest.objects.of_pool().filter(application__in=applications)
    states: dict[int, PoolState] = {}
    for each in rows.annotate(is_valid=Exists(valid)).order_by("asked_at", "pk"):
        before = states.get(each.application_id)
        question = each if not each.answer and each.due_on >= day else None
        kept = before.until if before else None
        until = each.until if each.is_valid else kept
        states[each.application_id] = PoolState(each, question, until)
    return states


def of_applicant(application: Application) -> ApplicationQuerySet:
    """Return the applications from the account or the address of `application` to its brand."""
    own = Q(pk=application.pk)
    if application.user_id:
        own |= Q(user=application.user_id)
    if application.email_folded:
        own |= Q(email_folded=application.email_folded)
    return Application.objects.to_brand(application.vacancy.brand_id).filter(own)


# --- asking ---


def why_not_asked(applications: Iterable[Application], *, at: datetime) -> dict[int, str]:
    """Return why not, by id, for those of `applications` that are not asked. Of an applicant with
    several, the first one is asked. Requires `with_email_facts()`.
    """
    chosen = list(applications)
    known, waiting = _states_by_applicant(chosen, at), _waiting(chosen)
    reasons: dict[int, str] = {}
    asked: set[tuple[object, ...]] = set()
    for each in chosen:
        keys = _keys(each)
        states = [state for key in keys for state in known[key]]
        if each.pk in waiting:
            reasons[each.pk] = _("The applicant has not agreed yet that we store the application.")
        elif reason := _why_not(each, states):
            reasons[each.pk] = reason
        elif asked & keys:
            reasons[each.pk] = _("Asked about another of the selected applications.")
        else:
            asked |= keys
    return reasons


def _why_not(application: Application, states: list[PoolState]) -> str:
    """`states` are those of all applications of the applicant to the brand."""
    if not application.address:
        return _("Without an e-mail address")
    if application.withdrawn_at:
        return _("Withdrawn")
    for state in states:
        is_own = state.last.application_id == application.pk
        is_no = state.last.left_at or state.last.answer == ConsentRequest.Answer.NO
        if state.until or state.question or (is_own and is_no):
            return str(state)
    return ""


def _waiting(chosen: list[Application]) -> set[int]:
    """Return the ids of those whose applicants did not answer whether they may be stored."""
    rows = ConsentRequest.objects.filter(application__in=chosen, answer="").order_by()
    return set(rows.exclude(purpose=POOL).values_list("application", flat=True))


def _states_by_applicant(
    chosen: list[Application], at: datetime
) -> dict[tuple[object, ...], list[PoolState]]:
    """Return the states of the applications of those who sent `chosen`."""
    users = {each.user_id for each in chosen if each.user_id}
    addresses = {each.email_folded for each in chosen if each.email_folded}
    own = Q(pk__in=[each.pk for each in chosen]) | Q(user__in=users)
    asked = ConsentRequest.objects.of_pool().order_by().values("application")
    rows = Application.objects.filter(own | Q(email_folded__in=addresses), pk__in=asked)
    rows = rows.select_related("vacancy").only("user", "email_folded", "vacancy", "vacancy__brand")
    found = {each.pk: each for each in rows}
    known = defaultdict(list)
    for pk, state in pool_states(found, at=at).items():
        for key in _keys(found[pk]):
            known[key].append(state)
    return known


def _keys(application: Application) -> set[tuple[object, ...]]:
    """Return what the applications of one applicant to a brand share, as `of_applicant`."""
    brand = application.vacancy.brand_id
    keys: set[tuple[object, ...]] = {("application", application.pk)}
    if application.user_id:
        keys.add(("user", brand, application.user_id))
    if application.email_folded:
        keys.add(("address", brand, application.email_folded))
    return keys


def ask_for_pool(applications: Collection[int], *, base_url: str = "", at: datetime) -> list[int]:
    """Ask the applicants of `applications` to join the talent pool, but those whom `why_not_asked`
    leaves out. Return the ids of those that are asked.
    """
    with transaction.atomic():
        locked = Application.objects.filter(pk__in=applications).order_by("pk")
        list(locked.select_for_update(of=("self",)))
        rows = Application.objects.filter(pk__in=applications).with_email_facts().newest_first()
        left_out = why_not_asked(rows, at=at)
        asked = [each for each in rows if each.pk not in left_out]
        texts = PoolTexts()
        for each in asked:
            request = texts.request(each, at=at)
            queue_pool_question(request, base_url=base_url, at=at)
    return [each.pk for each in asked]


class PoolTexts:
    """The current consent texts, each read once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, int | None], ConsentText] = {}

    def question(
        self, application: Application, *, at: datetime, due_on: date | None = None
    ) -> ConsentRequest:
        """Return the question to the applicant, not saved."""
        brand = application.vacancy.brand
        key = (application.language, application.vacancy.brand_id)
        text = self._texts.get(key) or ConsentText.objects.current(*key, POOL)
        self._texts[key] = text
        return ConsentRequest(
            application=application,
            purpose=POOL,
            text=text.text,
            version=text.version,
            brand_number=text.brand_number,
            employer=brand.name if brand else "",
            asked_at=at,
            due_on=due_on or timezone.localdate(at) + ANSWERED_WITHIN,
        )

    def request(
        self, application: Application, *, at: datetime, due_on: date | None = None
    ) -> ConsentRequest:
        """Store the question. It replaces one that was not answered."""
        request = self.question(application, at=at, due_on=due_on)
        ConsentRequest.objects.of_pool().filter(application=application, answer="").delete()
        request.save()
        return request


# --- agreeing ---


def join_pool(*, application: Application, at: datetime) -> bool:
    """Record that the applicant agrees. Return False if there is no question that can be answered:
    a second answer changes nothing.
    """
    with transaction.atomic():
        Application.objects.select_for_update().filter(pk=application.pk).first()
        questions = ConsentRequest.objects.asked_for_pool(timezone.localdate(at))
        return bool(questions.filter(application=application).update(**_agreed(at)))


def join_pool_by_form(*, application: Application, text: str, at: datetime) -> ConsentRequest:
    """Record that the applicant ticked the checkbox with the label `text`."""
    request = PoolTexts().question(application, at=at)
    ours = {"text": text, "version": 0, "brand_number": None}  # the text of a form has no version
    for name, value in (ours | _agreed(at)).items():
        setattr(request, name, value)
    request.save()
    return request


def _agreed(at: datetime) -> dict[str, object]:
    until = months_after(timezone.localdate(at), settings.POOL_MONTHS)
    return {"answer": YES, "answered_at": at, "until": until}


# --- staying ---


class PoolRenewals:
    """Asks applicants before their consent ends whether they stay, and reminds those who do not
    answer, once. Implements `jobsite.dispatch.Job`.
    """

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._searched_at: datetime | None = None

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a consent that ends soon, or of a question without an answer."""
        if self._searched_at and self._searched_at <= at < self._searched_at + PERIOD:
            return None
        for rows in (_ending(at), _unanswered(at)):
            if pk := rows.order_by("pk").values_list("pk", flat=True).first():
                return pk, at
        self._searched_at = at
        return None

    def run(self, item: tuple[int, datetime]) -> str:
        pk, at = item
        with transaction.atomic():
            owner = Application.objects.filter(consent_requests=pk).with_email_facts()
            application = owner.select_for_update(of=("self",)).first()
            question = _question(application, pk, at) if application else None
            if question is None or not question.application.address:
                return "pool nothing"
            queue_pool_question(
                question,
                ends_on=question.due_on,
                is_reminder=question.pk == pk,
                base_url=self.base_url,
                at=at,
            )
        return "pool queued"


def _question(application: Application, pk: int, at: datetime) -> ConsentRequest | None:
    """Return a new question if `pk` is a consent that ends soon, or the one to remind of."""
    if ending := _ending(at).filter(pk=pk).first():
        return PoolTexts().request(application, at=at, due_on=ending.until)
    if waiting := _unanswered(at).filter(pk=pk).first():
        waiting.reminded_at, waiting.application = at, application
        waiting.save(update_fields=["reminded_at"])
    return waiting


def _ending(at: datetime) -> QuerySet[ConsentRequest]:
    """Return the consents that end soon, and about which nobody was asked."""
    day = timezone.localdate(at)
    newer = ConsentRequest.objects.of_pool().filter(
        application=OuterRef("application"), asked_at__gt=OuterRef("asked_at")
    )
    ending = ConsentRequest.objects.in_pool(day).filter(until__lte=day + RENEWED_BEFORE)
    return ending.exclude(Exists(newer))


def _unanswered(at: datetime) -> QuerySet[ConsentRequest]:
    """Return the questions for a renewal that wait for an answer, and whose applicants were not
    reminded.
    """
    day = timezone.localdate(at)
    asked = ConsentRequest.objects.asked_for_pool(day).filter(
        reminded_at=None, asked_at__lte=at - REMINDED_AFTER
    )
    return asked.filter(
        application__in=ConsentRequest.objects.in_pool(day).order_by().values("application")
    )
