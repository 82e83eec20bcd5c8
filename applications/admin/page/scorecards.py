"""The scorecards of an application:
the list on its page, and the page on which a colleague writes one.
"""

import json
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminTextareaWidget

from applications.admin.parts import ApplicationPages
from applications.models import Access, Application, HistoryEntry, Scorecard
from applications.operations.access_log import log_access
from applications.operations.scorecards import SentError, may_see_all, save_card
from jobsite.admin.base import as_id
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import Context, UserRequest
from vacancies.models import Requisition

VIEW, ADD = "applications.view_scorecard", "applications.add_scorecard"


class ScorecardForm(forms.Form):
    """The recommendation, a score per criterion of the vacancy, and a text. A draft (`is_draft`)
    may lack the recommendation. `criteria` are those that the page showed.
    """

    criteria = forms.CharField(required=False, widget=forms.HiddenInput)
    recommendation = forms.TypedChoiceField(
        label=_("Recommendation"),
        coerce=int,
        empty_value=None,
        choices=Scorecard.Recommendation.choices,
        widget=UnfoldAdminRadioSelectWidget(radio_style=1),
    )
    text = forms.CharField(
        label=_("Text"),
        required=False,
        max_length=10_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text=_("Applicants do not see it, but get it on request."),
    )

    def __init__(
        self, data: Any, *, card: Scorecard, criteria: list[str], is_draft: bool = False
    ) -> None:
        self.names = criteria
        shown = json.dumps(criteria)
        super().__init__(
            data,
            initial={"criteria": shown, "recommendation": card.recommendation, "text": card.text},
        )
        self.fields["recommendation"].required = not is_draft
        known = {each["name"]: each["score"] for each in card.scores}
        for number, name in enumerate(criteria):
            self.fields[f"score-{number}"] = forms.TypedChoiceField(
                label=name,
                required=False,
                coerce=int,
                empty_value=None,
                initial=known.get(name),
                choices=[("", _("No score")), *((n, str(n)) for n in Scorecard.SCORES)],
                widget=UnfoldAdminRadioSelectWidget(radio_style=1),
            )
        self.order_fields(
            ["criteria", "recommendation", *(f"score-{n}" for n in range(len(criteria)))]
        )
        self.shown = shown

    def clean_criteria(self) -> str:
        sent: str = self.cleaned_data["criteria"]
        if sent != self.shown:
            text = gettext(
                "The criteria of the vacancy changed. Check your scores, and send it again."
            )
            raise ValidationError(text)
        return sent

    def scores(self) -> list[dict[str, Any]]:
        """Return the scores with the names of their criteria. Requires `is_valid()`."""
        return [
            {"name": name, "score": self.cleaned_data[f"score-{number}"]}
            for number, name in enumerate(self.names)
        ]


def scorecards_context(
    request: UserRequest, application: Application, entries: Iterable[HistoryEntry]
) -> Context:
    """Return what scorecards.html shows on the page of `application`, with these `entries`: nothing
    that the user may not see.
    """
    may_see, may_add = request.user.has_perm(VIEW), request.user.has_perm(ADD)
    context: Context = {"may_see_scorecards": may_see or may_add}
    if not (may_see or may_add):
        return context
    cards = list(application.scorecards.select_related("author", "entry"))
    sent = [card for card in cards if card.sent_at]
    if may_see:
        is_shown = not sent or may_see_all(request.user, application, cards)
        shown, hidden = (sent, 0) if is_shown else ([], len(sent))
        context |= {"scorecards": list(map(_shown, shown)), "hidden_scorecards": hidden}
    if may_add:
        sent_about = {card.entry_id for card in sent if card.author_id == request.user.pk}
        context["open_scorecards"] = _open(application, entries, sent_about)
    return context


def _open(
    application: Application, entries: Iterable[HistoryEntry], sent_about: set[int | None]
) -> list[Context]:
    """Return the scorecards that the user may still write:
    about past interviews, and about none.
    """
    now = timezone.now()
    about = [*(each for each in entries if each.planned_at <= now and not each.is_cancelled), None]
    url = reverse("admin:applications_application_scorecard", args=[application.pk])
    return [
        {
            "url": f"{url}?entry={entry.pk}" if entry else url,
            "about": _about(entry),
            "entry": entry,
        }
        for entry in about
        if (entry.pk if entry else None) not in sent_about
    ]


def _about(entry: HistoryEntry | None) -> str:
    """Return what a scorecard about `entry` is called."""
    return (
        f"{entry.name}, {format_datetime(entry.planned_at)}"
        if entry
        else gettext("Without an interview")
    )


def _shown(card: Scorecard) -> Context:
    assert card.sent_at
    return {
        "card": card,
        "author": person(card.author) if card.author else gettext("a deleted account"),
        "at": format_datetime(card.sent_at),
        "about": _about(card.entry),
    }


class ScorecardPages(ApplicationPages):
    """Writing a scorecard."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"scorecard": self.scorecard_view})

    def scorecard_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Show, save or send the own scorecard about the interview `entry`, or about none."""
        application = self.application_or_404(request, object_id, ADD)
        entry = None
        if sent_entry := request.GET.get("entry", ""):
            entry = HistoryEntry.objects.filter(
                application=application, pk__in=[as_id(sent_entry)]
            ).first()
            if entry is None:
                raise Http404
        card = Scorecard.of(request.user, application, entry)
        is_posted, is_draft = request.method == "POST", "draft" in request.POST
        criteria = Requisition.of(application.vacancy).criteria
        form = ScorecardForm(
            request.POST if is_posted else None, card=card, criteria=criteria, is_draft=is_draft
        )
        try:
            if card.sent_at:
                raise SentError
            if form.is_valid():
                card.recommendation = form.cleaned_data["recommendation"]
                card.scores, card.text = form.scores(), form.cleaned_data["text"]
                save_card(card=card, is_sent=not is_draft, at=timezone.now())
                log_access(request.user, Access.CHANGE, application.pk)
                text = (
                    gettext("The draft was saved.")
                    if is_draft
                    else gettext("The scorecard was sent.")
                )
                self.message(request, text, messages.SUCCESS)
                return self.back(request, application, "scorecards")
        except SentError:
            text = gettext("You sent this scorecard already. It is final.")
            self.message(request, text, messages.WARNING)
            return self.back(request, application, "scorecards")
        except (Application.DoesNotExist, HistoryEntry.DoesNotExist):
            raise Http404 from None
        log_access(request.user, Access.VIEW, application.pk)
        context = {
            **self.context(request, gettext("Scorecard")),
            "media": self.admin.media,
            "application": application,
            "about": _about(entry),
            "form": form,
            "back": self.page_of(request, application, "scorecards"),
        }
        template = "admin/applications/application/notes/scorecard.html"
        return TemplateResponse(request, template, context, status=422 if form.errors else 200)
