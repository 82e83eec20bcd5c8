"""Moving applications to a stage, from the list, the board and their pages: the confirmation, and
undoing it.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import CHANGE as CHANGED
from django.contrib.admin.models import LogEntry
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseNotAllowed, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from applications.admin.moves.filling import filled_by, report_filled
from applications.admin.moves.form import MoveForm, email_context
from applications.admin.moves.report import name_of, report, undo_url, with_links
from applications.admin.parts import CHANGE, ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.models import Access, Application, Stage, StageChange
from applications.operations import Move, Moved, move_if_unchanged, undo_moves
from applications.operations.access_log import log_access
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import as_id
from jobsite.admin.once import once_per_request
from jobsite.admin.selection import way_back
from jobsite.days import days_after
from jobsite.languages import LANGUAGES, site_language
from jobsite.text.formats import format_datetime
from jobsite.types import StrOrPromise, UserRequest


class MovePages(ApplicationPages):
    """The actions that move applications, and their pages."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url("move/", self.move_view, "move"),
            self.url("undo-moves/", self.undo_moves_view, "undo_moves"),
            *self.object_urls({"undo": self.undo_view}),
        ]

    def actions(
        self, request: UserRequest
    ) -> dict[str, tuple[Callable[..., HttpResponse], str, str]]:
        """Return an action of the list per stage. The admin formats labels of actions:
        "%" is doubled.
        """
        found: dict[str, tuple[Callable[..., HttpResponse], str, str]] = {}
        for stage in stages(request):
            name = f"move_to_{stage.pk}"
            label = gettext("Move to: %(stage)s") % {"stage": stage}
            found[name] = (partial(_move_selected, stage=stage), name, label.replace("%", "%%"))
        return found

    def move_view(self, request: UserRequest) -> HttpResponse:
        """POST: move `applications` to `stage`. Some need `confirmed`, and what `MoveForm` asks
        for. It leads `back`, or who rejected somebody on their page to the one `after` it.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.admin.has_change_permission(request):
            raise PermissionDenied
        selection = ApplicationSelection.sent_by(request, self.admin.get_queryset(request))
        stage = stage_sent_by(request)
        the_list = reverse("admin:applications_application_changelist")
        back = way_back(request, the_list)
        if request.headers.get("Accept") == "application/json" and not stage.needs_confirmation:
            return self._moved_json(request, selection, stage)
        is_sent = "confirmed" in request.POST or not stage.needs_confirmation
        form = self.form(request, stage, selection, request.POST if is_sent else None)
        if not form.is_valid():
            return self.confirm_move(request, selection, stage, back, form)
        if stage.kind == Stage.Kind.REJECTED and "after" in request.POST:
            back = way_back(request, the_list, "after")
        self.move_and_report(request, selection, form, back)
        return redirect(back)

    @staticmethod
    def form(
        request: UserRequest,
        stage: Stage,
        selection: ApplicationSelection,
        data: QueryDict | None = None,
        *,
        has_email: bool = False,
    ) -> MoveForm:
        """Return the form of a move.
        A page that writes another email keeps in it what was chosen before.
        """
        return MoveForm(
            data,
            stage=stage,
            applications=selection.seen,
            has_email=has_email,
            fills=filled_by(selection.seen, stage, user=request.user),
            initial=request.POST.dict() if has_email else None,
        )

    def move_and_report(
        self, request: UserRequest, selection: ApplicationSelection, form: MoveForm, back: str
    ) -> Moved:
        """Move the applications, and say so. *Undo* leads to `back`."""
        move = form.move(request, at=timezone.now())
        moved, filled = self._run(request, selection, move, marks_filled=form.marks_filled)
        for level, text in report(moved, move.stage, filled, back):
            self.message(request, text, level)
        return moved

    def confirm_move(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        stage: Stage,
        back: str,
        form: MoveForm | None = None,
    ) -> HttpResponse:
        people = list(selection.people())
        there = [each for each in people if each.stage_id == stage.pk]
        form = form or self.form(request, stage, selection)
        context = {
            **self.context(request, gettext("Move to: %(stage)s") % {"stage": stage}),
            **status_context(stage),
            "people": [each for each in people if each.stage_id != stage.pk],
            "there": there,
            "form": form,
            "own_reasons": form.reasons_of(people),
            **email_context(
                request, stage, selection.addressed().exclude(pk__in=[p.pk for p in there])
            ),
            "selection": selection,
            "back": back,
            "after": request.POST.get("after", ""),
        }
        template = "admin/applications/application/moves/confirm_move.html"
        return TemplateResponse(request, template, context, status=422 if form.errors else 200)

    def _run(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        move: Move,
        *,
        marks_filled: bool = False,
    ) -> tuple[Moved, list[str]]:
        """Move the applications. Return also the messages about vacancies that this filled."""
        with transaction.atomic():
            moved = move_if_unchanged(selection.seen, move)
            pks = moved.applications
            self.log_moves(request, pks, _("Moved to %(stage)s."), stage=move.stage)
            filled = report_filled(request, pks, move.stage, is_marked=marks_filled, at=move.at)
        return moved, filled

    def _moved_json(
        self, request: UserRequest, selection: ApplicationSelection, stage: Stage
    ) -> HttpResponse:
        """Move the one application of a card, for the board's script. 409:
        somebody else moved it.
        """
        move = Move(stage=stage, author=request.user, at=timezone.now())
        moved, _filled = self._run(request, selection, move)
        body = {
            "message": gettext("somebody else moved it in the meantime. Load the page again.")
            if moved.elsewhere
            else gettext("moved to %(stage)s.") % {"stage": stage},
            "undo": undo_url(moved, stage, request.POST.get("back", "")),
            "undo_label": gettext("Undo"),
            "applications": str(ApplicationSelection.of(selection.rows())),
        }
        return JsonResponse(body, status=409 if moved.elsewhere else 200)

    # --- undo ---

    def undo_moves_view(self, request: UserRequest) -> HttpResponse:
        """GET asks whether to undo what the user moved at the times `at`; POST does it, and leads
        to `back`.
        """
        if not self.admin.has_change_permission(request):
            raise PermissionDenied
        own = self.admin.get_queryset(request).order_by().values("pk")
        mine = StageChange.objects.filter(
            author=request.user.pk, is_undo=False, application__in=own
        )
        changes = mine.filter(at__in=times_sent_by(request))
        now = timezone.now()
        back = way_back(request, reverse("admin:applications_application_changelist"))
        if request.method == "POST":
            self._undo_moves(request, changes, now)
            return redirect(back)
        rows = list(changes.select_related("stage"))
        selection = ApplicationSelection(
            {row.application_id: None for row in rows if row.visible_at > now}
        )
        context = {
            **self.context(request, gettext("Undo")),
            "people": list(selection.people()),
            "too_late": len(rows) - len(selection),
            "back": back,
        }
        return TemplateResponse(request, "admin/applications/application/moves/undo.html", context)

    def _undo_moves(self, request: UserRequest, changes: QuerySet, now: datetime) -> None:
        with transaction.atomic():
            undone, kept = undo_moves(
                list(changes.values_list("pk", flat=True)), author=request.user, at=now
            )
            self.log_moves(request, undone, _("Stage change undone."))
        if undone:
            text = ngettext(
                "%(count)d stage change was undone.",
                "%(count)d stage changes were undone.",
                len(undone),
            )
            if name := name_of(undone):
                text = gettext("The stage change of %(name)s was undone.")
            self.message(request, text % {"count": len(undone), "name": name}, messages.SUCCESS)
        if kept:
            text = ngettext(
                "%(count)d was not undone: moved again, or visible to the applicant. %(links)s",
                "%(count)d were not undone: moved again, or visible to the applicant. %(links)s",
                len(kept),
            )
            self.message(request, with_links(text, kept), messages.WARNING)

    def undo_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Undo the posted stage change of one application, on its page."""
        application = self.posted_to(request, object_id, CHANGE)
        change = application.changes.filter(pk__in=[as_id(request.POST.get("change"))])
        undone, _kept = undo_moves(
            change.values_list("pk", flat=True), author=request.user, at=timezone.now()
        )
        if undone:
            log_access(request.user, Access.CHANGE, application.pk)
            text = gettext("The stage change was undone. The applicant did not see it.")
            self.message(request, text, messages.SUCCESS)
        else:
            text = gettext(
                "Not undone: the applicant sees the change already, or the stage changed again."
            )
            self.message(request, text, messages.WARNING)
        return self.back(request, application, "")

    def log_moves(
        self, request: UserRequest, pks: list[int], text: StrOrPromise, **values: object
    ) -> None:
        """Add entries to the access log and to the history of the applications."""
        with translation.override(site_language()):  # stored, and read by all users
            stored = str(text) % values
        log_access(request.user, Access.CHANGE, *pks)
        changed = Application.objects.filter(pk__in=pks)
        LogEntry.objects.log_actions(request.user.pk, changed, CHANGED, stored)  # type: ignore[arg-type]


