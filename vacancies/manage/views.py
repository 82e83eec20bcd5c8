"""The operations of the management interface on vacancies."""

import json
import re
from functools import lru_cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from jobsite.api import caching, parameters
from jobsite.api.absolute_urls import absolute, with_query
from jobsite.types import JsonObject
from vacancies.choices import LANGUAGES, Keyword, State
from vacancies.manage import items
from vacancies.manage.authentication import ManageView
from vacancies.manage.parsing import read_body
from vacancies.manage.references import forms_of
from vacancies.manage.saving import VacancyTarget, archive, put
from vacancies.models import FilterOption, IntegrationScope, Recruiter, Vacancy

PAGE = 100
REFERENCE = re.compile(r"[A-Za-z0-9._~-]{1,100}", re.ASCII)
STATE = "filter[state]"
NO_SUCH_VACANCY = "No vacancy of this brand has this reference."
NO_REFERENCE = "A reference has 1 to 100 of the characters A-Z a-z 0-9 . _ ~ -."


class VacanciesView(ManageView):
    """The vacancies of a brand in every state, by id. There is no `since`: `updated_at` loses what
    commits late.
    """

    methods = {"GET": (IntegrationScope.READ, (STATE, "after"))}

    def get(self, request: Request, brand: str) -> Response:
        rows = Vacancy.objects.with_related().filter(brand=self.brand).order_by("pk")
        if STATE in self.query:
            state = parameters.choice(STATE, self.query[STATE], State.values)
            rows = rows.in_state(state, at=timezone.now())
        if "after" in self.query:
            rows = rows.filter(pk__gt=parameters.number("after", self.query["after"]))
        page = list(rows[: PAGE + 1])
        data = items.items_of(request, page[:PAGE])
        for item in data:
            item["address"] = None  # if no address can have the reference
            if REFERENCE.fullmatch(item["reference"] or ""):
                path = reverse("manage:managed-vacancy", args=[brand, item["reference"]])
                item["address"] = absolute(request, path)
        following = None
        if len(page) > PAGE:
            query = self.query | {"after": str(data[-1]["id"])}
            following = with_query(absolute(request, request.path), **query)
        return Response({"data": data, "links": {"next": following}})


class VacancyView(ManageView):
    """One vacancy, by the reference of the source."""

    methods = {
        "GET": (IntegrationScope.READ, ()),
        "PUT": (IntegrationScope.WRITE, ("dry_run",)),
        "DELETE": (IntegrationScope.WRITE, ()),
    }

    def get(self, request: Request, brand: str, reference: str) -> HttpResponse:
        vacancy = self._target(request, reference).rows().first()
        if vacancy is None:
            raise NotFound(NO_SUCH_VACANCY)
        item = items.item_of(request._request, vacancy)
        return Response({"data": item}, headers={"ETag": items.etag_of(item)})

    def put(self, request: Request, brand: str, reference: str) -> HttpResponse:
        target, asked = self._target(request, reference), self.query.get("dry_run", "false")
        is_dry_run = parameters.choice("dry_run", asked, ("true", "false")) == "true"
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

    def delete(self, request: Request, brand: str, reference: str) -> HttpResponse:
        if not archive(self._target(request, reference)):
            raise NotFound(NO_SUCH_VACANCY)
        return Response(status=204)

    def _target(self, request: Request, reference: str) -> VacancyTarget:
        if not REFERENCE.fullmatch(reference):
            raise NotFound(NO_REFERENCE)
        at = timezone.now()
        return VacancyTarget(self.integration, self.brand, reference, request._request, at)


class ValuesView(ManageView):
    """What a body can refer to."""

    methods = {"GET": (IntegrationScope.READ, ())}

    def get(self, request: Request, brand: str) -> Response:
        options: dict[str, list[JsonObject]] = {keyword.value: [] for keyword in Keyword}
        for row in FilterOption.objects.filter(is_active=True).select_related("filter"):
            options[row.filter.keyword].append({"label": row.label, "value": row.value})
        forms = forms_of(self.integration, self.brand).order_by("pk")
        data = {
            "options": options,
            "recruiters": list(Recruiter.objects.order_by("pk").values("id", "name", "email")),
            "forms": list(forms.values("id", "name")),
            "languages": list(LANGUAGES),
        }
        return Response({"data": data})


@lru_cache(maxsize=4)
def document(address: str) -> JsonObject:
    """Return the OpenAPI document of a service at `address`. It is not part of the public one."""
    content = json.loads(Path(__file__).with_name("openapi.json").read_text())
    return content | {"servers": [{"url": address}]}


@csrf_exempt
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document of the management interface."""
    response = JsonResponse(document(absolute(request, "/").removesuffix("/")))
    caching.private(response)
    return response
