"""The notes of an application: adding one, and deleting an own one. Notes are never edited, so that
answers to a note stay meaningful.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanWidget

from applications.access import readable_notes, sees_whole
from applications.admin.parts import ApplicationPages
from applications.models import Access, Application, Note
from applications.operations.access_log import log_access
from applications.operations.notes import add_note
from applications.querysets import readers_of
from jobsite.admin.base import as_id
from jobsite.api.absolute_urls import base_url
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest

MAX_COLLEAGUES = 100  # listed as those who can be mentioned


class NoteForm(forms.ModelForm):
    class Meta:
        model = Note
        fields = ("text", "is_for_team")
        labels = {"text": _("New note"), "is_for_team": _("The team of the vacancy sees it")}
        widgets = {
            "text": UnfoldAdminTextareaWidget(attrs={"rows": 4}),
            "is_for_team": UnfoldBooleanWidget,
        }

    def __init__(self, data: Any = None, *, has_team: bool) -> None:
        super().__init__(data)
        if not has_team:
            del self.fields["is_for_team"]


def _has_team(user: User, application: Application) -> bool:
    """Return whether `user` chooses if the team of the vacancy sees a note."""
    return sees_whole(user) and application.vacancy.team.exists()


class NotePages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        views = {"note": self.note_view, "delete-note": self.delete_note_view}
        return self.object_urls(views)

    def note_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Add a note. An invalid one is shown again with the error. GET shows an empty one: whoever
        posts a note after the end of the session comes here from the page to sign in.
        """
        application = self.application_or_404(request, object_id, "applications.add_note")
        is_posted = request.method == "POST"
        has_team = _has_team(request.user, application)
        form = NoteForm(request.POST if is_posted else None, has_team=has_team)
        if not is_posted:
            log_access(request.user, Access.VIEW, application.pk)
        if not form.is_valid():
            readers = readers_of(application.vacancy, application.pk).order_by("username")
            context = {
                **self.context(request, _("Note")),
                **self.page_context(request, application, list(readers)),
                "media": self.admin.media,
                "application": application,
                "note_form": form,
                "back": self.page_of(request, application, "notes"),
            }
            return render(
                request,
                "admin/applications/application/notes/note.html",
                context,
                status=422 if is_posted else 200,
            )
        note, unknown = add_note(
            application=application,
            text=form.cleaned_data["text"],
            author=request.user,
            is_for_team=form.cleaned_data.get("is_for_team", False),
            base_url=base_url(request),
            at=timezone.now(),
        )
        log_access(request.user, Access.CHANGE, application.pk)
        if names := ", ".join(sorted(person(user) for user in note.mentioned.all())):
            text = gettext("The note was added. Mentioned by email: %(names)s.") % {"names": names}
        else:
            text = gettext("The note was added.")
        self.message(request, text, messages.SUCCESS)
        if unknown:
            text = gettext(
                "No email was sent to %(names)s: no such colleague may view this application."
            )
            names = ", ".join(f"@{name}" for name in unknown)
            self.message(request, text % {"names": names}, messages.WARNING)
        return self.back(request, application, "notes")

    def delete_note_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        application = self.posted_to(request, object_id, "applications.add_note")
        own_notes = Note.objects.filter(application=application, author=request.user)
        deleted, _rows = own_notes.filter(pk__in=[as_id(request.POST.get("note"))]).delete()
        if not deleted:
            raise Http404
        log_access(request.user, Access.CHANGE, application.pk)
        self.message(request, gettext("The note was deleted."), messages.SUCCESS)
        return self.back(request, application, "notes")

    def page_context(
        self, request: UserRequest, application: Application, readers: Sequence[User]
    ) -> dict[str, object]:
        """Return what the notes of a page show: nothing that the user may not see. `readers` may
        view the application.
        """
        may_add = request.user.has_perm("applications.add_note")
        context: dict[str, object] = {
            "may_see_notes": request.user.has_perm("applications.view_note")
        }
        if context["may_see_notes"]:
            rows = Note.objects.filter(readable_notes(request.user), application=application)
            context["notes"] = [
                {
                    "note": note,
                    "author": person(note.author) if note.author else gettext("a deleted account"),
                    "at": format_datetime(note.created_at),
                    "mentioned": sorted(person(user) for user in note.mentioned.all()),
                    "is_own": may_add and note.author_id == request.user.pk,
                }
                for note in rows.select_related("author").prefetch_related("mentioned")
            ]
        if may_add:
            is_judge = not sees_whole(request.user)
            colleagues = [user for user in readers if user != request.user and not is_judge]
            form = NoteForm(has_team=_has_team(request.user, application))
            context |= {"note_form": form, "colleagues": colleagues[:MAX_COLLEAGUES]}
        return context
