"""Downloads of applicants' files. They are sent by Django, because nginx cannot read them."""

import logging

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from applications.admin.brand_access import BrandScopedNoAddAdmin, log_access
from applications.models import Access, SubmissionFile
from applications.submissions.files import download_name, media_type, open_file
from jobsite.object_store.circuit_breaker import UnavailableError
from jobsite.types import UserRequest

logger = logging.getLogger(__name__)


class FilesAdmin(BrandScopedNoAddAdmin):
    """The files of an application, for those who may view it."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.file_view)
        return [path("files/<int:pk>/", view, name="applications_file"), *super().get_urls()]

    @method_decorator(require_safe)
    def file_view(self, request: UserRequest, pk: int) -> HttpResponseBase:
        """Send a file as an attachment, and log the access. A browser neither shows nor executes it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        visible = self.get_queryset(request).order_by().values("pk")
        rows = SubmissionFile.objects.select_related("submission")
        file = get_object_or_404(rows, pk=pk, submission__application__in=visible)
        try:
            with open_file(file) as opened:
                content = opened.read()  # at most 10 MB
        except UnavailableError:
            raise  # a 503
        except (OSError, ValueError) as error:
            logger.error("The file %s of an application cannot be read: %s", pk, error)
            raise Http404 from error
        log_access(request.user, Access.FILE, file.submission.application_id)
        headers = {
            "Cache-Control": "private, no-store",
            "Content-Disposition": str(content_disposition_header(True, download_name(file))),
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Content-Type": media_type(file),
            "X-Content-Type-Options": "nosniff",
        }
        return HttpResponse(content, headers=headers)
