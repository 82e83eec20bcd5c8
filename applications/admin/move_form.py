"""What a recruiter is asked who moves applications to a stage that needs a confirmation."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from applications.models import Reason, Stage


class MoveForm(forms.Form):
    """The reason, if `stage` asks for one."""

    reason = forms.ModelChoiceField(
        Reason.objects.none(),
        label=_("Reason"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Applicants do not see it."),
    )

    def __init__(self, data: Any = None, *, stage: Stage, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        if stage.asks_reason == Stage.AsksReason.NEVER:
            del self.fields["reason"]
            return
        reasons = Reason.objects.filter(kind=stage.kind, is_active=True)
        field: Any = self.fields["reason"]
        field.queryset = reasons
        # Without any reason, nobody could be moved.
        field.required = stage.asks_reason == Stage.AsksReason.MUST and reasons.exists()

    @property
    def chosen(self) -> dict[str, Any]:
        """The arguments for `move`. Requires `is_valid()`."""
        return {"reason": self.cleaned_data.get("reason")}