def _move_selected(
    admin: ModelAdmin, request: UserRequest, queryset: ApplicationQuerySet, *, stage: Stage
) -> HttpResponse:
    selection = ApplicationSelection.of(queryset)
    return MovePages(admin).confirm_move(request, selection, stage, request.get_full_path())


def status_context(stage: Stage) -> dict[str, object]:
    """Return what applicants see of `stage`, and from when ("" for at once), for
    visible_status.html.
    """
    visible_at = days_after(timezone.now(), stage.embargo_days)
    return {
        "stage": stage,
        "statuses": [(gettext(name), stage.status.label(code)) for code, name in LANGUAGES.items()],
        "visible_at": format_datetime(visible_at) if stage.embargo_days else "",
    }


@once_per_request  # the admin asks for its actions several times
def stages(request: UserRequest) -> list[Stage]:
    """Return the stages in order."""
    return list(Stage.objects.all())


def stage_sent_by(request: UserRequest) -> Stage:
    """Return the stage that `stage` names. Raise BadRequest if it is not the id of a stage."""
    stage = Stage.objects.filter(pk=as_id(request.POST.get("stage")) or 0).first()
    if stage is None:
        raise BadRequest("stage is not the id of a stage.")
    return stage


def times_sent_by(request: UserRequest) -> list[datetime]:
    """Return the times `at` of a link. Raise BadRequest if one is invalid."""
    return [_time(text) for text in request.GET.getlist("at") if text]


def _time(text: str) -> datetime:
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or timezone.is_naive(at):
        raise BadRequest("at is not a time with a time zone.")
    return at
