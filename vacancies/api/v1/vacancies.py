"""The lists of vacancies and single vacancies with their forms, in version v1."""

from contextlib import suppress
from typing import Any, NamedTuple

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_view
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.models import Form
from forms_structure.schema import submission_schema
from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute, with_query
from jobsite.api.permissions import InternalAccess, is_protected
from jobsite.api.viewsets import ReadOnlyViewSet
from jobsite.serving.rendered_items import UnknownPlaceholderError, dumps, strip_markers
from jobsite.serving.revision import RevisionState, fetch, snapshot
from jobsite.types import JsonObject
from vacancies.access.previews import opened_by
from vacancies.api import process_cache
from vacancies.api.lists import (
    ROW,
    ListViewSet,
    Rendered,
    fill,
    has_read_model,
    json_response,
    read_items,
)
from vacancies.api.published import ID, find_published
from vacancies.api.rendered_items import in_language, store, stored_version
from vacancies.api.v1.operations import ITEMS, LISTS
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Audience, State
from vacancies.filtersets import (
    OPTION_NAMES,
    VacancyFilterSet,
)
from vacancies.models import Vacancy
from vacancies.querysets import VacancyList, VacancyQuerySet, is_live

NO_SUCH_PREVIEW = "This preview link is invalid or has expired."
_SINGLE = (
    f"SELECT {ROW}, audience, publish_from, publish_until FROM vacancies_listedvacancy AS listed "
    "WHERE vacancy_id = %s"
)


@extend_schema_view(**LISTS)
class VacancyViewSet(ListViewSet):
    """Published vacancies, in version v1."""

    serializer_class = VacancySerializer
    item_version = "v1"
    filterset_class = VacancyFilterSet
    query_names = (*VacancyFilterSet.base_filters, "fields")
    item_keys = VacancySerializer.Meta.fields
    has_texts = True
    list_names = OPTION_NAMES | {"fields"}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if "fields" in self.query:
            self.only = parameters.choices(
                "fields", self.query["fields"], VacancySerializer.Meta.fields
            )

    @action(detail=False, vacancy_list=VacancyList.HOT)
    def hot(self, request: Request) -> HttpResponse:
        return self.list(request)

    @action(detail=False, vacancy_list=VacancyList.INTERNAL, permission_classes=[InternalAccess])
    def internal(self, request: Request) -> HttpResponse:
        return self.list(request)

    @action(
        detail=False,
        url_path="hot/internal",
        vacancy_list=VacancyList.HOT_INTERNAL,
        permission_classes=[InternalAccess],
    )
    def hot_internal(self, request: Request) -> HttpResponse:
        return self.list(request)


class RenderedItem(NamedTuple):
    data: bytes
    rendered: Rendered


class RenderedForm(NamedTuple):
    form: Form | None
    sections: list[JsonObject]
    version: str
    language: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Form-Version": self.version, "Content-Language": self.language}


@extend_schema_view(**ITEMS)
class SingleVacancyViewSet(ReadOnlyViewSet):
    """One published vacancy, public or internal, by its id, and its application form."""

    serializer_class = VacancySerializer
    item_version = "v1"
    pagination_class = None
    lookup_value_regex = "[^/]+"
    query_names = ("preview",)
    has_texts = True
    audience = ""  # of the vacancy

    @property
    def version(self) -> str:
        return in_language(self.item_version, self.language)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        item = (
            self.stored_item(pk, None)
            if (is_stored := "preview" not in self.query and has_read_model())
            else None
        )
        if item is None:
            with snapshot() as state:
                item = self.stored_item(pk, state) if is_stored else None
                item = item or self.plain_item(pk, state)
            if item.rendered:
                store(self.version, item.rendered)
        return json_response(b'{"data":' + item.data + b"}")

    def stored_item(self, pk: str, state: RevisionState | None) -> RenderedItem | None:
        """Return the stored item of a vacancy that everybody may see. Without a snapshot, whose
        revision is `state`, return None if it needs one.
        """
        rows = (
            fetch(_SINGLE, stored_version(self.version), int(pk))
            if ID.fullmatch(pk) and len(pk) < 19
            else []
        )
        for *row, audience, start, end in rows:
            is_hidden = audience == Audience.INTERNAL and is_protected()
            found = read_items(self.serializer_class, [tuple(row)], state, self.language)
            if found is None or is_hidden or not is_live(start, end, at=self.now):
                return None
            [item], rendered = found
            number, shared = row[3:]
            with suppress(UnknownPlaceholderError):
                data = fill(strip_markers(item), absolute(self.request, "/")[:-1], shared, state)
                self.audience, self.until, self.revision = audience, end, number
                return RenderedItem(data, rendered)
        return None

    def plain_item(self, pk: str, state: RevisionState | None) -> RenderedItem:
        """Return the item of the vacancy or preview in the snapshot of `state`. Raises NotFound."""
        vacancy = self.find(Vacancy.objects.with_related(), pk, state)
        return RenderedItem(dumps(self.get_serializer().to_representation(vacancy)), {})

    def find(self, vacancies: VacancyQuerySet, pk: str, state: RevisionState | None) -> Vacancy:
        """Return the vacancy in the path. A hidden one and an unknown one raise the same NotFound,
        after the same queries.
        """
        if "preview" in self.query and ID.fullmatch(pk):
            if opened_by(self.query["preview"]) != int(pk) or not (
                found := list(vacancies.filter(pk=pk))
            ):
                raise NotFound(NO_SUCH_PREVIEW)
            vacancy = found[0]
        else:
            vacancy = find_published(self.request, pk, vacancies, at=self.now)
        self.audience, self.until = vacancy.audience, vacancy.publish_until
        self.revision = state.number if state else None
        return vacancy

    def get_serializer_context(self) -> JsonObject:
        return {**super().get_serializer_context(), "preview": self.query.get("preview")}

    def cached_form(self, pk: str) -> RenderedForm:
        """Return the form of the vacancy in the path."""
        shown = Vacancy.objects.with_form().only(
            "audience", "status", "publish_from", "publish_until", "apply_url", "brand_id"
        )
        with snapshot() as state:
            self.vacancy = self.find(shown, pk, state)
            brand = self.vacancy.brand_id

            def make() -> RenderedForm:
                form = self.vacancy.served_form
                sections, language = forms_v1.serve(form, brand, self.language)
                return RenderedForm(form, sections, digest(sections), language)

            if state is None:
                return make()
            key = "form", self.vacancy.served_form_id, brand, self.language
            return process_cache.process.shared(state.shared).get(key, make)

    @action(detail=True)
    def form(self, request: Request, pk: str) -> Response:
        served = self.cached_form(pk)
        headers = served.headers
        is_published = self.vacancy.state_at(self.now) == State.PUBLISHED  # not so with a preview
        if is_published and self.vacancy.accepts_applications(served.form):
            path = request.path.removesuffix("form") + "applications"
            headers["Apply"] = absolute(request, with_query(path, language=self.language))
        return Response({"data": served.sections}, headers=headers)

    @action(detail=True, url_path="form/schema")
    def form_schema(self, request: Request, pk: str) -> Response:
        served = self.cached_form(pk)
        rules = submission_schema(served.sections, address=absolute(request, request.path))
        return Response(
            {"data": {"version": served.version, "schema": rules}}, headers=served.headers
        )

    def is_private(self) -> bool:
        return "preview" in self.query or (is_protected() and self.audience == Audience.INTERNAL)

    def finalize_response(
        self, request: Request, response: object, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        response = super().finalize_response(request, response, *args, **kwargs)
        if "preview" in request.query_params:
            response["X-Robots-Tag"] = "noindex"
        return response
