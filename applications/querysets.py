"""Querysets of applications: ownership, order and related rows."""

import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Count, F, FilteredRelation, Prefetch, Q
from django.utils import timezone
from django.utils.encoding import punycode

from applications import same_person
from jobsite.days import days_after, start_of_day
from vacancies.dates import end_of_day
from vacancies.querysets import EVERY_BRAND, teams_of

if TYPE_CHECKING:
    from vacancies.models import Vacancy

_QUOTING = re.compile(r'["\\]')  # of a local part: "mia+1"@example.org
_SAME_DOMAIN = {  # as the domain that the mailbox has too
    "googlemail.com": "gmail.com",
    "mac.com": "icloud.com",
    "me.com": "icloud.com",
    "pm.me": "proton.me",
    "protonmail.com": "proton.me",
}
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def folded_address(address: str) -> str:
    """Return an e-mail address for comparison: without the case of ASCII letters, and nothing else.

    Whoever reads a mailbox gets the applications of its address. Unicode's case folding and normal
    forms make addresses of different mailboxes equal (x@straße.example and x@strasse.example;
    CVE-2019-19844).
    """
    return address.strip().translate(_ASCII_LOWER)


def mailbox(address: str) -> str:
    """Return the mailbox that `address` probably reaches, to count emails and for nothing else: its
    owner is known only to its server. What follows a "+" is a tag of the reader's (RFC 5233), Gmail
    ignores dots, and some providers have several domains. Addresses of different mailboxes may be
    equal here, as those that Unicode folds alike.
    """
    local, _at, domain = unicodedata.normalize("NFKC", address.strip()).casefold().rpartition("@")
    local = _QUOTING.sub("", local)
    local = local.partition("+")[0] or local
    domain = domain.rstrip(".")
    with suppress(UnicodeError):  # a label is too long
        domain = punycode(domain)
    domain = _SAME_DOMAIN.get(domain, domain)
    return f"{local.replace('.', '') if domain == 'gmail.com' else local}@{domain}"


PHONE_DIGITS, PHONE_DIGITS_MIN = 9, 8
_NO_DIGIT = re.compile("[^0-9]")


def phone_digits(phone: str) -> str:
    """Return a telephone number for comparison: its last digits, which are the same with and
    without the code of the country. "" if there are too few.
    """
    digits = _NO_DIGIT.sub("", phone)
    return digits[-PHONE_DIGITS:] if len(digits) >= PHONE_DIGITS_MIN else ""


def accounts_with(address: str) -> list[User]:
    """Return the accounts that have `address` as their e-mail address or user name."""
    folded = folded_address(address)
    if not folded:
        return []
    named = models.Q(username__iexact=folded) | models.Q(email__iexact=folded)
    rows = get_user_model()._default_manager.filter(named).order_by("pk")
    # Databases differ in which other letters they consider equal.
    return [
        user for user in rows if folded in map(folded_address, (user.get_username(), user.email))
    ]


