"""What a recruiter is asked who moves applications to a stage that needs a confirmation."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldBooleanWidget

from applications.mail import templates as mail
from applications.mail.stage_email import already_written, sent_at
from applications.models import Application, Interview, Reason, Stage
from applications.operations import Move
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.models import Vacancy


class MoveForm(forms.Form):
    """The reason, if `stage` asks for one, whether its email is sent, whether the coming interviews
    of the `applications` are cancelled, if it decides, and whether the vacancies `fills` are marked
    as filled. On a page that writes another email (`has_email`), that of the stage is not sent.
    """

    reason = forms.ModelChoiceField(
        Reason.objects.none(),
        label=_("Reason"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Applicants do not see it."),
    )
    no_email = forms.BooleanField(
        label=_("Send no email"), required=False, widget=UnfoldBooleanWidget
    )
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
        upcoming = Interview.objects.taking_place().filter(
            application__in=applications, planned_at__gt=timezone.now()
        )
        if stage.kind == Stage.Kind.OPEN or not upcoming.exists():
            del self.fields["cancels_interviews"]
        if fills:
            text = ngettext(
                "Mark “%(vacancy)s” as filled", "Mark %(count)d vacancies as filled", len(fills)
            )
            self.fields["is_filled"].label = text % {"vacancy": fills[0], "count": len(fills)}
        else:
            del self.fields["is_filled"]
        if stage.email is None or has_email:
            del self.fields["no_email"]
        if stage.asks_reason == Stage.AsksReason.NEVER:
            del self.fields["reason"]
            return
        reasons = Reason.objects.filter(kind=stage.kind, is_active=True)
        field: Any = self.fields["reason"]
        field.queryset = reasons
        # Without any reason, nobody could be moved.
        field.required = stage.asks_reason == Stage.AsksReason.MUST and reasons.exists()

    def move(self, request: UserRequest, *, at: datetime) -> Move:
        """Return what was chosen. Requires `is_valid()`."""
        data = self.cleaned_data
        return Move(
            stage=self.stage,
            author=request.user,
            at=at,
            reason=data.get("reason"),
            sends_email="no_email" in data and not data["no_email"],
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
    if stage.email is None:
        return {}
    people = list(people)
    written = already_written(stage, [each.pk for each in people])
    previews: dict[str, dict[str, Any]] = {}
    left_out: dict[str, list[Application]] = {"withdrawn": [], "unreached": [], "written": []}
    for each in people:
        if each.pk in written:
            left_out["written"].append(each)
        elif each.withdrawn_at:
            left_out["withdrawn"].append(each)
        elif not each.address:
            left_out["unreached"].append(each)
        else:
            code = mail.language_of(stage.email, each.language)
            if code not in previews:
                email = mail.email_from(
                    stage.email, each, language=code, base_url=base_url(request)
                )
                name = gettext(LANGUAGES[code])
                previews[code] = {"code": code, "language": name, "email": email, "count": 0}
            previews[code]["count"] += 1
    return {
        "stage_emails": list(previews.values()),
        "stage_email_at": format_datetime(sent_at(stage, at=timezone.now())),
        "left_out": left_out,
    }
