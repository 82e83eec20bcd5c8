"""The operations of the management interface on vacancies."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api import caching, parameters
from jobsite.api.absolute_urls import absolute, with_query
from jobsite.api.problems import InvalidParameters, problem
from jobsite.types import JsonObject
from vacancies.choices import LANGUAGES, Keyword, State
from vacancies.manage import items
from vacancies.manage.authentication import (
    ManageView,
    brand_of,
    integration_of,
    read_query,
)
from vacancies.manage.document import document
from vacancies.manage.parsing import RefusedBodyError, read_body
from vacancies.manage.references import forms_of
from vacancies.manage.saving import PreconditionError, VacancyTarget, archive, put
from vacancies.models import FilterOption, IntegrationScope, Recruiter, Vacancy

PAGE = 100
NO_SUCH_VACANCY = "No vacancy of this brand has this reference."
NO_REFERENCE = "A reference has 1 to 100 of the characters A-Z a-z 0-9 . _ ~ -."


class VacanciesView(ManageView):
    """The vacancies of a brand in every state, by id. There is no `since`: `updated_at` loses what
    commits late.
    """

    scopes = {"GET": IntegrationScope.READ}

    def get(self, request: Request, brand: str) -> Response:
        of_brand = brand_of(request, brand)
        query = read_query(request, ("filter[state]", "after"))
        rows = Vacancy.objects.with_related().filter(brand=of_brand).order_by("pk")
        if state := query.get("filter[state]"):
            if state not in State.values:
                error = parameters.invalid_value("filter[state]", state, list(State.values))
                raise InvalidParameters([error])
            rows = rows.in_state(state, at=timezone.now())
        if "after" in query:
            rows = rows.filter(pk__gt=parameters.number("after", query["after"]))
        page = list(rows[: PAGE + 1])
        data = items.items_of(request, page[:PAGE])
        for item in data:
            item["address"] = items.address_of(request, of_brand, item["reference"] or "")
        following = None
        if len(page) > PAGE:
            kept = {"filter[state]": query.get("filter[state]", ""), "after": str(data[-1]["id"])}
            following = with_query(absolute(request, request.path), **kept)
        return Response({"data": data, "links": {"next": following}})


def _refusals(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Turn what a body or a condition is refused for into problem documents."""

    @wraps(view)
    def wrapped(self: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(self, request, *args, **kwargs)
        except RefusedBodyError as error:
            errors = [each.as_item() for each in error.faults]
            members: JsonObject = {"errors": errors} if errors else {}
            return problem(request._request, error.status, error.detail, **members)
        except PreconditionError as error:
            return problem(request._request, 412, str(error))

    return wrapped


class VacancyView(ManageView):
    """One vacancy, by the reference of the source."""

    scopes = {
        "GET": IntegrationScope.READ,
        "PUT": IntegrationScope.WRITE,
        "DELETE": IntegrationScope.WRITE,
    }

    def get(self, request: Request, brand: str, reference: str) -> HttpResponse:
        target = self._target(request, brand, reference)
        read_query(request, ())
        vacancy = items.find(target.brand, reference)
        if vacancy is None:
            raise NotFound(NO_SUCH_VACANCY)
        item = items.item_of(request._request, vacancy)
        return Response({"data": item}, headers={"ETag": items.etag_of(item)})

    @_refusals
    def put(self, request: Request, brand: str, reference: str) -> HttpResponse:
        target = self._target(request, brand, reference)
        dry_run = read_query(request, ("dry_run",)).get("dry_run", "false")
        [dry_run] = parameters.choices("dry_run", dry_run, ("true", "false"))
        is_dry_run = dry_run == "true"
        result = put(target, read_body(request._request), is_dry_run=is_dry_run)
        is_stored = not result.vacancy._state.adding
        item = items.item_of(request._request, result.vacancy) if is_stored else None
        answer = {
            "data": item,
            "changed": result.changed,
            "kept": result.kept,
            "warnings": [each.as_item() for each in result.warnings],
            "approval": result.approval,
        }
        status = 202 if result.approval else 201 if result.is_new else 200
        headers = {"ETag": items.etag_of(item)} if item else {}
        return Response(answer, status=200 if is_dry_run else status, headers=headers)

    @_refusals
    def delete(self, request: Request, brand: str, reference: str) -> HttpResponse:
        target = self._target(request, brand, reference)
        read_query(request, ())
        if not archive(target):
            raise NotFound(NO_SUCH_VACANCY)
        return Response(status=204)

    def _target(self, request: Request, brand: str, reference: str) -> VacancyTarget:
        of_brand = brand_of(request, brand)
        if not items.REFERENCE.fullmatch(reference):
            raise NotFound(NO_REFERENCE)
        integration, at = integration_of(request), timezone.now()
        return VacancyTarget(integration, of_brand, reference, request._request, at)


class ValuesView(ManageView):
    """What a body can refer to."""

    scopes = {"GET": IntegrationScope.READ}

    def get(self, request: Request, brand: str) -> Response:
        of_brand = brand_of(request, brand)
        read_query(request, ())
        options: dict[str, list[JsonObject]] = {keyword.value: [] for keyword in Keyword}
        for row in FilterOption.objects.filter(is_active=True).select_related("filter"):
            options[row.filter.keyword].append({"label": row.label, "value": row.value})
        forms = forms_of(integration_of(request), of_brand).order_by("pk")
        data = {
            "options": options,
            "recruiters": list(Recruiter.objects.order_by("pk").values("id", "name", "email")),
            "forms": list(forms.values("id", "name")),
            "languages": list(LANGUAGES),
        }
        return Response({"data": data})


@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document of the management interface."""
    response = JsonResponse(document(absolute(request, "/").removesuffix("/")))
    caching.private(response)
    return response
