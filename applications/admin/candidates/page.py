"""The page of a candidate: all applications of one person with what belongs to them. It also joins
applications of one person, and separates them.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext

from applications.admin.candidates.erasure import may_erase
from applications.admin.candidates.scope import (
    CandidatePages,
    likely_people,
    own_applications,
)
from applications.admin.parts import CHANGE
from applications.models import (
    Access,
    Application,
    ApplicationTag,
    HistoryEntry,
    Note,
    PersonChange,
    SubmissionFile,
)
from applications.operations import joining
from applications.operations.access_log import log_access
from applications.operations.pool import pool_states
from jobsite.admin.base import as_id
from jobsite.admin.confirmation import with_undo
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import Context, UserRequest

VIEW = "applications.view_application"
SHOWN_MAX = 200  # applications, and rows of each kind of event


@dataclass(frozen=True)
class TimelineRow:
    """What happened to an application, or will."""

    at: datetime
    icon: str
    kind: str
    application: Application
    text: str
    when: str
    author: str = ""
    url: str = ""


class PersonPages(CandidatePages):
    """The page of a candidate, joining and separating."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls(
            {
                "candidate": self.candidate_view,
                "join": self.join_view,
                "separate": self.separate_view,
                "undo-join": self.undo_view,
            }
        )

    def candidate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        application = self.application_or_404(request, object_id, VIEW)
        people = _of_person(request, application)
        log_access(request.user, Access.VIEW, *(each.pk for each in people))
        context = {
            **self.context(request, gettext("Candidate")),
            **self._person_context(request, application, people),
        }
        return _private(TemplateResponse(request, _template("candidate"), context))

    def _person_context(
        self, request: UserRequest, application: Application, people: list[Application]
    ) -> Context:
        pks = [each.pk for each in people]
        names = ApplicationTag.objects.filter(application__in=pks).order_by("tag__folded")
        pool = pool_states(pks, at=timezone.now())
        may_change = request.user.has_perm(CHANGE)
        contacts = {(each.display_name, each.address, each.phone): None for each in people}
        return {
            "media": self.admin.media,
            "application": application,
            "people": people,
            "contacts": list(contacts),
            "separable": _separable(application, people) if may_change else set(),
            "tags": list(dict.fromkeys(names.values_list("tag__name", flat=True))),
            "events": _events(request, people),
            "pool": [(each, pool[each.pk]) for each in people if each.pk in pool],
            "likely": likely_people(request.user, people),
            "considered": next((each.pk for each in people if each.is_spontaneous), None),
            "may_change": may_change,
            "may_erase": may_erase(request.user),
            "undoable": _undoable(request, pks) if may_change else None,
            "is_shortened": len(people) == SHOWN_MAX,
        }

    # --- joining ---

    def join_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """GET asks whether the application and `other` are of one person; POST joins them, and all
        that are of the same persons.
        """
        application = self.application_or_404(request, object_id, CHANGE)
        other = get_object_or_404(
            own_applications(request.user).select_related("user", "vacancy"),
            pk=as_id((request.POST if request.method == "POST" else request.GET).get("other")),
        )
        back = self.candidate_of(application)
        if request.method == "POST":
            try:
                change = joining.join(
                    first=application, second=other, author=request.user, at=timezone.now()
                )
            except joining.JoinError:
                text = gettext(
                    "Not joined. Only applications to one brand can be joined, at most %(count)d."
                )
                text %= {"count": joining.APPLICATIONS_MAX}
                self.message(request, text, messages.ERROR)
                return redirect(back)
            return self._changed(request, application, change, gettext("Joined."))
        groups = [_of_person(request, each) for each in (application, other)]
        log_access(request.user, Access.VIEW, *{each.pk for group in groups for each in group})
        context = {
            **self.context(request, gettext("Join applications of one person")),
            "media": self.admin.media,
            "groups": groups,
            "other": other,
            "is_same_brand": application.vacancy.brand_id == other.vacancy.brand_id,
            "back": back,
        }
        return _private(TemplateResponse(request, _template("join"), context))

    def separate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Separate the application `other` of the candidate from those that it is joined with."""
        application = self.posted_to(request, object_id, CHANGE)
        rows = own_applications(request.user).of_person(application)
        other = get_object_or_404(rows, pk=as_id(request.POST.get("other")))
        change = joining.separate(application=other, author=request.user, at=timezone.now())
        if change is None:
            self.message(request, gettext("It was separated already."), messages.WARNING)
            return redirect(self.candidate_of(application))
        return self._changed(request, application, change, gettext("Separated."))

    def undo_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Undo the last change of which applications are of this candidate."""
        application = self.posted_to(request, object_id, CHANGE)
        number = as_id(request.POST.get("change") or request.GET.get("change"))
        if number is None:
            raise BadRequest("change is not the id of a change.")
        change = get_object_or_404(PersonChange, pk=number)
        pks = joining.before_of(change)
        if not _sees_all(request, pks):
            raise Http404
        try:
            joining.undo(change=change, at=timezone.now())
        except joining.UndoError:
            text = gettext(
                "Not undone: somebody joined or separated these applications since then."
            )
            self.message(request, text, messages.WARNING)
        else:
            log_access(request.user, Access.CHANGE, *pks)
            self.message(request, gettext("Undone."), messages.SUCCESS)
        return redirect(self.candidate_of(application))

    def _changed(
        self, request: UserRequest, application: Application, change: PersonChange, text: str
    ) -> HttpResponse:
        log_access(request.user, Access.CHANGE, *joining.before_of(change))
        url = reverse("admin:applications_application_undo_join", args=[application.pk])
        back = self.candidate_of(application)
        self.message(request, with_undo(text, f"{url}?change={change.pk}", back), messages.SUCCESS)
        return redirect(back)

    def candidate_of(self, application: Application) -> str:
        return reverse("admin:applications_application_candidate", args=[application.pk])


