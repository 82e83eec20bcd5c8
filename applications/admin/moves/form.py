"""What a recruiter is asked who moves applications to a stage that needs a confirmation."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanWidget

from applications.admin.moves.defaults import MoveDefaults
from applications.mail import templates as mail
from applications.mail.stage_email import already_written, sent_at, templates_of
from applications.models import Application, Interview, Reason, Stage
from applications.operations import Move
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.models import Vacancy

EACH_MAX = 100  # applicants who can have a reason of their own


class MoveForm(forms.Form):
    """The reason, if `stage` or a brand asks for one, of all and of each; whether its email is
    sent, whether the coming interviews of the `applications` are cancelled, if it decides, and
    whether the vacancies `fills` are marked as filled. On a page that writes another email
    (`has_email`), that of the stage is not sent.
    """

    reason = forms.ModelChoiceField(
        Reason.objects.none(),
        label=_("Reason"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Applicants do not see it."),
    )
    sends_email = forms.BooleanField(
        label=_("Send the email"), required=False, widget=UnfoldBooleanWidget
    )
    needs_reason = False
    is_filled = forms.BooleanField(required=False, widget=UnfoldBooleanWidget)

    cancels_interviews = forms.BooleanField(
        label=_("Cancel the coming interviews"),
        required=False,
        widget=UnfoldBooleanWidget,
        help_text=_("The applicant and the colleagues get a cancellation at once."),
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        stage: Stage,
        applications: Iterable[int],
        has_email: bool = False,
        fills: Sequence[Vacancy] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(data, **kwargs)
        self.stage = stage
        applications = list(applications)
        defaults = MoveDefaults.of(stage, applications)
        upcoming = Interview.objects.taking_place().filter(
            application__in=applications, planned_at__gt=timezone.now()
        )
        if stage.kind == Stage.Kind.OPEN or not upcoming.exists():
            del self.fields["cancels_interviews"]
        elif stage.embargo_days:
            self.fields["cancels_interviews"].help_text = _(
                "The applicant and the colleagues get a cancellation when the applicant sees the "
                "status, not before. Interviews that take place until then are cancelled at once."
            )
        if fills:
            text = ngettext(
                "Mark “%(vacancy)s” as filled", "Mark %(count)d vacancies as filled", len(fills)
            )
            self.fields["is_filled"].label = text % {"vacancy": fills[0], "count": len(fills)}
        else:
            del self.fields["is_filled"]
        if has_email or not defaults.has_email:
            del self.fields["sends_email"]
        else:
            self.fields["sends_email"].initial = defaults.sends_email
        if defaults.asks_reason == Stage.AsksReason.NEVER:
            del self.fields["reason"]
        else:
            self._ask_reasons(applications, is_needed=defaults.asks_reason == Stage.AsksReason.MUST)

    def _ask_reasons(self, applications: list[int], *, is_needed: bool) -> None:
        rows = Reason.objects.filter(kind=self.stage.kind, is_active=True)
        self.reasons = {str(each.pk): each for each in rows}
        field: Any = self.fields["reason"]
        field.queryset = rows
        # Without any reason, nobody could be moved.
        self.needs_reason = is_needed and bool(self.reasons)
        if not 1 < len(applications) <= EACH_MAX:
            return
        choices = [("", _("as above")), *((pk, str(each)) for pk, each in self.reasons.items())]
        for pk in applications:
            self.fields[f"reason_{pk}"] = forms.ChoiceField(
                choices=choices, required=False, widget=UnfoldAdminSelectWidget
            )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        own = [name for name in self.fields if name.startswith("reason_")]
        is_lacking = not own or any(not data.get(name) for name in own)
        if self.needs_reason and is_lacking and not (data.get("reason") or self.errors):
            self.add_error("reason", self.fields["reason"].error_messages["required"])
        return data

    @property
    def shared(self) -> list[forms.BoundField]:
        """The fields that are not about one applicant."""
        return [field for field in self if not field.name.startswith("reason_")]

    def reasons_of(self, people: Iterable[Application]) -> list[tuple[Application, Any]]:
        """Return those of `people` who can have a reason of their own, with its field."""
        fields = ((each, f"reason_{each.pk}") for each in people)
        return [(each, self[name]) for each, name in fields if name in self.fields]

    def move(self, request: UserRequest, *, at: datetime) -> Move:
        """Return what was chosen. Requires `is_valid()`."""
        data = self.cleaned_data
        return Move(
            stage=self.stage,
            author=request.user,
            at=at,
            reason=data.get("reason"),
            reasons={
                int(name.removeprefix("reason_")): self.reasons[value]
                for name, value in data.items()
                if name.startswith("reason_") and value
            },
            sends_email=data.get("sends_email", False),
            cancels_interviews=data.get("cancels_interviews", False),
            base_url=base_url(request),
        )

    @property
    def marks_filled(self) -> bool:
        return self.cleaned_data.get("is_filled", False)


def email_context(request: UserRequest, stage: Stage, people: Iterable[Application]) -> Context:
    """Return the email of `stage` to `people` in each language, for stage_email.html: to the first
    applicant, and how many get it; and who gets none. `people` have what an email can mention.
    """
    people = list(people)
    templates = templates_of(stage, people)
    if not any(templates.values()):
        return {}
    written = already_written(stage, [each.pk for each in people])
    previews: dict[tuple[int, str], dict[str, Any]] = {}
    left_out: dict[str, list[Application]] = {"withdrawn": [], "unreached": [], "written": []}
    for each in people:
        if each.pk in written:
            left_out["written"].append(each)
        elif each.withdrawn_at:
            left_out["withdrawn"].append(each)
        elif not each.address:
            left_out["unreached"].append(each)
        elif template := templates[each.pk]:
            code = mail.language_of(template, each.language)
            if (template.pk, code) not in previews:
                email = mail.email_from(template, each, language=code, base_url=base_url(request))
                name = gettext(LANGUAGES[code])
                previews[template.pk, code] = {
                    "code": code,
                    "language": name,
                    "email": email,
                    "count": 0,
                }
            previews[template.pk, code]["count"] += 1
    return {
        "stage_emails": list(previews.values()),
        "stage_email_at": format_datetime(sent_at(stage, at=timezone.now())),
        "left_out": left_out,
    }
