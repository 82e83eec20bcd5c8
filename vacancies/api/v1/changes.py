"""The feed: what changed in the public and in the internal list (docs/api.md, keep a copy)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request

from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute
from jobsite.api.openapi import documented
from jobsite.api.parameters import invalid_value
from jobsite.api.permissions import InternalAccess
from jobsite.api.problems import CursorExpired, InvalidParameters, ParameterError
from jobsite.api.serializers import PlainItemSerializer
from jobsite.api.viewsets import LANGUAGE
from jobsite.serving.rendered_items import dumps
from jobsite.serving.revision import read_state, snapshot
from jobsite.types import JsonObject
from vacancies.api import process_cache
from vacancies.api.lists import ListViewSet, Rendered, has_read_model, json_response
from vacancies.api.rendered_items import store
from vacancies.api.v1 import change_operations
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.feed import cursor as cursors
from vacancies.feed.reading import has_been_listed, read
from vacancies.models import Brand
from vacancies.querysets import VacancyList

SINCE, SIZE, BRAND = "since", "page[size]", "filter[brand]"
REPEATED = (BRAND, "fields", LANGUAGE, SIZE)
DEFAULT_SIZE, SIZE_MAX = 100, 1_000
LOST = "The changes after this cursor are not known any more. Read the list anew."
Items = tuple[dict[int, bytes], Rendered]
ReadItems = Callable[[list[int]], Items | None]
FeedBody = tuple[bytes, Rendered]
NO_CURSOR = "a cursor of this feed: its meta.cursor, unchanged"


@contextmanager
def collected(errors: list[ParameterError]) -> Iterator[None]:
    """Add the errors of the block to `errors`."""
    try:
        yield
    except InvalidParameters as error:
        errors += error.errors


class FeedPagination(BasePagination):
    """`{"data": [...], "links": {"next": ...}, "meta": {"cursor": ..., "more": ...}}`."""

    names = (SIZE,)

    def get_paginated_response_schema(self, items: JsonObject) -> JsonObject:
        return {
            "type": "object",
            "description": "Changes of a list, in the order to apply them.",
            "required": ["data", "links", "meta"],
            "properties": {"data": items, **change_operations.ENVELOPE},
        }


@documented("VacancyChange", "A change of a list.", change_operations.CHANGE)
class ChangeSerializer(PlainItemSerializer):
    id = serializers.IntegerField()
    change = serializers.ChoiceField(["upsert", "remove"])
    vacancy = VacancySerializer(required=False)

    class Meta:
        omit_absent = ("vacancy",)


OPERATIONS = change_operations.operations(
    ChangeSerializer(many=True), VacancySerializer.Meta.fields
)


@extend_schema_view(list=OPERATIONS["external"])
class ChangeViewSet(ListViewSet):
    """The feed of the public list, in version v1."""

    serializer_class = VacancySerializer
    item_version = "v1"
    pagination_class = FeedPagination
    query_names = (SINCE, BRAND, "fields")
    list_names = frozenset({"fields"})
    has_texts = True
    item_keys = VacancySerializer.Meta.fields

    def list(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        page = self.current_page()
        if page is None:
            with snapshot() as state:
                page = self.page((state or read_state()).number, lambda pks: self.items(pks, state))
                self.revision = state.number if state else None
                self.until = self.next_turn(state)
        assert page
        body, rendered = page
        if rendered:
            store(self.version, rendered)
        return json_response(body)

    def current_page(self) -> FeedBody | None:
        """Return the page without a snapshot, which takes four statements. None if this process
        does not know the revision, if it changes meanwhile, and if an item has to be rendered.
        """
        totals = process_cache.process.totals_at(self.now, None) if has_read_model() else None
        if totals is None or totals.state != read_state():
            return None
        page = self.page(
            totals.state.number, lambda pks: self.stored_items(pks, totals.state, None)
        )
        if page:
            self.revision, self.until = totals.state.number, totals.until
        return page

    def page(self, number: int, read_items: ReadItems) -> FeedBody | None:
        """Return the page at the revision `number`, and the items to store. None if `read_items`
        returns none. Raises InvalidParameters and CursorExpired.
        """
        scope, size, cursor = self.read_parameters()
        try:
            result = read(cursor, scope, size, now=self.now, number=number)
        except cursors.CursorExpiredError:
            raise CursorExpired(self.address(), LOST) from None
        found = read_items([change.id for change in result.changes if change.is_visible])
        if found is None:
            return None
        items, rendered = found
        data = b",".join(
            b'{"id":%d,"change":"upsert","vacancy":%s}' % (change.id, items[change.id])
            if change.is_visible
            else b'{"id":%d,"change":"remove"}' % change.id
            for change in result.changes
        )
        following = cursors.encode(result.cursor, scope)
        envelope = {
            "links": {"next": self.address(following)},
            "meta": {"cursor": following, "more": result.has_more},
        }
        return b'{"data":[' + data + b"]," + dumps(envelope)[1:], rendered

    def read_parameters(self) -> tuple[cursors.FeedScope, int, cursors.Cursor | None]:
        """Return what the client reads, how much, and from where. Raises InvalidParameters with all
        errors, and CursorExpired.
        """
        errors: list[ParameterError] = []
        with collected(errors):
            if "fields" in self.query:
                self.only = parameters.choices("fields", self.query["fields"], self.item_keys)
        size = DEFAULT_SIZE
        with collected(errors):
            size = self.page_size()
        slug = self.query.get(BRAND, "")
        brand = Brand.of_slug(slug)
        scope = cursors.FeedScope(
            self.vacancy_list,
            brand.pk if brand else None,
            slug,
            tuple(self.only or ()),
            self.language,
        )
        cursor = None
        with collected(errors):
            cursor = self.cursor(scope)
        # Without a cursor of it, a brand is known from its vacancies: others may be confidential.
        if BRAND in self.query and not (brand and (cursor or has_been_listed(scope, at=self.now))):
            errors.insert(0, invalid_value(BRAND, slug, "the slug of one brand"))
        if errors:
            raise InvalidParameters(errors)
        return scope, size, cursor

    def page_size(self) -> int:
        text = self.query.get(SIZE, str(DEFAULT_SIZE))
        with suppress(InvalidParameters):
            if (size := parameters.number(SIZE, text)) <= SIZE_MAX:
                return size
        allowed = f"a whole number from 1 to {SIZE_MAX}"
        raise InvalidParameters([invalid_value(SIZE, text, allowed)])

    def cursor(self, scope: cursors.FeedScope) -> cursors.Cursor | None:
        if (since := self.query.get(SINCE)) is None:
            return None
        try:
            return cursors.decode(since, scope)
        except cursors.CursorExpiredError:
            raise CursorExpired(self.address(), LOST) from None
        except cursors.OtherFeedError:
            detail = f"{SINCE} is a cursor of another list, brand or selection of keys."
            error = ParameterError(SINCE, detail, since, NO_CURSOR)
            raise InvalidParameters([error]) from None
        except cursors.CursorError:
            raise InvalidParameters([invalid_value(SINCE, since, NO_CURSOR)]) from None

    def address(self, cursor: str = "") -> str:
        """The address of the changes after `cursor`, with the parameters of the request."""
        values: dict[str, str | int] = {SINCE: cursor} if cursor else {}
        values |= {name: self.query[name] for name in REPEATED if name in self.query}
        query = parameters.encode(values)
        return absolute(self.request, self.request.path) + (f"?{query}" if query else "")


@extend_schema_view(list=OPERATIONS["internal"])
class InternalChangeViewSet(ChangeViewSet):
    vacancy_list = VacancyList.INTERNAL
    permission_classes = [InternalAccess]