def _template(name: str) -> str:
    return f"admin/applications/application/candidates/{name}.html"


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    return response


def _of_person(request: UserRequest, application: Application) -> list[Application]:
    """Return the newest applications of the person of `application`."""
    rows = own_applications(request.user).of_person(application).with_stage()
    return list(rows.select_related("user", "vacancy__brand").newest_first()[:SHOWN_MAX])


def _separable(application: Application, people: list[Application]) -> set[int]:
    """Return the ids of those that only a colleague said to be of the person."""
    linked = joining.is_linked(application)
    own = Application.objects.filter(linked, pk__in=[each.pk for each in people])
    left_out = {application.pk, *own.values_list("pk", flat=True)}
    return {each.pk for each in people if each.person is not None} - left_out


def _sees_all(request: UserRequest, pks: Collection[int]) -> bool:
    """Return whether the user sees an application of `pks`, and none is hidden from them."""
    own = own_applications(request.user).filter(pk__in=pks)
    hidden = Application.objects.filter(pk__in=pks).exclude(pk__in=own.order_by().values("pk"))
    return own.exists() and not hidden.exists()


def _undoable(request: UserRequest, pks: Collection[int]) -> dict[str, object] | None:
    """Return the last change of `pks`, if the user can undo it."""
    at = timezone.now()
    for change in joining.undoable(pks, at=at)[:1]:
        changed = joining.before_of(change)
        if joining.undoable(changed, at=at)[0] == change and _sees_all(request, changed):
            author = person(change.author) if change.author else ""
            return {"pk": change.pk, "at": format_datetime(change.at), "author": author}
    return None


def _events(request: UserRequest, people: list[Application]) -> list[TimelineRow]:
    """Return the interviews, tasks, notes and files of the applications, the latest first."""
    of = {each.pk: each for each in people}
    found = [*_steps(of), *_files(of)]
    if request.user.has_perm("applications.view_note"):
        found += _notes(of)
    return sorted(found, key=lambda event: event.at, reverse=True)


def _steps(of: dict[int, Application]) -> Iterator[TimelineRow]:
    rows = HistoryEntry.objects.filter(application__in=of).order_by("-planned_at", "-pk")
    for each in rows[:SHOWN_MAX]:
        icon, kind = ("event", gettext("Interview")) if each.uid else ("task", gettext("Task"))
        state = gettext("Cancelled") if each.is_cancelled else each.result
        text = " – ".join(filter(None, (each.name, state)))
        yield TimelineRow(each.planned_at, icon, kind, of[each.application_id], text, each.when)


def _notes(of: dict[int, Application]) -> Iterator[TimelineRow]:
    rows = Note.objects.filter(application__in=of).select_related("author")
    for each in rows.order_by("-created_at", "-pk")[:SHOWN_MAX]:
        author = person(each.author) if each.author else ""
        when, application = format_datetime(each.created_at), of[each.application_id]
        yield TimelineRow(
            each.created_at, "notes", gettext("Note"), application, each.text, when, author
        )


def _files(of: dict[int, Application]) -> Iterator[TimelineRow]:
    rows = SubmissionFile.objects.filter(submission__application__in=of).order_by("-pk")
    for file in rows.select_related("submission")[:SHOWN_MAX]:
        application = of[file.submission.application_id]
        url = reverse("admin:applications_file", args=[file.pk])
        at = application.created_at
        yield TimelineRow(
            at,
            "attach_file",
            gettext("File"),
            application,
            file.original_name,
            format_datetime(at),
            url=url,
        )
