"""What a user has to do today, on the start page.
Each part leads to the list of exactly these rows.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from applications.admin.list.filters import undecided_before
from applications.admin.page.origins import to_inform
from applications.models import (
    Application,
    HistoryEntry,
    Interview,
    Offer,
    Participant,
    Scorecard,
    Stage,
)
from applications.querysets import of_visible
from jobsite.admin.once import once_per_request
from jobsite.types import JsonObject, StrOrPromise, UserRequest
from vacancies.admin.dashboard import MAX_ROWS, address, approves
from vacancies.admin.list.filters import APPROVAL, ENDING, FILLED, attention
from vacancies.models import IntegrationToken, Vacancy, waiting_for_approval
from vacancies.querysets import EVERY_BRAND

MAX_COUNT = 99  # larger counts are shown as "99+"
MAX_READ = 1_000  # unread applications that are counted by vacancy


@dataclass(frozen=True)
class ToDoRow:
    text: str
    note: str
    url: str


@dataclass(frozen=True)
class Part:
    title: StrOrPromise
    icon: str
    count: str
    url: str
    rows: list[ToDoRow] = field(default_factory=list)


def unread(request: UserRequest) -> QuerySet:
    """Return the applications that no recruiter has opened yet, of those that the user may see."""
    return Application.objects.filter(read_at=None).visible_to(request.user)


@once_per_request
def unread_count(request: UserRequest) -> str:
    """Return the number of unread applications."""
    return capped(unread(request))


def capped(rows: QuerySet) -> str:
    """Return the number of `rows` as text: "99+" for more than MAX_COUNT, "" for none."""
    return as_text(rows.order_by()[: MAX_COUNT + 1].count())


def as_text(count: int) -> str:
    return f"{MAX_COUNT}+" if count > MAX_COUNT else str(count or "")


def to_do(request: UserRequest, numbers_of: list[JsonObject]) -> list[Part]:
    """Return what there is to do, the most urgent first. `numbers_of` has the numbers of vacancies,
    each with its address.
    """
    numbers = {each["url"]: each for each in numbers_of}
    parts = [*approvals(request, numbers.get(address(attention=APPROVAL))), *tokens(request)]
    if request.user.has_perm("applications.view_application"):
        parts += [
            *to_tell(request),
            *interviews(request),
            *interview_problems(request),
            *unread_by_vacancy(request),
            *too_long(request),
            *undecided(request),
        ]
    parts += filled_and_public(request)
    if closing := numbers.get(address(attention=ENDING)):
        parts.append(Part(closing["label"], "event_busy", closing["count"], closing["url"]))
    return parts


def approvals(request: UserRequest, number: JsonObject | None) -> Iterator[Part]:
    if number and approves(request):
        own = waiting_for_approval(Vacancy.objects.editable_by(request.user)).only("title")
        rows = [
            ToDoRow(str(each), "", reverse("admin:vacancies_vacancy_approval", args=[each.pk]))
            for each in own.order_by("-pk")[:MAX_ROWS]
        ]
        yield Part(
            _("Waiting for your approval"),
            "approval_delegation",
            number["count"],
            number["url"],
            rows,
        )


def filled_and_public(request: UserRequest) -> Iterator[Part]:
    """Vacancies of which no position is left."""
    if not request.user.has_perms(("vacancies.change_vacancy", "vacancies.view_requisition")):
        return
    rows = attention(Vacancy.objects.editable_by(request.user), FILLED).only("title")
    if found := list(rows.order_by("-pk")[: MAX_COUNT + 1]):
        yield Part(
            _("Filled, and still public"),
            "person_check",
            as_text(len(found)),
            address(attention=FILLED),
            [
                ToDoRow(
                    str(each),
                    _("Unpublish…"),
                    reverse("admin:vacancies_vacancy_unpublish", args=[each.pk]),
                )
                for each in found[:MAX_ROWS]
            ],
        )


def tokens(request: UserRequest) -> Iterator[Part]:
    """Tokens of integrations that expire soon, or that nobody uses."""
    if not request.user.has_perms(("vacancies.change_integration", EVERY_BRAND)):
        return
    now = timezone.now()
    found = IntegrationToken.to_renew(at=now).select_related("integration")
    if rows := list(found.order_by("expires_at")[: MAX_COUNT + 1]):
        yield Part(
            _("Tokens to renew or to revoke"),
            "key",
            as_text(len(rows)),
            reverse("admin:vacancies_integration_changelist"),
            [
                ToDoRow(
                    f"{each.integration}: {each}",
                    _("expires on %(at)s")
                    % {"at": date_format(timezone.localtime(each.expires_at))}
                    if each.expires_at < now + IntegrationToken.ENDS_SOON
                    else _("not used for 90 days"),
                    reverse("admin:vacancies_integration_change", args=[each.integration_id]),
                )
                for each in rows[:MAX_ROWS]
            ],
        )


def to_tell(request: UserRequest) -> Iterator[Part]:
    if rows := to_inform(request.user):
        yield Part(
            _("Tell these applicants what is stored, or it is deleted"),
            "privacy_tip",
            str(len(rows)),
            page_of(rows[0][0].pk),
            [
                ToDoRow(
                    f"{application.display_name}, {application.vacancy.title}",
                    _("deleted after %(at)s") % {"at": at},
                    page_of(application.pk),
                )
                for application, at in rows
            ],
        )


def interviews(request: UserRequest) -> Iterator[Part]:
    if not request.user.has_perm("applications.view_historyentry"):
        return
    today = HistoryEntry.objects.today().exclude(ends_at__lte=timezone.now())
    rows = of_visible(today, request.user)
    shown = rows.select_related("application__user").order_by("planned_at", "pk")
    if found := list(shown[: MAX_COUNT + 1]):
        yield Part(
            _("Interviews and tasks today"),
            "calendar_month",
            as_text(len(found)),
            f"{reverse('admin:applications_historyentry_changelist')}?when=today",
            [
                ToDoRow(
                    f"{each.name}: {each.application.display_name}",
                    date_format(timezone.localtime(each.planned_at), "H:i"),
                    page_of(each.application_id),
                )
                for each in found[:MAX_ROWS]
            ],
        )


def interview_problems(request: UserRequest) -> Iterator[Part]:
    """Interviews that somebody declined, scorecards that are missing, and offers of times of which
    the applicant has not chosen one.
    """
    if not request.user.has_perm("applications.view_historyentry"):
        return
    at = timezone.now()
    cards = Scorecard.objects.filter(
        entry=OuterRef("entry"), author=OuterRef("user"), sent_at__isnull=False
    )
    ended = Interview.objects.ended(at=at).order_by().values("pk")
    declined = Participant.objects.filter(
        reply=Participant.Reply.DECLINED, entry__in=Interview.objects.declined(at=at)
    )
    missing = Participant.objects.filter(~Exists(cards), entry__in=ended, user__isnull=False)
    for title, icon, rows in (
        (_("Interviews that were declined"), "event_busy", declined),
        (_("Scorecards that are missing"), "rate_review", missing),
    ):
        own = of_visible(rows, request.user, "entry__application").order_by("pk")
        found = own.select_related("entry__application__user", "user")[: MAX_COUNT + 1]
        yield from _with_names(
            title,
            icon,
            [
                ToDoRow(
                    f"{each.entry.application.display_name}: {each.entry.name}",
                    each.name if each.user_id else pgettext("of an interview", "Applicant"),
                    page_of(each.entry.application_id),
                )
                for each in found
            ],
        )
    offers = Offer.objects.filter(entry=None, set__closes_at__gt=at)
    own = of_visible(offers, request.user).order_by("pk")
    yield from _with_names(
        _("Have not chosen a time"),
        "schedule",
        [
            ToDoRow(
                each.application.display_name,
                _("until %(day)s") % {"day": date_format(each.set.last_day)},
                page_of(each.application_id),
            )
            for each in own.select_related("application__user", "set")[: MAX_COUNT + 1]
        ],
    )


def _with_names(title: str, icon: str, rows: list[ToDoRow]) -> Iterator[Part]:
    if rows:
        yield Part(title, icon, as_text(len(rows)), rows[0].url, rows[:MAX_ROWS])


def page_of(application: int) -> str:
    return reverse("admin:applications_application_change", args=[application])


def unread_by_vacancy(request: UserRequest) -> Iterator[Part]:
    """In the order of the index of unread applications, of which the first MAX_READ are counted."""
    count = unread_count(request)
    if not count:
        return
    newest = unread(request).order_by("-vacancy_id").values_list("vacancy_id", flat=True)[:MAX_READ]
    most = Counter(newest).most_common(MAX_ROWS)
    titles = Vacancy.objects.only("title").in_bulk([pk for pk, _number in most])
    yield Part(
        _("Applications to read"),
        "inbox",
        count,
        applications(read="no"),
        [
            ToDoRow(str(titles[pk]), str(number), applications(read="no", vacancy__id__exact=pk))
            for pk, number in most
            if pk in titles
        ],
    )


def too_long(request: UserRequest) -> Iterator[Part]:
    """Without stages that have a limit, nothing is counted."""
    if not Stage.objects.filter(remind_days__gt=0).exists():
        return
    rows = Application.objects.waiting_too_long(at=timezone.now())
    if count := capped(rows.visible_to(request.user)):
        yield Part(
            _("Too long in their stage"), "hourglass_bottom", count, applications(waiting="long")
        )


def undecided(request: UserRequest) -> Iterator[Part]:
    rows = undecided_before(Application.objects.visible_to(request.user))
    if count := capped(rows):
        yield Part(
            _("Without a decision for a week"),
            "hourglass_empty",
            count,
            applications(decision="none"),
        )


def applications(**filters: object) -> str:
    return f"{reverse('admin:applications_application_changelist')}?{urlencode(filters)}"
