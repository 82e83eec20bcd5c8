"""Version v1 of the vacancy API (interface 2.2, 2.10, 4)."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Prefetch
from django.http import HttpResponse
from django.utils import translation
from drf_spectacular.utils import extend_schema_view
from pyroaring import BitMap64
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from forms_structure.api import schema as forms_schema
from forms_structure.api import v1 as forms_v1
from forms_structure.exchange import digest
from forms_structure.models import Form
from forms_structure.schema import submission_schema
from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute
from jobsite.api.openapi import (
    OPTIONAL_CREDENTIALS,
    PAGING,
    Operation,
    SuccessResponse,
    documented,
    example,
)
from jobsite.api.pagination import Unpaged
from jobsite.api.permissions import InternalAccess, is_insider, is_protected
from jobsite.api.serializers import AddressField, ItemSerializer, PageField
from jobsite.api.viewsets import ReadOnlyViewSet
from jobsite.db.folding import fold
from jobsite.languages import site_language
from jobsite.serving.rendered_items import UnknownPlaceholderError, dumps, strip_markers
from jobsite.serving.revision import RevisionState, fetch, snapshot
from jobsite.types import JsonObject
from vacancies.access.previews import opened_by
from vacancies.api import process_cache, schema
from vacancies.api.lists import (
    ROW,
    ListViewSet,
    Rendered,
    fill,
    has_read_model,
    json_response,
    read_items,
)
from vacancies.api.rendered_items import store, stored_version
from vacancies.api.serializers import (
    AttachmentSerializer,
    BrandSerializer,
    ClosingDateField,
    LabelField,
    LabelsField,
    LabelsOrNullField,
    PaySerializer,
    PlaceSerializer,
    RecruiterSerializer,
    VacancyItemSerializer,
)
from vacancies.choices import Fact, Keyword
from vacancies.filtersets import (
    OPTION_NAMES,
    FacetFilterSet,
    VacancyFilterSet,
    fact_bitmaps,
    filter_name,
)
from vacancies.models import Audience, Brand, Filter, FilterOption, State, Vacancy
from vacancies.querysets import VacancyList, VacancyQuerySet, is_live
from vacancies.search.index import Index

ID = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
NO_SUCH_VACANCY = "No published vacancy has this id."
NO_SUCH_PREVIEW = "This preview link is invalid or has expired."
_SINGLE = (
    f"SELECT {ROW}, audience, publish_from, publish_until FROM vacancies_listedvacancy AS listed "
    "WHERE vacancy_id = %s"
)


@documented("Vacancy", "A published vacancy.", schema.VACANCY)
class VacancySerializer(VacancyItemSerializer):
    """Interface 2.2; needs `Vacancy.objects.with_related()`."""

    title_internal = serializers.CharField(source="shown_title_internal", read_only=True)
    brand = BrandSerializer(source="shown_brand", read_only=True, required=False)
    functiongroup = LabelField(Keyword.FUNCTIONGROUP)
    types = LabelsOrNullField(Keyword.TYPES)
    contract_types = LabelsOrNullField(Keyword.CONTRACT_TYPES)
    work_regimes = LabelsOrNullField(Keyword.WORK_REGIMES)
    regions = LabelsField(Keyword.REGIONS)
    jobcustom1_values = LabelsField(Keyword.JOBCUSTOM1)
    jobcustom2_values = LabelsField(Keyword.JOBCUSTOM2)
    jobcustom3_values = LabelsField(Keyword.JOBCUSTOM3)
    jobcustom4_values = LabelsField(Keyword.JOBCUSTOM4)
    image = AddressField("image", "image_url")
    attachments = AttachmentSerializer(many=True, read_only=True, required=False)
    head_recruiter = RecruiterSerializer(read_only=True)
    recruiters = RecruiterSerializer(source="shown_recruiters", many=True, read_only=True)
    language = serializers.CharField(source="shown_language", read_only=True)
    places = PlaceSerializer(source="sites", many=True, read_only=True)
    remote_countries = serializers.ListField(child=serializers.CharField(), read_only=True)
    employment_types = serializers.ListField(child=serializers.CharField(), read_only=True)
    pay = PaySerializer(source="*", read_only=True)
    published_at = serializers.DateTimeField(source="publish_from", read_only=True)
    closes_at = serializers.DateTimeField(source="publish_until", read_only=True)
    closing_date = ClosingDateField()
    url = PageField()

    class Meta:
        model = Vacancy
        fields = (
            "id",
            "title",
            "title_internal",
            "slug",
            "brand",
            "is_hot",
            "is_permanent",
            "functiongroup",
            "types",
            "contract_types",
            "work_regimes",
            "regions",
            "jobcustom1_values",
            "jobcustom2_values",
            "jobcustom3_values",
            "jobcustom4_values",
            "location",
            "description",
            "short_description",
            "profile",
            "offer",
            "contact",
            "company",
            "postcustom1",
            "image",
            "video",
            "attachments",
            "head_recruiter",
            "recruiters",
            "updated_at",
            "created_at",
            "apply_url",
            "reference",
            "language",
            "work_place",
            "places",
            "remote_countries",
            "employment_types",
            "pay",
            "published_at",
            "closes_at",
            "closing_date",
            "url",
        )
        omit_absent = ("brand", "attachments")


_LIST_TAKES = (
    *PAGING,
    schema.SORT,
    schema.fields_parameter(VacancySerializer.Meta.fields),
    *schema.FACETS,
)


@extend_schema_view(
    list=Operation(
        id="listVacancies",
        summary="List vacancies",
        description="Published public vacancies, newest first unless sorted otherwise.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of vacancies.",
            examples=schema.page_examples("/v1/vacancies", VacancySerializer.Meta.fields)
            | schema.sparse_examples("/v1/vacancies"),
            links=schema.OF_LISTS,
        ),
    ),
    hot=Operation(
        id="listHotVacancies",
        summary="List hot vacancies",
        description="Featured public vacancies.",
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of hot vacancies.",
            examples=schema.page_examples(
                "/v1/vacancies/hot", VacancySerializer.Meta.fields, is_hot=True
            ),
            links=schema.OF_LISTS,
        ),
    ),
    internal=Operation(
        id="listInternalVacancies",
        summary="List internal vacancies",
        description="Vacancies published for internal use, including those for both audiences, "
        "newest first "
        "unless sorted otherwise. " + schema.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of internal vacancies.",
            examples=schema.page_examples("/v1/vacancies/internal", VacancySerializer.Meta.fields),
            links=schema.OF_LISTS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
    hot_internal=Operation(
        id="listHotInternalVacancies",
        summary="List hot internal vacancies",
        description="Hot vacancies published for internal use. " + schema.INTERNAL,
        tag="Vacancies",
        takes=_LIST_TAKES,
        response=SuccessResponse(
            serializer=VacancySerializer(many=True),
            description="A page of hot internal vacancies.",
            examples=schema.page_examples(
                "/v1/vacancies/hot/internal", VacancySerializer.Meta.fields, is_hot=True
            ),
            links=schema.OF_LISTS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(401, 403),
    ),
)
class VacancyViewSet(ListViewSet):
    """Published vacancies, in version v1."""

    serializer_class = VacancySerializer
    item_version = "v1"
    filterset_class = VacancyFilterSet
    query_names = (*VacancyFilterSet.base_filters, "fields")
    item_keys = VacancySerializer.Meta.fields
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


def find_published(
    request: Request, pk: str, vacancies: VacancyQuerySet, *, at: datetime
) -> Vacancy:
    """Return the vacancy `pk` if it is published at `at` and open to the client of `request`.

    A hidden one and an unknown one raise the same NotFound, after the same queries.
    """
    if not ID.fullmatch(pk):
        raise NotFound(NO_SUCH_VACANCY)
    published = vacancies.published(at=at).filter(pk=pk)
    found = list(published.external() if is_protected() else published)
    if not found and is_protected() and is_insider(request):
        found = list(published.internal())
    if not found:
        raise NotFound(NO_SUCH_VACANCY)
    return found[0]


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


@extend_schema_view(
    retrieve=Operation(
        id="getVacancy",
        summary="Get one vacancy",
        description="One published vacancy, public or internal, with all its keys. Where "
        "internal vacancies "
        "are limited, they return 404 without permission.",
        tag="Vacancies",
        takes=(schema.ID, schema.PREVIEW),
        response=SuccessResponse(
            serializer=VacancySerializer,
            description="The vacancy.",
            examples={
                "A vacancy": {"data": example(schema.VACANCY, VacancySerializer.Meta.fields)}
            },
            links=schema.OF_VACANCIES,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
    form=Operation(
        id="getVacancyForm",
        summary="Get the application form of a vacancy",
        description="Sections, fields, options and conditional fields, for clients that may see "
        "the vacancy. "
        "The required consent, that of the brand or the site, is the last field of the last "
        "section. The "
        "header `Apply` is present if the vacancy accepts applications.",
        tag="Forms",
        takes=(schema.ID, schema.PREVIEW),
        response=SuccessResponse(
            serializer=forms_v1.SectionSerializer(many=True),
            description="The sections of the form.",
            examples={"A form": {"data": [forms_schema.EXAMPLE]}},
            headers=("Form-Version", "Content-Language", "Apply"),
            links=schema.OF_FORMS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
    form_schema=Operation(
        id="getVacancyFormSchema",
        summary="Get the JSON Schema of a submission of that form",
        description="A JSON Schema (2020-12) of a valid submission, with conditions as if/then, "
        "and the "
        "version of the form. A submission is an object that maps the name of each completed "
        "field to its "
        'value: text, the value of an option, a list of values for a checkbox-group, "1" for a '
        "ticked "
        "checkbox, the name of a file. Hidden fields are omitted.",
        tag="Forms",
        takes=(schema.ID, schema.PREVIEW),
        response=SuccessResponse(
            serializer=forms_v1.FormSchemaSerializer,
            description="The version of the form and the schema.",
            examples={"A schema": {"data": example(forms_schema.FORM_SCHEMA)}},
            headers=("Form-Version", "Content-Language"),
            links=schema.OF_FORMS,
        ),
        credentials=OPTIONAL_CREDENTIALS,
        errors=(404,),
    ),
)
class SingleVacancyViewSet(ReadOnlyViewSet):
    """One published vacancy, public or internal, by its id, and its application form."""

    serializer_class = VacancySerializer
    item_version = "v1"
    pagination_class = None
    lookup_value_regex = "[^/]+"
    query_names = ("preview",)
    audience = ""  # of the vacancy

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
                store(self.item_version, item.rendered)
        return json_response(b'{"data":' + item.data + b"}")

    def stored_item(self, pk: str, state: RevisionState | None) -> RenderedItem | None:
        """Return the stored item of a vacancy that everybody may see. Without a snapshot, whose
        revision is `state`, return None if it needs one.
        """
        rows = (
            fetch(_SINGLE, stored_version(self.item_version), int(pk))
            if ID.fullmatch(pk) and len(pk) < 19
            else []
        )
        for *row, audience, start, end in rows:
            is_hidden = audience == Audience.INTERNAL and is_protected()
            found = read_items(self.serializer_class, [tuple(row)], state)
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
            brand = self.vacancy.shown_brand_id

            def make() -> RenderedForm:
                form = self.vacancy.served_form
                sections, language = forms_v1.serve(form, brand)
                return RenderedForm(form, sections, digest(sections), language)

            if state is None:
                return make()
            return process_cache.process.shared(state.shared).form(
                self.vacancy.served_form_id, brand, make
            )

    @action(detail=True)
    def form(self, request: Request, pk: str) -> Response:
        served = self.cached_form(pk)
        headers = served.headers
        is_published = self.vacancy.state_at(self.now) == State.PUBLISHED  # not so with a preview
        if is_published and self.vacancy.accepts_applications(served.form):
            headers["Apply"] = absolute(request, request.path.removesuffix("form") + "applications")
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


@documented(
    "FilterOption", "An option of a filter, with the number of its vacancies.", schema.OPTION
)
class OptionSerializer(ItemSerializer):
    """An option of a filter, with the number of its vacancies."""

    count = serializers.IntegerField(read_only=True, min_value=1)

    class Meta:
        model = FilterOption
        fields = ("value", "label", "count")


@documented("Filter", "A filter in use and its options in use.", schema.FILTER)
class FilterSerializer(ItemSerializer):
    """Interface 2.10, docs/decisions.md #20."""

    options = OptionSerializer(many=True, read_only=True, source="counted_options")

    class Meta:
        model = Filter
        fields = ("id", "label", "keyword", "options")


