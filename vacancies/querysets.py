"""Querysets that define what the public may see.

Every list, count, feed, command and badge uses these methods. `VacancyList` defines which vacancies
each list of the interface contains; the read model's triggers and indexes use the same definition.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from enum import Enum
from typing import Any, Self

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Func, Min, Prefetch, Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, Coalesce
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from jobsite.languages import text_languages
from vacancies.choices import Keyword
from vacancies.fields import html_fields

EVERY_BRAND = "vacancies.work_for_every_brand"


class VacancyList(Enum):
    """A list of the interface: the audiences that it contains, and whether it contains hot
    vacancies only.
    """

    EXTERNAL = "external", ("public", "both"), False
    HOT = "hot", ("public", "both"), True
    INTERNAL = "internal", ("internal", "both"), False
    HOT_INTERNAL = "hot_internal", ("internal", "both"), True

    def __init__(self, column: str, audiences: tuple[str, ...], is_hot: bool) -> None:
        self.column, self.audiences, self.is_hot = column, audiences, is_hot

    @property
    def is_internal(self) -> bool:
        return "internal" in self.audiences

    @property
    def condition(self) -> Q:
        """The condition on a row that has the columns `audience` and `is_hot`."""
        audience = Q(audience__in=self.audiences)
        return audience & Q(is_hot=True) if self.is_hot else audience

    def sql(self, row: str = "") -> str:
        """The same condition in SQL; `row` is a prefix of the columns, such as "NEW."."""
        values = ", ".join(f"'{audience}'" for audience in self.audiences)
        return f"{row}audience IN ({values})" + (f" AND {row}is_hot" if self.is_hot else "")

    def contains(self, *, audience: str, is_hot: bool) -> bool:
        return audience in self.audiences and (is_hot or not self.is_hot)


def own_brand(user: User) -> Q:
    """The condition on `brand` for rows that `user` may edit."""
    return Q() if user.has_perm(EVERY_BRAND) else Q(brand__in=user.brands.all())


def in_state(state: str, *, at: datetime) -> Q:
    """The condition for vacancies whose `Vacancy.state_at(at)` is `state`."""
    match state:
        case "published":
            return Q(_not_expired(at), status="published", publish_from__lte=at)
        case "scheduled":
            return Q(status="published", publish_from__gt=at)
        case "expired":  # it begins before it ends: see the constraints
            return Q(status="published", publish_until__lte=at)
    return Q(status=state)


def _not_expired(at: datetime) -> Q:
    return Q(publish_until=None) | Q(publish_until__gt=at)


def teams_of(user: User) -> dict[int, str]:
    """Return what `user` sees of the applications (`TeamMember.sees`) to the vacancies whose teams
    they are in, by id. Read once for each instance, as permissions are.
    """
    if not hasattr(user, "_teams"):
        members = apps.get_model("vacancies", "TeamMember").objects.filter(user=user.pk)
        user._teams = dict(members.order_by().values_list("vacancy", "sees"))  # type: ignore[attr-defined]
    return user._teams  # type: ignore[attr-defined,no-any-return]


class CodePointOrder(Func):
    """Text ordered by code point: the same order on every database, whatever its locale."""

    template = "%(expressions)s"

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> object:
        return self.as_sql(compiler, connection, template='(%(expressions)s) COLLATE "C"')


def is_live(publish_from: datetime, publish_until: datetime | None, *, at: datetime) -> bool:
    """Whether a vacancy whose status is published is public at the time `at`: from <= at < until.

    `PublishedQuerySet.live` and LIVE are the same rule for a database.
    """
    return publish_from <= at and not (publish_until and publish_until <= at)


# Two parameters: the time.
LIVE = "publish_from <= %s AND (publish_until IS NULL OR publish_until > %s)"


EARTH_KM = 6371.0088  # mean radius


def in_box(latitude: float, longitude: float, km: float) -> Q:
    """The condition on `latitude` and `longitude` for points in a box that contains the circle of
    `km` around the point: what the index of places can answer.
    """
    rounding = 1e-5  # degrees, a metre: the columns have six decimals
    angle = km / EARTH_KM
    height = math.degrees(angle) + rounding
    south, north = latitude - height, latitude + height
    box = Q(latitude__range=(max(south, -90), min(north, 90)))
    if south <= -90 or north >= 90:
        return box  # the circle contains a pole: every longitude
    width = math.degrees(math.asin(math.sin(angle) / math.cos(math.radians(latitude)))) + rounding
    west, east = longitude - width, longitude + width
    if west < -180:  # the circle crosses the date line
        return box & (Q(longitude__gte=west + 360) | Q(longitude__lte=east))
    if east > 180:
        return box & (Q(longitude__gte=west) | Q(longitude__lte=east - 360))
    return box & Q(longitude__range=(west, east))


def pks_near(latitude: float, longitude: float, km: float) -> Iterator[int]:
    """Yield the ids of vacancies with a place at most `km` from the point, by the great-circle
    distance: an id for each such place. Computed here, because SQLite calls a Python function for
    each sine.
    """
    places = (
        apps.get_model("vacancies", "Place")
        .objects.filter(in_box(latitude, longitude, km))
        .order_by()
    )
    names = {f"{name}_float": Cast(name, models.FloatField()) for name in ("latitude", "longitude")}
    north, east, most = (
        math.radians(latitude),
        math.radians(longitude),
        math.sin(km / EARTH_KM / 2) ** 2,
    )
    radians, sin, cos, shrink = math.radians, math.sin, math.cos, math.cos(north)
    for pk, its_latitude, its_longitude in places.annotate(**names).values_list(
        "vacancy_id", *names
    ):
        its_north = radians(its_latitude)  # the haversine formula
        height, width = sin((its_north - north) / 2), sin((radians(its_longitude) - east) / 2)
        if height * height + shrink * cos(its_north) * width * width <= most:
            yield pk


class PublishedQuerySet(models.QuerySet):
    """Rows with the columns `audience`, `is_hot`, `publish_from` and `publish_until`: vacancies,
    and their rows in the read model. Defines the lists of the interface: what is live, membership,
    filters, order.
    """

    prefix = ""  # of the columns of the vacancy in lookups

    # --- Visibility (docs/decisions.md #1, #2) ---

    def live(self, *, at: datetime) -> Self:
        """Of the vacancies whose status is published, those that are public at the time `at`."""
        return self.not_expired(at=at).filter(publish_from__lte=at)

    def not_expired(self, *, at: datetime) -> Self:
        return self.filter(_not_expired(at))

    def in_list(self, vacancy_list: VacancyList) -> Self:
        return self.filter(vacancy_list.condition)

    # --- Order (docs/decisions.md #15) ---

    @staticmethod
    def newest(pk: str) -> tuple[Any, Any]:
        return F("publish_from").desc(), F(pk).desc()

    def newest_first(self) -> Self:
        return self.order_by(*self.newest("pk"))

    def sorted_by(self, key: str) -> Self:
        """Order by `published_at`, `title` or `closes_at`; a leading "-" means descending. Ids
        break ties. Those without an end are last in both orders by `closes_at`.
        """
        by: Any = {
            "published_at": F("publish_from"),
            "title": CodePointOrder(f"{self.prefix}title_folded"),
            "closes_at": F("publish_until"),
        }[key.removeprefix("-")]
        last = {"nulls_last": True} if key.endswith("closes_at") else {}
        tie = "pk" if key == "published_at" else "-pk"
        return self.order_by(by.desc(**last) if key.startswith("-") else by.asc(**last), tie)


class VacancyQuerySet(PublishedQuerySet):
    model: Any

    # --- Visibility (docs/decisions.md #1, #2) ---

    def published(self, *, at: datetime | None = None) -> Self:
        """Vacancies that are published at the time `at` (default: now)."""
        return self.filter(status="published").live(at=at or timezone.now())

    def external(self) -> Self:
        """Vacancies for the public: the audiences "public" and "both"."""
        return self.in_list(VacancyList.EXTERNAL)

    def internal(self) -> Self:
        """Vacancies for internal use: the audiences "internal" and "both"."""
        return self.in_list(VacancyList.INTERNAL)

    def with_pay_to_tell(self) -> Self:
        """Those whose applicants have to know the pay before an interview, and do not read it
        there.
        """
        has_pay = Q(pay_min__isnull=False) | Q(pay_max__isnull=False) | ~Q(pay_note="")
        found = self.filter(places__country__in=settings.PAY_TOLD_IN).exclude(
            has_pay, is_pay_public=True
        )
        return found.distinct()

    def hot(self) -> Self:
        return self.filter(is_hot=True)

    def in_state(self, state: str, *, at: datetime) -> Self:
        """Vacancies whose `Vacancy.state_at(at)` is `state`."""
        return self.filter(in_state(state, at=at))

    def closed(self, *, at: datetime) -> Self:
        """Vacancies that visitors could read before the time `at`, and cannot any more."""
        was_public = self.external().filter(publish_from__lte=at).exclude(status="draft")
        return was_public.exclude(status="published", publish_until=None).exclude(
            status="published", publish_until__gt=at
        )

    def visible(self, *, at: datetime) -> Self:
        """Vacancies that are public at the time `at`, or become public without a further action."""
        return self.filter(status="published").not_expired(at=at)

    def editable_by(self, user: User) -> Self:
        """Vacancies of the brands that `user` works for, or all of them (docs/decisions.md #56)."""
        return self.filter(own_brand(user))

    def reachable_by(self, user: User) -> Self:
        """`editable_by`, and the vacancies whose teams `user` is in: those with applications that
        `user` may see, if any.
        """
        if user.has_perm(EVERY_BRAND) or not (teams := teams_of(user)):
            return self.editable_by(user)
        return self.filter(own_brand(user) | Q(pk__in=list(teams)))

    def of_recruiters(self, pks: Collection[int], *others: models.QuerySet) -> Self:
        """Vacancies with a lead recruiter or other recruiter in `pks`, and those whose ids `others`
        have.

        A union instead of OR: databases answer it from the indexes."""
        links = apps.get_model("vacancies", "VacancyRecruiter").objects.filter(recruiter__in=pks)
        lead = self.model._default_manager.filter(head_recruiter__in=pks)
        return self.filter(
            pk__in=lead.values("pk").union(links.order_by().values("vacancy"), *others)
        )

    def assigned_to(self, user: User) -> Self:
        """Vacancies of the recruiters with the e-mail address of `user`, and those that `user`
        created.
        """
        recruiters = apps.get_model("vacancies", "Recruiter").objects.order_by()
        pks = (
            list(recruiters.filter(email__iexact=user.email).values_list("pk", flat=True))
            if user.email
            else []
        )
        versions = apps.get_model("vacancies", "Version").objects.order_by()
        created = versions.filter(author=user.pk, change__in=("created", "duplicated")).values(
            "vacancy"
        )
        return self.of_recruiters(pks, created)

    def without_texts(self) -> Self:
        """Rows without the long texts, except the description. For lists and bulk actions."""
        texts = (name for name in html_fields(self.model) if name != "description")
        return self.defer("search_text", "title_folded", *texts)

    def next_change(self, *, after: datetime) -> datetime | None:
        """Return the next time at which one of these vacancies goes live or expires."""
        published = self.filter(status="published")
        start = published.filter(publish_from__gt=after).aggregate(at=Min("publish_from"))["at"]
        end = published.filter(publish_until__gt=after).aggregate(at=Min("publish_until"))["at"]
        return min(filter(None, (start, end)), default=None)

    def with_ids(self, pks: Iterable[int]) -> Self:
        """Vacancies with these ids, of which there may be many thousands."""
        if connections[self.db].vendor == "postgresql":
            return self.filter(pk__in=RawSQL("SELECT unnest(%s::bigint[])", [list(pks)]))
        return self.filter(
            pk__in=RawSQL("SELECT value FROM json_each(%s)", [json.dumps(list(pks))])
        )

    # --- Related rows ---

    def with_related(self, fields: Collection[str] | None = None) -> Self:
        """Load what an item of the interface shows, or only its `fields`, in a fixed number of
        queries: the vacancies with brand and head recruiter, their options, recruiters, places and
        attachments.
        """
        shown = set(fields) if fields is not None else None
        unseen = set(html_fields(self.model)) - shown if shown is not None else set()
        queryset = self.defer("search_text", "title_folded", *unseen)
        for relation, keys in (("brand", {"brand", "url"}), ("head_recruiter", {"head_recruiter"})):
            if shown is None or shown & keys:
                queryset = queryset.select_related(relation)
        if shown is None or shown & {*Keyword.values, "employment_types"}:
            choices = self.model.options.through._default_manager.annotate(
                keyword=F("option__filter__keyword"),
                label=F("option__label"),
                employment_type=F("option__employment_type"),
                **({"translations": F("option__translations")} if text_languages() else {}),
            )
            queryset = queryset.prefetch_related(
                Prefetch("choices", choices.order_by("position", "pk"), to_attr="ordered_choices")
            )
        if shown is None or "recruiters" in shown:
            links = self.model.recruiters.through._default_manager.select_related("recruiter")
            queryset = queryset.prefetch_related(
                Prefetch(
                    "recruiter_links",
                    links.order_by("position", "pk"),
                    to_attr="ordered_recruiter_links",
                )
            )
        if shown is None or shown & {"places", "remote_countries"}:
            queryset = queryset.prefetch_related("places")
        if shown is None or "attachments" in shown:
            queryset = queryset.prefetch_related("attachments")
        translated = {"title", "title_internal", "slug", "url", "language", "languages"}
        if text_languages() and (shown is None or shown & {*translated, *html_fields(self.model)}):
            queryset = queryset.prefetch_related("translations")
        return queryset

    def with_form(self) -> Self:
        """Annotate `served_form_id`, the id of the form that applicants get: the vacancy's own,
        else its brand's, else the site's, else None (docs/decisions.md #36).
        """
        forms = self.model._meta.get_field("form").related_model._default_manager
        own_or_inherited = Coalesce(
            "form_id", "brand__form_id", models.Subquery(forms.default().values("pk")[:1])
        )
        return self.annotate(served_form_id=own_or_inherited)


class FilterQuerySet(models.QuerySet):
    model: Any

    def switch_on_unused(self) -> int:
        """Activate the filters that are inactive and have no options; return their number."""
        return self.filter(is_active=False, options=None).update(is_active=True)

    def active(self) -> Self:
        return self.filter(is_active=True).order_by("position", "pk")
