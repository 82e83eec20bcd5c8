"""Applicants' files: downloads, what the page of an application shows, and the frame for PDFs.
Django sends them, because nginx cannot read them.
"""

from io import BytesIO

from csp.constants import HEADER
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe
from PIL import Image

from applications.models import Access, MessageFile, PrivateFile, SubmissionFile
from applications.operations.access_log import log_access
from applications.submissions import extract
from applications.submissions.files import download_name, media_type, read_file, response_headers
from jobsite.admin.pages import AdminPages
from jobsite.api.absolute_urls import absolute
from jobsite.types import UserRequest

PIXELS_MAX = 50_000_000  # of an image that browsers decode: 200 MB
IMAGES = {"jpg": "JPEG", "png": "PNG"}
# The latter is an error, see vacancies/uploads/validators.py.
TOO_LARGE = (Image.DecompressionBombError, Image.DecompressionBombWarning)
TEXT = "text/plain; charset=utf-8"
PDFJS = f"{settings.STATIC_URL}applications/vendor/pdfjs/"


class FilePages(AdminPages):
    """The files of an application, for those who may view it."""

    def urls(self) -> list[URLPattern]:
        views = {
            "files/<int:pk>/": (self.file_view, "file"),
            "email-files/<int:pk>/": (self.email_file_view, "email_file"),
            "files/<int:pk>/shown/": (self.shown_view, "shown_file"),
            "viewer/": (self.viewer_view, "viewer"),
        }
        return [
            path(route, self.admin.admin_site.admin_view(view), name=f"applications_{name}")
            for route, (view, name) in views.items()
        ]

    @method_decorator(require_safe)
    def file_view(self, request: UserRequest, pk: int) -> HttpResponseBase:
        """Send a file as an attachment, and log the access.
        A browser neither shows nor executes it.
        """
        file, content = self._read(request, pk)
        return _file_response(content, media_type(file), name=download_name(file))

    @method_decorator(require_safe)
    def email_file_view(self, request: UserRequest, pk: int) -> HttpResponseBase:
        """Send a file of an email, as `file_view` does."""
        if not request.user.has_perm("applications.view_message"):
            raise PermissionDenied
        visible = self._visible(request)
        rows = MessageFile.objects.filter(message__application__in=visible, message__recipient=None)
        file = get_object_or_404(rows.select_related("message"), pk=pk)
        content = self._content(request, file, file.message.application_id)
        return _file_response(content, media_type(file), name=download_name(file))

    @method_decorator(require_safe)
    def shown_view(self, request: UserRequest, pk: int) -> HttpResponseBase:
        """Send what the page shows of a file, and log the access: a PDF or an image as it is, the
        text of a document. 422 with the reason if it cannot be shown.
        """
        file, content = self._read(request, pk)
        if problem := _image_problem(file, content):
            return _file_response(problem.encode(), TEXT, status=422)
        if file.kind not in extract.KINDS:
            return _file_response(content, media_type(file))
        try:
            text = extract.text_of(file.kind, content)
        except extract.TooLongError:
            return _file_response(
                _("This document is too long to be shown here.").encode(), TEXT, status=422
            )
        except extract.ExtractError:
            return _file_response(
                _("This document is damaged or encrypted.").encode(), TEXT, status=422
            )
        return _file_response(text.encode(), TEXT)

    @method_decorator(require_safe)
    @method_decorator(xframe_options_sameorigin)
    def viewer_view(self, request: UserRequest) -> HttpResponse:
        """Send the page that shows a PDF in a frame. It has no data and, by its policy, no origin:
        a script in it reaches static files only, without cookies (decisions.md #245).
        """
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        response = render(request, "admin/applications/viewer.html", {"folder": PDFJS})
        response[HEADER] = viewer_policy(request)
        return response

    def _read(self, request: UserRequest, pk: int) -> tuple[SubmissionFile, bytes]:
        """Return a file that the user may see, with its content, and log the access."""
        visible = self._visible(request)
        rows = SubmissionFile.objects.select_related("submission")
        file = get_object_or_404(rows, pk=pk, submission__application__in=visible)
        return file, self._content(request, file, file.submission.application_id)

    def _visible(self, request: UserRequest) -> QuerySet:
        """Return the applications that the user may see, as a subquery."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        return self.admin.get_queryset(request).order_by().values("pk")

    def _content(self, request: UserRequest, file: PrivateFile, application: int | None) -> bytes:
        """Return the content of `file`, and log the access to the application."""
        try:
            content = read_file(file)
        except FileNotFoundError as error:
            raise Http404 from error
        log_access(request.user, Access.FILE, *filter(None, [application]))
        return content


def viewer_policy(request: HttpRequest) -> str:
    """Return the policy of the frame. 'self' would be the whole site, and not every browser knows
    it in a sandbox. The host of the request has no port behind nginx, and the site can have other
    hosts than that of PUBLIC_BASE_URL.
    """
    urls = {absolute(request, settings.STATIC_URL), request.build_absolute_uri(settings.STATIC_URL)}
    static = " ".join(sorted(urls))
    return (
        "sandbox allow-scripts; default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors 'self'; script-src {static} 'wasm-unsafe-eval'; worker-src blob:; "
        f"connect-src {static}; style-src {static}; font-src {static} blob: data:; img-src blob: "
        "data:"
    )


def _file_response(
    content: bytes, type_: str, *, name: str = "", status: int = 200
) -> HttpResponse:
    headers = {"Cache-Control": "private, no-store", **response_headers(type_, name=name)}
    return HttpResponse(content, headers=headers, status=status)


def _image_problem(file: SubmissionFile, content: bytes) -> str:
    """Return why an image is not shown, or an empty text."""
    if file.kind not in IMAGES:
        return ""
    try:
        # Reads the header only.
        with Image.open(BytesIO(content), formats=[IMAGES[file.kind]]) as image:
            is_large = image.width * image.height > PIXELS_MAX
    except TOO_LARGE:
        is_large = True
    except Exception:  # Pillow raises many types for damaged files
        return _("This image is damaged.")
    return _("This image has more than 50 megapixels.") if is_large else ""