def count_options(index: Index, scopes: Mapping[str, BitMap64]) -> list[Any]:
    """Return the active filters, each with the options that vacancies of its scope have."""
    filters: list[Any] = list(
        Filter.objects.active().prefetch_related(
            Prefetch("options", FilterOption.objects.order_by("position", "label", "pk"))
        )
    )
    index.load(f"o{option.pk}" for each in filters for option in each.options.all())  # one query
    for each in filters:
        options: list[Any] = list(each.options.all())
        for option in options:
            bitmap = index.union([f"o{option.pk}"])
            option.count = bitmap.intersection_cardinality(scopes[filter_name(each.keyword)])
        each.counted_options = [option for option in options if option.count]
    return [each for each in filters if each.counted_options]


def count_facts(index: Index, scopes: Mapping[str, BitMap64]) -> list[JsonObject]:
    """Return the filters by facts, with the options that vacancies of their scope have."""
    brands = (
        Brand.objects.exclude(slug="").values_list("slug", "name")
        if settings.MULTI_BRANDING
        else ()
    )
    brands_by_name = dict(sorted(brands, key=lambda pair: fold(pair[1])))
    with translation.override(site_language()):
        filters = []
        for fact in Fact:
            names = brands_by_name if fact is Fact.BRAND else fact.names()
            scope, found = scopes[filter_name(fact)], fact_bitmaps(fact, index, names)
            counts = {
                value: bitmap.intersection_cardinality(scope) for value, bitmap in found.items()
            }
            options = [
                {"value": value, "label": label, "count": counts[value]}
                for value, label in names.items()
                if counts[value]
            ]
            named = {"id": fact.filter_id, "label": str(fact.label), "keyword": fact.value}
            filters.append({**named, "counted_options": options})
    return [each for each in filters if each["counted_options"]]