class ApplicationQuerySet(models.QuerySet):
    model: Any
    has_similar = False  # true for what a search finds if it has only names like it

    def visible_to(self, user: User) -> Self:
        """Those that `user` may see: of own brands, and as a member of teams. What they see of one
        says applications/access.py.
        """
        return of_visible(self, user, "")

    def of(self, user: User | AnonymousUser) -> Self:
        """The applications of `user`."""
        return self.filter(user=user)

    def from_address(self, address: str) -> Self:
        """The applications that were sent with the e-mail address `address`;
        none if it is empty.
        """
        folded = folded_address(address)
        return self.filter(email_folded=folded) if folded else self.none()

    def of_person(self, application: Any) -> Self:
        """`application`, and those of the same person: see applications/same_person.py."""
        return same_person.of_person(self, application)

    def to_brand(self, brand: int | None) -> Self:
        return self.filter(vacancy__brand=brand)

    def in_pool(self) -> Self:
        """Those whose applicants agreed to the talent pool, and did not leave it."""
        return self._with_consent("in_pool")

    def asked_for_pool(self) -> Self:
        """Those whose applicants can still answer whether they join or stay in the talent pool."""
        return self._with_consent("asked_for_pool")

    def _with_consent(self, state: str) -> Self:
        consents = self.model._meta.get_field("consent_requests").related_model._default_manager
        found = getattr(consents, state)(timezone.localdate())
        return self.filter(pk__in=found.order_by().values("application"))

    def has_person(self, columns: Mapping[str, Any]) -> bool:
        """Return whether one is of whom an application with the `columns` user_id, email_folded,
        given_name and family_name is of.
        """
        return self.filter(reduce(or_, same_person.linked(columns.get), Q(pk__in=[]))).exists()

    def unclaimed(self, address: str) -> Self:
        """The applications from `address` that belong to no account yet."""
        return self.from_address(address).filter(user=None)

    def with_stage(self) -> Self:
        """Annotate `stage_id` and `stage_name`, the current stage."""
        return self._with_latest_change(stage_id="stage", stage_name="stage__name")

    def hired(self) -> Self:
        """The applications whose current stage hires."""
        return self._with_latest_change(stage_kind="stage__kind").filter(stage_kind="hired")

    def waiting_too_long(self, *, at: datetime) -> Self:
        """The applications that are in their stage for longer than its `remind_days`."""
        changes = self.model._meta.get_field("changes").related_model._default_manager
        stages = changes.model._meta.get_field("stage").related_model._default_manager
        late = Q(pk__in=[])
        for stage, days in stages.filter(remind_days__gt=0).values_list("pk", "remind_days"):
            late |= Q(stage=stage, at__lt=days_after(at, -days))
        later = Q(at__gt=models.OuterRef("at")) | Q(
            at=models.OuterRef("at"), pk__gt=models.OuterRef("pk")
        )
        newer = changes.filter(later, application=models.OuterRef("application"))
        latest = changes.filter(late).exclude(models.Exists(newer))
        return self.filter(withdrawn_at=None, pk__in=latest.values("application"))

    def pay_not_told(self) -> Self:
        """Those to vacancies in PAY_TOLD_IN of which neither the vacancy nor an email that was sent
        states the pay.
        """
        emails = self.model._meta.get_field("messages").related_model._default_manager
        vacancies = self.model._meta.get_field("vacancy").related_model._default_manager
        told = emails.filter(application=models.OuterRef("pk"), has_pay=True, state="sent")
        where = self.filter(vacancy__in=vacancies.with_pay_to_tell().order_by().values("pk"))
        return where.exclude(models.Exists(told))

    def assigned_to(self, user: User) -> Self:
        return self.filter(owner=user)

    def assigned_to_nobody(self) -> Self:
        """Those without an owner, or whose owner's account was deactivated."""
        return self.filter(Q(owner=None) | Q(owner__is_active=False))

    def with_reason(self) -> Self:
        """Annotate `reason_id` and `reason_name`, the reason of the current stage."""
        return self._with_latest_change(reason_id="reason", reason_name="reason__name")

    def with_latest_change(self) -> Self:
        """Annotate `change_id`, the id of the latest stage change. Pages send it along, so that a
        change by somebody else in the meantime is noticed.
        """
        return self._with_latest_change(change_id="pk")

    def presented(self) -> Self:
        """The applications whose current stage is presented."""
        return self._with_latest_change(shown="stage__is_presented").filter(shown=True)

    def _with_latest_change(self, **columns: str) -> Self:
        """Annotate columns of the latest stage change, each with a name."""
        changes = self.model._meta.get_field("changes").related_model._default_manager
        latest = changes.filter(application=models.OuterRef("pk")).order_by("-at", "-pk")
        return self.annotate(
            **{name: models.Subquery(latest.values(column)[:1]) for name, column in columns.items()}
        )

    def undecided_since(self, at: datetime) -> Self:
        """The applications that are not withdrawn, and whose latest stage, or none, is from before
        `at` and decides nothing.
        """
        changes = self.model._meta.get_field("changes").related_model
        stages = changes._meta.get_field("stage").related_model._default_manager
        decided = stages.exclude(kind="open").values("pk")
        newer = changes._default_manager.filter(application=models.OuterRef("pk"), at__gte=at)
        rows = self.filter(created_at__lt=at, withdrawn_at=None).exclude(models.Exists(newer))
        latest = rows._with_latest_change(latest_stage="stage")
        return latest.filter(Q(latest_stage=None) | ~Q(latest_stage__in=decided))

    def with_email_facts(self) -> Self:
        """Select what an email to the applicant can mention."""
        return self.select_related("user", "vacancy__brand__mail", "vacancy__head_recruiter")

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-pk")

    def with_visible_status(self) -> Self:
        """Prefetch everything that an API item shows, in a fixed number of queries: stage changes,
        visible steps, and the vacancies with their related rows.
        """
        related = {
            name: self.model._meta.get_field(name).related_model for name in ("changes", "history")
        }
        vacancies = self.model._meta.get_field("vacancy").related_model._default_manager
        changes = related["changes"]._default_manager.select_related("stage__status")
        return self.prefetch_related(
            Prefetch("changes", changes.order_by("at", "pk"), to_attr="ordered_changes"),
            Prefetch(
                "history",
                related["history"]._default_manager.visible().in_order(),
                to_attr="visible_history",
            ),
            Prefetch("vacancy", vacancies.with_related()),
        )

    def counts_by_stage(self) -> dict[int | None, int]:
        """Return the number of applications by the id of their stage."""
        rows = self.with_stage().order_by().values_list("stage_id")
        return dict(rows.annotate(count=Count("pk")))


