"""What the public may see, said once: every list, count, feed, command and badge uses these verbs."""

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import reduce
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, F, Func, Min, OuterRef, Prefetch, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from vacancies.choices import Keyword
from vacancies.fields import fold, html_fields

EVERY_BRAND = "vacancies.work_for_every_brand"


def own_brand(user: Any) -> Q:
    """What holds of rows with a `brand` that `user` works for. Without multi-branding, those that have none
    are everybody's."""
    if user.has_perm(EVERY_BRAND):
        return Q()
    own = Q(brand__in=user.brands.all())
    return own if settings.MULTI_BRANDING else own | Q(brand=None)


class CodePointOrder(Func):
    """Text in the order of its code points, the same on every database whatever its locale."""

    template = "%(expressions)s"

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(compiler, connection, template='(%(expressions)s) COLLATE "C"')


class VacancyQuerySet(models.QuerySet):
    model: Any

    # --- who may see it (docs/decisions.md #1, #2) ---

    def published(self, *, at: datetime | None = None) -> Self:
        """Vacancies that are published at the moment `at` (now): from <= at < until."""
        at = at or timezone.now()
        return self.filter(
            Q(publish_until=None) | Q(publish_until__gt=at), status="published", publish_from__lte=at
        )

    def external(self) -> Self:
        """Those that the public may see: every audience but internal alone."""
        return self.filter(audience__in=("public", "both"))

    def internal(self) -> Self:
        """Those meant for internal use, the ones that are public too included."""
        return self.filter(audience__in=("internal", "both"))

    def hot(self) -> Self:
        return self.filter(is_hot=True)

    def in_state(self, state: str, *, at: datetime) -> Self:
        """Those whose `Vacancy.state_at(at)` is `state`."""
        meant = self.filter(status="published")
        match state:
            case "published":
                return self.published(at=at)
            case "scheduled":
                return meant.filter(publish_from__gt=at)
            case "expired":
                return meant.filter(publish_from__lte=at, publish_until__lte=at)
        return self.filter(status=state)

    def shown(self, *, at: datetime) -> Self:
        """Those that are public at the moment `at`, or will be without another decision."""
        return self.filter(Q(publish_until=None) | Q(publish_until__gt=at), status="published")

    def workable_by(self, user: Any) -> Self:
        """Those of the brands that `user` works for, or all (docs/decisions.md #56)."""
        return self.filter(own_brand(user))

    def without_texts(self) -> Self:
        """Rows to list or to decide about: their texts are long, and but for the description not needed."""
        texts = (name for name in html_fields(self.model) if name != "description")
        return self.defer("search_text", "title_folded", *texts)

    def that_are(self, *verbs: str) -> Self:
        """Those under each of the verbs `external`, `internal`, `hot`."""
        return reduce(lambda queryset, verb: getattr(queryset, verb)(), verbs, self)

    def next_change(self, *, after: datetime) -> datetime | None:
        """Return the next moment at which time alone makes one of these appear or vanish."""
        appear, vanish = Q(publish_from__gt=after), Q(publish_until__gt=after)
        moments = self.filter(appear | vanish, status="published").aggregate(
            appear=Min("publish_from", filter=appear), vanish=Min("publish_until", filter=vanish)
        )
        return min(filter(None, moments.values()), default=None)

    # --- which of them (docs/decisions.md #17 to #19) ---

    def with_option(self, keyword: str, values: Collection[str]) -> Self:
        """Vacancies that carry at least one of the option `values` of the filter `keyword`."""
        through = self.model.options.through
        return self.filter(
            Exists(
                through._default_manager.filter(
                    vacancy=OuterRef("pk"), option__filter__keyword=keyword, option__value__in=values
                )
            )
        )

    def search(self, text: str) -> Self:
        """Vacancies with every word of `text` in a title or text, whatever its case and accents."""
        words = dict.fromkeys(fold(text).split())
        return self.filter(*(Q(search_text__contains=word) for word in words))

    # --- in which order, with what (docs/decisions.md #15) ---

    def newest_first(self) -> Self:
        return self.order_by("-publish_from", "-pk")

    def sorted_by(self, key: str) -> Self:
        """Order by `published_at` or `title`, descending with a leading "-"; ids break ties."""
        descending = key.startswith("-")
        by: Any = F("publish_from") if key.endswith("published_at") else CodePointOrder("title_folded")
        tie = "pk" if key == "published_at" else "-pk"
        return self.order_by(by.desc() if descending else by.asc(), tie)

    def with_related(self, fields: Collection[str] | None = None) -> Self:
        """Everything an item of the interface shows, or its `fields` only, in a fixed number of queries:
        the vacancies with brand and head, their options, their recruiters, their attachments."""
        shown = set(fields) if fields is not None else None
        unseen = set(html_fields(self.model)) - shown if shown is not None else set()
        queryset = self.defer("search_text", "title_folded", *unseen)
        for relation in ("brand", "head_recruiter"):
            if shown is None or relation in shown:
                queryset = queryset.select_related(relation)
        if shown is None or shown & set(Keyword.values):
            choices = self.model.options.through._default_manager.select_related("option__filter")
            queryset = queryset.prefetch_related(
                Prefetch("choices", choices.order_by("position", "pk"), to_attr="ordered_choices")
            )
        if shown is None or "recruiters" in shown:
            links = self.model.recruiters.through._default_manager.select_related("recruiter")
            queryset = queryset.prefetch_related(
                Prefetch(
                    "recruiter_links", links.order_by("position", "pk"), to_attr="ordered_recruiter_links"
                )
            )
        if shown is None or "attachments" in shown:
            queryset = queryset.prefetch_related("attachments")
        return queryset

    def with_form(self) -> Self:
        """Each with `served_form_id`, the id of the form that its applicants get: its own, else its
        brand's, else the site's, else None (docs/decisions.md #36)."""
        forms = self.model._meta.get_field("form").related_model._default_manager
        own_or_inherited = Coalesce(
            "form_id", "brand__form_id", models.Subquery(forms.default().values("pk")[:1])
        )
        return self.annotate(served_form_id=own_or_inherited)


class FilterQuerySet(models.QuerySet):
    model: Any

    def switch_on_unused(self) -> int:
        """Offer those that nobody has touched yet, off and without options; return how many."""
        return self.filter(is_active=False, options=None).update(is_active=True)

    def active(self) -> Self:
        return self.filter(is_active=True).order_by("position", "pk")

    def with_counted_options(
        self, vacancies: VacancyQuerySet, narrowed: Mapping[Keyword, VacancyQuerySet]
    ) -> list[Any]:
        """Return these filters, each with `counted_options`: the options in use on `vacancies` with
        their `count`. `narrowed` gives other vacancies for some keywords. Filters and options that
        nothing uses are left out."""
        options = self.model._meta.get_field("options").related_model._default_manager
        filters: list[Any] = list(self)
        by_filter: dict[Any, list[Any]] = {}
        shared = [f.pk for f in filters if f.keyword not in narrowed]
        groups = [
            (shared, vacancies),
            *(([f.pk], narrowed[f.keyword]) for f in filters if f.keyword in narrowed),
        ]
        for pks, counted in groups:
            used = options.filter(filter__in=pks, choices__vacancy__in=counted.order_by().values("pk"))
            for option in used.annotate(count=Count("choices")).order_by("position", "label", "pk"):
                by_filter.setdefault(option.filter_id, []).append(option)
        for f in filters:
            f.counted_options = by_filter.get(f.pk, [])
        return [f for f in filters if f.counted_options]
