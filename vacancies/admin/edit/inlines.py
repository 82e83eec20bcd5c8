"""The inlines of a vacancy: its other recruiters and its attachments."""

from typing import Any
from urllib.parse import urlsplit

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobsite.admin.base import NamedRow
from jobsite.languages import site_language
from vacancies.admin.base import PartInline
from vacancies.models import Attachment, VacancyRecruiter


class RecruiterInline(PartInline):
    model = VacancyRecruiter
    fields = ("recruiter", "position")
    autocomplete_fields = ("recruiter",)
    verbose_name = _("recruiter")
    verbose_name_plural = _("other recruiters")
    tab_name = _("People")


class AttachmentForm(NamedRow):
    """An attachment. Its name defaults to the name of the file or the last part of the URL."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "name" in self.fields:
            self.fields["name"].required = False

    def clean(self) -> dict[str, object]:
        super().clean()
        data = self.cleaned_data
        if not data.get("name"):
            # a stored file has a random name
            upload = getattr(data.get("file"), "name", "") if "file" in self.changed_data else ""
            source = upload or self.initial.get("name") or urlsplit(data.get("url") or "").path
            data["name"] = source.rpartition("/")[2][:200] or self.nameless()
        return data

    @staticmethod
    def nameless() -> str:
        with translation.override(site_language()):  # stored, and read by all users
            return gettext("attachment")


class AttachmentInline(PartInline):
    model = Attachment
    form = AttachmentForm
    fields = ("file", "url", "name", "position")
    tab_name = _("Media")