class HistoryQuerySet(models.QuerySet):
    def visible(self) -> Self:
        """Steps that the applicant may see (docs/decisions.md #51)."""
        return self.filter(is_visible=True, is_cancelled=False)

    def with_answer(self) -> Self:
        """Annotate what is stored of the invitation of the applicant:
        `address`, `reply`, `replied_at`.
        """
        own = FilteredRelation("participants", condition=Q(participants__user=None))
        columns = {name: F(f"invited__{name}") for name in ("address", "reply", "replied_at")}
        return self.annotate(invited=own).annotate(**columns)

    def today(self) -> Self:
        first = timezone.localdate()
        return self.filter(planned_at__gte=start_of_day(first), planned_at__lt=end_of_day(first))

    def in_order(self) -> Self:
        return self.order_by("planned_at", "created_at", "pk")


class InterviewQuerySet(HistoryQuerySet):
    def taking_place(self, *, since: datetime | None = None, until: datetime | None = None) -> Self:
        """Those that are not cancelled, have not ended at `since` and begin before `until`."""
        rows = self.filter(is_cancelled=False)
        rows = rows.filter(ends_at__gt=since) if since else rows
        return rows.filter(planned_at__lt=until) if until else rows

    def with_colleague(self, user: User) -> Self:
        """Those that the colleague `user` takes part in."""
        return self.filter(participants__user=user)

    def declined(self, *, at: datetime) -> Self:
        """The coming ones that somebody declined."""
        return self.taking_place(since=at).filter(participants__reply="declined").distinct()

    def ended(self, *, at: datetime) -> Self:
        """Those that ended at `at`, at most a week ago."""
        return self.taking_place().filter(ends_at__lte=at, ends_at__gt=at - timedelta(days=7))


def of_visible(rows: Any, user: User, application: str = "application") -> Any:
    """Return those of `rows` that belong to an application that `user` may see, reached through the
    lookup `application`; "" if they are applications.
    """
    if user.has_perm(EVERY_BRAND):
        return rows
    before = f"{application}__" if application else ""
    vacancies = apps.get_model("vacancies", "Vacancy").objects
    own = Q(**{f"{before}vacancy__in": vacancies.editable_by(user).values("pk")})
    if not (teams := teams_of(user)):
        return rows.filter(own)
    # Ids instead of a condition: databases then begin with the few vacancies of a team.
    if not user.brands.exists():
        own = Q(pk__in=[])
    full = [pk for pk, sees in teams.items() if sees == "all"]
    team = Q(**{f"{before}vacancy__in": full})
    if limited := list(teams.keys() - set(full)):
        model = apps.get_model("applications", "Application")
        shown = model.objects.filter(vacancy__in=limited).presented().order_by().values("pk")
        team |= Q(**{f"{before}pk__in": shown})
    return rows.filter(own | team)


def with_permission(name: str) -> models.QuerySet[User]:
    """The active staff with the permission `name`."""
    users = get_user_model()._default_manager
    # The staff first: the permissions of an account take a query of their own, and applicants have
    # accounts.
    staff = users.filter(is_staff=True).order_by().values("pk")
    backend = "django.contrib.auth.backends.ModelBackend"  # the one that knows permissions
    return users.with_perm(name, backend=backend).filter(pk__in=staff)


def readers_of(vacancy: "Vacancy", application: int | None = None) -> models.QuerySet[User]:
    """The active staff who may view the applications to `vacancy` (`own_brand` of vacancies, seen
    from the vacancy): members of the brand or of the team. Who sees presented applications only is
    among them if `application`, an id, is one.
    """
    presented = apps.get_model("applications", "Application").objects.filter(pk=application or 0)
    sees_it = models.Q(sees="all") | models.Exists(presented.presented())
    team = vacancy.team.filter(sees_it)
    known = models.Q(pk__in=with_permission(EVERY_BRAND).order_by().values("pk"))
    known |= models.Q(pk__in=team.order_by().values("user"))
    if vacancy.brand_id is not None:
        known |= models.Q(
            pk__in=get_user_model()._default_manager.filter(brands=vacancy.brand_id).values("pk")
        )
    return with_permission("applications.view_application").filter(known)