@extend_schema_view(
    list=Operation(
        id="listFilters",
        summary="List filters",
        description="Filters and options in use, with the number of public vacancies of each "
        "option. "
        "With `filter[...]`, the numbers of a filter's options are those under all the other "
        "filters.",
        tag="Filters",
        takes=schema.FACETS,
        response=SuccessResponse(
            serializer=FilterSerializer(many=True),
            description="All filters in use.",
            examples={"Filters": {"data": [example(schema.FILTER)]}},
        ),
    )
)
class FilterViewSet(ReadOnlyViewSet):
    """Active filters, with the number of public vacancies of each option."""

    serializer_class = FilterSerializer
    pagination_class = Unpaged
    query_names = tuple(FacetFilterSet.base_filters)
    item_keys = VacancySerializer.Meta.fields
    list_names = OPTION_NAMES

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        with snapshot() as state:
            self.until = Vacancy.objects.next_change(after=self.now)
            self.revision = state.number if state else None
            facets = FacetFilterSet(
                self.query, queryset=Vacancy.objects.none(), request=self.request
            )
            facets.check()
            index = process_cache.process.search.at(state)
            scopes = facets.scopes(index, VacancyList.EXTERNAL, at=self.now)
            self.filters = [*count_options(index, scopes), *count_facts(index, scopes)]
            return super().list(request)

    def get_queryset(self) -> Any:
        return self.filters
