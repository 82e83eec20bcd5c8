"""The operations of the management interface on applications. Each read is in the access log."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from applications.manage import items, reading
from applications.models import Access, Application, Stage
from applications.operations.access_log import log_access
from applications.submissions.files import download_name, media_type, read_file, response_headers
from jobsite.api import parameters
from jobsite.api.absolute_urls import absolute, with_query
from jobsite.api.problems import CursorExpired, InvalidParameters
from vacancies.manage.authentication import ManageView, brand_of, integration_of, read_query
from vacancies.models import Brand, IntegrationScope

KIND = "filter[kind]"
LOST = "The changes after this cursor are not known any more. Begin anew."
NO_SUCH_APPLICATION = "No application of this brand has this id, or it is not to be read."


class ApplicationsView(ManageView):
    """The applications of a brand, and then their changes."""

    scopes = {"GET": IntegrationScope.APPLICATIONS}

    def get(self, request: Request, brand: str) -> Response:
        of_brand, now = brand_of(request, brand), timezone.now()
        query = read_query(request, ("since", KIND))
        kind = query.get(KIND, "")
        if KIND in query:
            [kind] = parameters.choices(KIND, kind, Stage.Kind.values)[:1]
        address = absolute(request, request.path)
        cursor = reading.begin(of_brand.pk if of_brand else 0, now=now)
        if "since" in query:
            restart = with_query(address, **{KIND: kind})
            cursor = _decoded(query["since"], cursor.brand, restart=restart, now=now)
        page = reading.read(cursor, now=now)
        rows = items.with_parts(items.sent(of_brand, page.pks, now=now))
        found = {row.pk: row for row in rows if not kind or items.kind_of(row) == kind}
        existing = set(_of_brand(of_brand, page.pks).values_list("pk", flat=True))
        is_walk = cursor.walked < reading.END
        data: list[dict[str, Any]] = []
        for pk in page.pks:
            if pk in found and pk not in page.gone:
                data.append(items.item_of(request._request, brand, found[pk], now=now))
            elif not is_walk and (pk in page.gone or pk not in existing or kind):
                data.append({"id": pk, "gone": True})
        read = (each["id"] for each in data if "gone" not in each)
        log_access(integration_of(request).user, Access.VIEW, *read)
        following = reading.encode(page.cursor)
        link = with_query(address, since=following, **{KIND: kind})
        meta = {"cursor": following, "more": page.has_more}
        return Response({"data": data, "links": {"next": link}, "meta": meta})


def _decoded(text: str, brand: int, *, restart: str, now: datetime) -> reading.OutgoingCursor:
    """Return the cursor. Raises InvalidParameters and CursorExpired."""
    try:
        return reading.decode(text, brand, now=now)
    except reading.UnknownCursorError:
        allowed = "a cursor of this list: meta.cursor, unchanged"
        raise InvalidParameters([parameters.invalid_value("since", text, allowed)]) from None
    except reading.LostCursorError:
        raise CursorExpired(restart, LOST) from None


def _of_brand(brand: Brand | None, pks: Iterable[int]) -> QuerySet[Application]:
    return Application.objects.filter(pk__in=pks, vacancy__brand=brand)


class ApplicationView(ManageView):
    scopes = {"GET": IntegrationScope.APPLICATIONS}

    def get(self, request: Request, brand: str, pk: int) -> Response:
        of_brand = brand_of(request, brand)
        read_query(request, ())
        application, now = _find(of_brand, pk), timezone.now()
        log_access(integration_of(request).user, Access.VIEW, pk)
        return Response({"data": items.item_of(request._request, brand, application, now=now)})


class ApplicationFileView(ManageView):
    """A file, by its number in `files`. A withdrawn application has none."""

    scopes = {"GET": IntegrationScope.APPLICATIONS}

    def get(self, request: Request, brand: str, pk: int, number: int) -> HttpResponse:
        application = _find(brand_of(request, brand), pk)
        read_query(request, ())
        submission = getattr(application, "submission", None)
        files = list(submission.files.all()) if submission else []
        if application.withdrawn_at or not 1 <= number <= len(files):
            raise NotFound("The application has no such file.")
        file = files[number - 1]
        try:
            content = read_file(file)
        except FileNotFoundError as error:
            raise NotFound("The file cannot be read.") from error
        log_access(integration_of(request).user, Access.FILE, pk)
        headers = response_headers(media_type(file), name=download_name(file))
        return HttpResponse(content, headers=headers)


def _find(brand: Brand | None, pk: int) -> Any:
    """Return the application. Raises NotFound if it is not to be read."""
    is_storable = pk <= reading.END
    rows = (
        items.sent(brand, [pk], now=timezone.now()) if is_storable else Application.objects.none()
    )
    application = items.with_parts(rows).first()
    if application is None:
        raise NotFound(NO_SUCH_APPLICATION)
    return application
