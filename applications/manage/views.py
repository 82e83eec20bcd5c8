"""The operations of the management interface on applications. Each read is in the access log."""

from datetime import datetime
from typing import Any

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
from jobsite.api.cursors import CursorError, CursorExpiredError
from jobsite.api.problems import CursorExpired, InvalidParameters
from jobsite.types import JsonObject
from vacancies.manage.authentication import ManageView
from vacancies.models import IntegrationScope

KIND = "filter[kind]"
LOST = "The changes after this cursor are not known any more. Begin anew."
NO_SUCH_APPLICATION = "No application of this brand has this id, or it is not to be read."


class ApplicationsView(ManageView):
    """The applications of a brand, and then their changes."""

    methods = {"GET": (IntegrationScope.APPLICATIONS, ("since", KIND))}

    def get(self, request: Request, brand: str) -> Response:
        now, address = timezone.now(), absolute(request, request.path)
        kind = self.query.get(KIND, "")
        if KIND in self.query:
            parameters.choice(KIND, kind, Stage.Kind.values)
        cursor = reading.begin(self.brand.pk if self.brand else 0, now=now)
        if "since" in self.query:
            restart = with_query(address, **{KIND: kind})
            cursor = _decoded(self.query["since"], cursor.brand, restart=restart, now=now)
        page = reading.read(cursor, now=now)
        rows = items.readable(self.brand, page.pks, now=now)
        found = {
            row.pk: row
            for row in rows
            if not kind or ((stage := items.stage_of(row)) and stage.kind == kind)
        }
        existing = Application.objects.filter(pk__in=page.pks, vacancy__brand=self.brand)
        unknown = {*page.pks} - {*existing.values_list("pk", flat=True)} | page.gone
        is_walk = cursor.walked < reading.END
        data: list[JsonObject] = []
        for pk in page.pks:
            if pk in found and pk not in page.gone:
                data.append(items.item_of(request._request, brand, found[pk], now=now))
            elif not is_walk and (pk in unknown or kind):
                data.append({"id": pk, "gone": True})
        read = (each["id"] for each in data if "gone" not in each)
        log_access(self.integration.user, Access.VIEW, *read)
        following = reading.encode(page.cursor)
        link = with_query(address, since=following, **{KIND: kind})
        meta = {"cursor": following, "more": page.has_more}
        return Response({"data": data, "links": {"next": link}, "meta": meta})


def _decoded(text: str, brand: int, *, restart: str, now: datetime) -> reading.OutgoingCursor:
    """Return the cursor. Raises InvalidParameters and CursorExpired."""
    try:
        return reading.decode(text, brand, now=now)
    except CursorError:
        allowed = "a cursor of this list: meta.cursor, unchanged"
        raise InvalidParameters([parameters.invalid_value("since", text, allowed)]) from None
    except CursorExpiredError:
        raise CursorExpired(restart, LOST) from None


class ApplicationView(ManageView):
    methods = {"GET": (IntegrationScope.APPLICATIONS, ())}

    def get(self, request: Request, brand: str, pk: int) -> Response:
        now = timezone.now()
        item = items.item_of(request._request, brand, self.find(pk, now), now=now)
        log_access(self.integration.user, Access.VIEW, pk)
        return Response({"data": item})

    def find(self, pk: int, now: datetime) -> Any:
        """Return the application. Raises NotFound if it is not to be read."""
        pks = [pk] if pk <= reading.END else []  # others cannot be stored
        application = items.readable(self.brand, pks, now=now).first()
        if application is None:
            raise NotFound(NO_SUCH_APPLICATION)
        return application


class ApplicationFileView(ApplicationView):
    """A file, by its number in `files`. A withdrawn application has none."""

    def get(  # type: ignore[override]
        self, request: Request, brand: str, pk: int, number: int
    ) -> HttpResponse:
        application = self.find(pk, timezone.now())
        submission = getattr(application, "submission", None)
        files = list(submission.files.all()) if submission else []
        if application.withdrawn_at or not 1 <= number <= len(files):
            raise NotFound("The application has no such file.")
        file = files[number - 1]
        try:
            content = read_file(file)
        except FileNotFoundError as error:
            raise NotFound("The file cannot be read.") from error
        log_access(self.integration.user, Access.FILE, pk)
        headers = response_headers(media_type(file), name=download_name(file))
        return HttpResponse(content, headers=headers)
