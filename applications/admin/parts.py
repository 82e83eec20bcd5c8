"""What the pages of applications share."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.files import File
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from applications.models import Application
from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.types import StrOrPromise, UserRequest

CHANGE = "applications.change_application"
WRITE = "applications.add_message"
# What the address of a page of an application repeats: the query of the list that the user came
# from, and the ids of the applications that follow each other (page/walking.py).
LIST_QUERY, SERIES = "_changelist_filters", "series"


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True
    template_name = "django/forms/widgets/input.html"


class FilesField(forms.FileField):
    """Some files."""

    widget = FilesInput(attrs={"class": "panel-select"})

    def clean(self, data: Any, initial: Any = None) -> list[File]:
        # An empty file is refused by its type, with its name.
        return [file for file in data or [] if file.name]


class ApplicationPages(AdminPages):
    """Pages below an application, or below the list."""

    def posted_to(self, request: UserRequest, object_id: str, permission: str) -> Application:
        """Return the application that a form was posted to. Raise Http404 if it is another method
        or an application that the user does not see, and PermissionDenied without `permission`.
        """
        if request.method != "POST":
            raise Http404
        return self.application_or_404(request, object_id, permission)

    def application_or_404(
        self, request: UserRequest, object_id: str, permission: str
    ) -> Application:
        rows = self.admin.get_queryset(request).select_related("user", "vacancy")
        application: Application = get_object_or_404(rows, pk=as_id(object_id))
        if not (
            self.admin.has_view_permission(request, application)
            and request.user.has_perm(permission)
        ):
            raise PermissionDenied
        return application

    def page_of(self, request: UserRequest, application: Application, part: str = "") -> str:
        """Return the URL of the page of `application`, at `part`, in the list of the user."""
        url = reverse("admin:applications_application_change", args=[application.pk])
        query = urlencode(carried(request))
        return f"{url}{'?' if query else ''}{query}{'#' if part else ''}{part}"

    def back(self, request: UserRequest, application: Application, part: str) -> HttpResponse:
        return redirect(self.page_of(request, application, part))

    def message(self, request: UserRequest, text: StrOrPromise, level: int) -> None:
        self.admin.message_user(request, text, level)


def carried(request: UserRequest) -> dict[str, str]:
    return {name: request.GET[name] for name in (LIST_QUERY, SERIES) if name in request.GET}
