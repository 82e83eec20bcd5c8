"""The search of the admin: one box for vacancies, applications, people, forms, options and pages.

It shows the first hits of each kind among the rows of the kind's own list, so permissions and brand
scoping are those of the lists. Statements are limited, so that a search costs the same however many
rows there are.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, transaction
from django.db.models import Max, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from applications.models import Application
from applications.querysets import folded_address
from applications.search import with_names_like
from forms_structure.models import Form
from jobsite.admin.base import as_id
from jobsite.db.folding import fold, folded_sql
from jobsite.text.names import person
from jobsite.text.search import search_words
from jobsite.types import Context, StrOrPromise
from vacancies.models import Brand, FilterOption, Recruiter, Vacancy
from vacancies.search.rows import best_first, in_title, query_words
from vacancies.search.words import stems

FIRST, ON_PAGE = 5, 20  # hits of a kind, below the box and on the page
TEXT_MIN = 2
# Rows of a large kind that are compared one by one. PostgreSQL has trigram indexes for older ones.
NEWEST = 5_000 if connection.vendor == "postgresql" else 20_000
SIMILAR = 100_000  # applications whose names are compared, if no other has the words
INDEXED = 500  # rows from an index, of any brand
TIME_MAX = 1000  # milliseconds of a statement on PostgreSQL


@dataclass(frozen=True)
class Hit:
    title: str
    detail: str
    url: str


@dataclass
class Group:
    """The hits of one kind. `url` is its list with the same search, if there are more."""

    label: str
    hits: list[Hit] = field(default_factory=list)
    url: str = ""
    has_similar: bool = False  # nothing has the words: the hits have names like them
    is_incomplete: bool = False  # the database took too long


@dataclass(frozen=True)
class Kind:
    """A kind of rows: its label and model, the columns of its names, and what a hit shows. `exact`
    finds rows by a number, a reference or an address through an index. Of a large kind, only the
    newest rows are compared; older ones come from a trigram index on the SQL expression `indexed`,
    which has folded words. Users of every brand see all rows of a shared kind.
    """

    label: StrOrPromise
    model: type[Model]
    columns: tuple[str, ...]
    shown: Callable[..., tuple[str, str]]
    related: tuple[str, ...] = ()
    exact: Callable[[str], Q | None] = lambda text: None
    is_large: bool = False
    is_shared: bool = False
    indexed: str = ""

    @property
    def is_titled(self) -> bool:
        """Whether forms of words are found too, and words of one or two letters at the beginning
        only.
        """
        return self.model is Vacancy

    def words(self, text: str) -> list[str]:
        return (
            query_words(text).all if self.is_titled else [fold(word) for word in search_words(text)]
        )

    def matches(self, word: str) -> Q:
        if self.is_titled:
            return in_title(word, starts=True)
        return reduce(or_, (Q(**{f"{column}__folded_contains": word}) for column in self.columns))


def _id_or_reference(text: str) -> Q | None:
    pk = as_id(text)
    found = Q() if pk is None else Q(pk=pk)
    # The texts have an index, which references have not.
    if len(text) > 2 and re.search("[0-9]", text):
        found |= Q(reference__iexact=text, search_text__contains=fold(text))
    return found or None


def _reference_or_address(text: str) -> Q | None:
    found = Q(reference=text.upper())
    if "@" in text:
        found |= Q(email_folded=folded_address(text))
    return found | Q(pk=pk) if (pk := as_id(text)) is not None else found


def _account(user: User) -> tuple[str, str]:
    return person(user), user.email


KINDS = (
    Kind(
        gettext_lazy("Vacancies"),
        Vacancy,
        ("title_folded",),
        lambda vacancy: (vacancy.title, _joined(vacancy.state.label, vacancy.brand)),
        related=("brand",),
        exact=_id_or_reference,
        is_large=True,
        indexed="title_folded",
    ),
    Kind(
        gettext_lazy("Applications"),
        Application,
        ("given_name", "family_name", "email_folded", "user__first_name", "user__last_name"),
        lambda application: (application.display_name, application.vacancy.title),
        related=("user", "vacancy"),
        exact=_reference_or_address,
        is_large=True,
        indexed=folded_sql("(given_name || ' ' || family_name || ' ' || email_folded)"),
    ),
    Kind(
        gettext_lazy("Recruiters"),
        Recruiter,
        ("name", "function"),
        lambda row: (row.name, row.function),
        is_shared=True,
    ),
    Kind(
        gettext_lazy("Users"),
        User,
        ("username", "first_name", "last_name", "email"),
        _account,
        is_large=True,
    ),
    Kind(gettext_lazy("Application forms"), Form, ("name",), lambda form: (form.name, "")),
    Kind(
        gettext_lazy("Filter options"),
        FilterOption,
        ("label",),
        lambda option: (option.label, option.filter.label),
        related=("filter",),
        is_shared=True,
    ),
    Kind(gettext_lazy("Brands"), Brand, ("name",), lambda brand: (brand.name, "")),
)


def _joined(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part)


def search(request: HttpRequest) -> HttpResponse:
    """`q` -> a page with the hits of each kind. `part=results` returns the options of the box."""
    text = request.GET.get("q", "").replace("\0", "").strip()
    is_part = request.GET.get("part") == "results"
    groups: list[Group] = []
    refusal = ""
    if len(text) >= TEXT_MIN or as_id(text):
        try:
            groups = list(_groups(request, text, FIRST if is_part else ON_PAGE))
        except ValidationError as error:
            refusal = error.messages[0]
    count = sum(len(group.hits) for group in groups)
    found = ngettext("%(count)d result", "%(count)d results", count) % {"count": count}
    context: Context = {
        "text": text,
        "groups": groups,
        "count_text": refusal or found,
        "more_url": f"{reverse('admin:search')}?{urlencode({'q': text})}",
    }
    if is_part:
        return TemplateResponse(request, "admin/search_options.html", context)
    title = _("Search: %(text)s") % {"text": text} if text else _("Search")
    context |= {**admin.site.each_context(request), "title": title}
    return TemplateResponse(request, "admin/search.html", context)


def _groups(request: HttpRequest, text: str, count: int) -> Iterator[Group]:
    if not any(map(fold, search_words(text))):
        return
    for kind in KINDS:
        page = admin.site.get_model_admin(kind.model)
        if page.has_view_permission(request):
            group = _group(kind, page, request, text, count)
            if group.hits or group.is_incomplete:
                yield group
    pages = Group(_("Pages"), list(_pages(request, text))[:count])
    if pages.hits:
        yield pages


def _group(kind: Kind, page: ModelAdmin, request: HttpRequest, text: str, count: int) -> Group:
    words = [word for word in kind.words(text) if word]
    group = Group(str(kind.label))
    name = f"{kind.model._meta.app_label}_{kind.model._meta.model_name}"
    own = page.get_queryset(request)
    pks: dict[int, None] = {}  # in order
    for find in (_exact, _newest, _indexed, _similar):
        if len(pks) > count or (find is _similar and (pks or group.is_incomplete)):
            break
        try:
            with _limited_time():
                pks |= dict.fromkeys(find(kind, own, text, words)[: count + 1])
        except OperationalError:
            group.is_incomplete = True
    else:
        group.has_similar = bool(pks)
    first = list(pks)[:count]
    # Without the annotations of the list, such as counts.
    rows = kind.model._default_manager.all()
    found = (rows.select_related(*kind.related) if kind.related else rows).in_bulk(first)
    for pk in first:
        if pk in found:
            title, detail = kind.shown(found[pk])
            group.hits.append(Hit(title, detail, reverse(f"admin:{name}_change", args=[pk])))
    if kind.is_large or group.is_incomplete or len(pks) > count:
        group.url = f"{reverse(f'admin:{name}_changelist')}?{urlencode({'q': text})}"
    return group


def _exact(kind: Kind, own: QuerySet, text: str, words: list[str]) -> QuerySet | list[int]:
    """Return the ids of the rows that `text` names by a number, a reference or an address."""
    condition = kind.exact(text)
    return (
        own.filter(condition).order_by("-pk").values_list("pk", flat=True)
        if condition is not None
        else []
    )


def _newest(kind: Kind, own: QuerySet, text: str, words: list[str]) -> QuerySet | list[int]:
    """Return the ids of rows with all `words`, best first.
    Of a large kind, older rows are not read.
    """
    if not words:
        return []
    if not (kind.is_large or kind.is_shared):
        # Read first which rows the user may see. PostgreSQL would do it only for rows with the
        # words, and the time would tell whether rows of other brands have them.
        own = kind.model._default_manager.filter(pk__in=list(own.values_list("pk", flat=True)))
    rows = own.filter(reduce(and_, map(kind.matches, words)))
    if kind.is_large:
        last = kind.model._default_manager.aggregate(last=Max("pk"))["last"] or 0
        rows = rows.filter(pk__gt=last - NEWEST)
    return best_first(rows.order_by("-pk"), text, *kind.columns)


def _indexed(kind: Kind, own: QuerySet, text: str, words: list[str]) -> QuerySet | list[int]:
    """Return the ids of rows with all `words` from the trigram index:
    of a frequent word only some.
    """
    if not kind.indexed or connection.vendor != "postgresql" or min(map(len, words), default=0) < 2:
        return []
    conditions, parameters = [], []
    for word in words:
        patterns = (
            [f"%{_escaped(part)}%" for part in (stems(word) if kind.is_titled else [word])]
            if len(word) > 2
            else [f"{_escaped(word)}%", f"% {_escaped(word)}%"]
        )
        conditions.append(f"({' OR '.join([f'{kind.indexed} LIKE %s'] * len(patterns))})")
        parameters += patterns
    table = kind.model._meta.db_table
    with connection.cursor() as cursor:
        # Only the index: a scan that hopes to find enough rows early reads the whole table if there
        # are none.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        # Of a frequent word, only some.
        cursor.execute(f"SET LOCAL gin_fuzzy_search_limit = {4 * INDEXED}")
        cursor.execute(
            f"SELECT id FROM {table} WHERE {' AND '.join(conditions)} LIMIT {INDEXED}", parameters
        )
        pks = [pk for (pk,) in cursor.fetchall()]
        cursor.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = on")
    own = own.filter(pk__in=pks or [0])  # always a statement, for the reason given in _newest
    return best_first(own.order_by("-pk"), text, *kind.columns)


def _similar(kind: Kind, own: Any, text: str, words: list[str]) -> QuerySet | list[int]:
    """Return the ids of applications with names like `words`, the newest first."""
    if kind.model is not Application or not words:
        return []
    last = Application.objects.aggregate(last=Max("pk"))["last"] or 0
    found = with_names_like(own.filter(pk__gt=last - SIMILAR), words, {})
    return found.order_by("-pk").values_list("pk", flat=True)


def _escaped(word: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", word)


@contextmanager
def _limited_time() -> Iterator[None]:
    """Cancel a statement that takes long. Without JIT: compiling the statement that finds the forms
    of a user takes 20 times as long as running it.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {TIME_MAX}; SET LOCAL jit = off")
        yield


def _pages(request: HttpRequest, text: str) -> Iterator[Hit]:
    """Yield the menu items whose title contains `text`."""
    for group in admin.site.get_sidebar_list(request):  # type: ignore[attr-defined]
        for item in group["items"]:
            if fold(text) in fold(str(item["title"])):
                yield Hit(str(item["title"]), str(group["title"]), str(item["link"]))
