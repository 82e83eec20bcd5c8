"""Publication in the workplace: each decision for one vacancy, on a page that says what it will do, and
for many, from their list."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxValueValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy
from unfold.widgets import UnfoldAdminSingleDateWidget

from jobsite.admin.base import WorkplaceAdmin, as_id, with_named_parts
from jobsite.admin.datetime_fields import MomentField
from jobsite.ops.commands import dry_run
from vacancies import operations
from vacancies.admin.list_filters import COUNTED
from vacancies.admin.versions import readable_by
from vacancies.history.diff import described, differences
from vacancies.history.versions import PUBLICATION, content, fold
from vacancies.models import Change, State, Status, Vacancy, Version
from vacancies.operations import Outcome
from vacancies.quality import doubts, with_doubts
from vacancies.querysets import VacancyQuerySet
from vacancies.validators import validate_moment

REASONS_SHOWN = 10
COPIES = 100  # at a time


class MomentForm(forms.Form):
    moment = MomentField(
        label=gettext_lazy("Publish on"),
        validators=[validate_moment],
        help_text=gettext_lazy("It appears by itself at this moment, in the time zone of the site."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_named_parts(self.fields["moment"])


class DayForm(forms.Form):
    day = forms.DateField(
        label=gettext_lazy("Last day"),
        widget=UnfoldAdminSingleDateWidget,
        validators=[MaxValueValidator(date(2200, 12, 30))],
        help_text=gettext_lazy("Shown until the end of this day. Nothing is shortened."),
    )


def duplicate(*, vacancies: VacancyQuerySet, at: Any, author: Any) -> Outcome:
    chosen = list(vacancies.without_texts().order_by("pk"))
    outcome = Outcome()
    for vacancy in chosen[:COPIES]:
        outcome.done.append(operations.duplicate(vacancy=vacancy, at=at, author=author).pk)
    for vacancy in chosen[COPIES:]:
        outcome.refused[vacancy] = {"": _("At most %(count)d are copied at a time.") % {"count": COPIES}}
    return outcome


@dataclass(frozen=True)
class Decision:
    """What a recruiter decides: how it is called and asked, what it does, and where it makes sense."""

    name: str
    label: Any
    text: Any  # what it will do, in one sentence
    done: Any  # the number of those it was done to, in words
    icon: str
    act: Callable[..., Outcome]
    states: frozenset[State]
    form: type[forms.Form] = forms.Form
    permission: str = "change"
    shows_changes: bool = False
    is_main: bool = False


OFFLINE = frozenset({State.DRAFT, State.WITHDRAWN, State.ARCHIVED, State.EXPIRED})
DECISIONS = (
    Decision(
        "publish",
        gettext_lazy("Publish now"),
        gettext_lazy("It shows at once, as it was last saved."),
        ngettext_lazy("%(count)d vacancy was published.", "%(count)d vacancies were published.", "count"),
        "publish",
        operations.publish,
        OFFLINE | {State.SCHEDULED},
        shows_changes=True,
        is_main=True,
    ),
    Decision(
        "schedule",
        gettext_lazy("Publish on…"),
        gettext_lazy("It appears by itself, as it was last saved."),
        ngettext_lazy("%(count)d vacancy was planned.", "%(count)d vacancies were planned.", "count"),
        "schedule",
        operations.schedule,
        OFFLINE | {State.SCHEDULED},
        MomentForm,
        shows_changes=True,
    ),
    Decision(
        "withdraw",
        gettext_lazy("Take offline"),
        gettext_lazy("It disappears from every site at once. You can publish it again later."),
        ngettext_lazy(
            "%(count)d vacancy was taken offline.", "%(count)d vacancies were taken offline.", "count"
        ),
        "visibility_off",
        operations.withdraw,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
    ),
    Decision(
        "extend",
        gettext_lazy("Extend…"),
        gettext_lazy("It is shown until the end of the day that you choose."),
        ngettext_lazy("%(count)d vacancy was extended.", "%(count)d vacancies were extended.", "count"),
        "event_repeat",
        operations.extend,
        frozenset({State.PUBLISHED, State.SCHEDULED, State.EXPIRED}),
        DayForm,
    ),
    Decision(
        "archive",
        gettext_lazy("Archive"),
        gettext_lazy("It leaves the list of vacancies; the filter “Archived” finds it again."),
        ngettext_lazy("%(count)d vacancy was archived.", "%(count)d vacancies were archived.", "count"),
        "archive",
        operations.archive,
        OFFLINE - {State.ARCHIVED},
    ),
    Decision(
        "duplicate",
        gettext_lazy("Duplicate"),
        gettext_lazy("A draft with the same content is made, without dates."),
        ngettext_lazy("%(count)d copy was made.", "%(count)d copies were made.", "count"),
        "content_copy",
        duplicate,
        frozenset(State),
        permission="add",
    ),
)
BY_NAME = {decision.name: decision for decision in DECISIONS}


def for_many(decision: Decision) -> Any:
    """The decision as an action of a list."""

    @admin.action(description=decision.label, permissions=[decision.permission])
    def act(page: "DecidingAdmin", request: HttpRequest, queryset: VacancyQuerySet) -> Any:
        return page.decide_many(request, queryset, decision)

    act.__name__ = f"{decision.name}_selected"
    return act


class DecidingAdmin(WorkplaceAdmin):
    """The pages of vacancies on which decisions are taken."""

    actions: Any = [for_many(decision) for decision in DECISIONS]

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<path:object_id>/{decision.name}/",
                self.admin_site.admin_view(self.decide_view),
                {"name": decision.name},
                name=f"vacancies_vacancy_{decision.name}",
            )
            for decision in DECISIONS
        ]
        return [*own, *super().get_urls()]

    def may(self, decision: Decision, request: HttpRequest, vacancy: Vacancy | None = None) -> bool:
        if decision.permission == "add":
            return self.has_add_permission(request)
        return self.has_change_permission(request, vacancy)

    def buttons(self, request: HttpRequest, vacancy: Vacancy) -> list[dict[str, Any]]:
        """The decisions that would change something about `vacancy`."""
        return [
            {
                "label": decision.label,
                "icon": decision.icon,
                "is_main": decision.is_main,
                "url": reverse(f"admin:vacancies_vacancy_{decision.name}", args=[vacancy.pk]),
            }
            for decision in DECISIONS
            if vacancy.state in decision.states and self.may(decision, request, vacancy)
            if vacancy.publish_until or decision is not BY_NAME["extend"]  # nothing to extend without an end
        ]

    # --- for one ---

    def decide_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """Asks on GET, with all that is in the way and that changes for the public; acts on POST."""
        decision = BY_NAME[name]
        vacancy = get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        if not self.may(decision, request, vacancy):
            raise PermissionDenied
        chosen = Vacancy.objects.filter(pk=vacancy.pk)
        form = decision.form(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            outcome = self.act(request, decision, chosen, form)
            found = outcome.done[0] if decision.permission == "add" and outcome.done else vacancy.pk
            return redirect("admin:vacancies_vacancy_change", found)
        context = {
            **self.asking(request, decision, form),
            "title": _("%(decision)s: %(vacancy)s") % {"decision": decision.label, "vacancy": vacancy},
            "original": vacancy,
            "obstacles": [] if form.fields else self.obstacles(decision, chosen),
            "doubts": [doubt.text for doubt in doubts(with_doubts(chosen, at=timezone.now()).get())]
            if decision.shows_changes
            else [],
            **(public_changes(vacancy, request.user) if decision.shows_changes else {}),
            "back": reverse("admin:vacancies_vacancy_change", args=[vacancy.pk]),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/decide.html", context)

    def obstacles(self, decision: Decision, chosen: VacancyQuerySet) -> list[str]:
        """Why the decision would be refused: it is tried, and taken back."""
        if decision.permission == "add":
            return []
        with dry_run(True):
            outcome = decision.act(vacancies=chosen, at=timezone.now(), author=None)
        return [reason for reasons in outcome.refused.values() for reason in reasons.values()]

    # --- for many ---

    def decide_many(self, request: HttpRequest, queryset: VacancyQuerySet, decision: Decision) -> Any:
        """Acts at once, or asks first where the decision needs a date."""
        pks = list(queryset.order_by().values_list("pk", flat=True)[: COUNTED + 1])
        if len(pks) > COUNTED:
            text = _("Nothing was done: choose at most %(count)d vacancies at a time.") % {"count": COUNTED}
            self.message_user(request, text, messages.WARNING)
            return None
        chosen = Vacancy.objects.filter(pk__in=pks)
        form = decision.form(
            request.POST if "decided" in request.POST or not decision.form.base_fields else None
        )
        if form.is_valid():
            self.act(request, decision, chosen, form)
            return None
        context = {
            **self.asking(request, decision, form),
            "title": decision.label,
            "subtitle": ngettext("%(count)d vacancy", "%(count)d vacancies", len(pks)) % {"count": len(pks)},
            "some": list(chosen.without_texts()[:REASONS_SHOWN]),
            "more": len(pks) - REASONS_SHOWN,
            "repeated": [
                (name, value)
                for name in ("action", "select_across", "index", ACTION_CHECKBOX_NAME)
                for value in request.POST.getlist(name)
            ],
            "back": request.get_full_path(),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/decide.html", context)

    # --- both ---

    def asking(self, request: HttpRequest, decision: Decision, form: forms.Form) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media + form.media,
            "decision": decision,
            "form": form,
        }

    def act(
        self, request: HttpRequest, decision: Decision, chosen: VacancyQuerySet, form: forms.Form
    ) -> Outcome:
        """Do it, and say to how many, and of the others which were left alone and why."""
        outcome = decision.act(vacancies=chosen, at=timezone.now(), author=request.user, **form.cleaned_data)
        if count := len(outcome.done):
            self.message_user(request, decision.done % {"count": count}, messages.SUCCESS)
        for vacancy, reasons in list(outcome.refused.items())[:REASONS_SHOWN]:
            text = _("“%(vacancy)s” was left alone. %(reason)s") % {
                "vacancy": vacancy, "reason": " ".join(reasons.values()),
            }  # fmt: skip
            self.message_user(request, text, messages.WARNING)
        if (more := len(outcome.refused) - REASONS_SHOWN) > 0:
            text = ngettext(
                "%(count)d more vacancy was left alone.", "%(count)d more vacancies were left alone.", more
            )
            self.message_user(request, text % {"count": more}, messages.WARNING)
        return outcome


def public_changes(vacancy: Vacancy, user: Any) -> dict[str, Any]:
    """What the public will see otherwise than when it last saw `vacancy`, or all of it; what that
    was while the vacancy was another brand's, `user` does not read here either."""
    versions = Version.objects.filter(vacancy=vacancy.pk).order_by("pk")
    public = _seen(versions, at=timezone.now())
    last = readable_by(user).filter(pk__in=public[-1:]).first()
    before = fold(versions.filter(pk__lte=last.pk)) if last else {}
    was_public = "title" in before
    found = differences(before, content(vacancy)) if was_public else described(content(vacancy))
    return {"was_public": was_public, "changes": [each for each in found if each.name not in PUBLICATION]}


def _seen(versions: Any, *, at: datetime) -> list[int]:
    """The ids of those of `versions` that the public had before it at some moment before `at`."""
    rows = list(versions.values_list("pk", "change", "created_at", "content"))
    ends = [created_at for _, _, created_at, _ in rows[1:]] + [at]
    found, now = [], dict.fromkeys(PUBLICATION, "")
    for (pk, change, begin, values), end in zip(rows, ends, strict=False):  # no rows, one end
        now |= {name: values[name] for name in PUBLICATION if name in values}
        appears, vanishes = (
            datetime.fromisoformat(now[name]) if now[name] else None
            for name in ("publish_from", "publish_until")
        )
        if now["status"] != Status.PUBLISHED or appears is None:
            continue
        since = appears if change == Change.FOUND else max(begin, appears)  # what is found was there before
        if since <= end and (vanishes is None or since < vanishes):
            found.append(pk)
    return found
