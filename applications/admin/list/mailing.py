"""The text of one email to many applicants, in each language, with a preview."""

from collections.abc import Iterable
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from applications.admin.page.emails import EmailForm
from applications.mail import templates as mail
from applications.models import Application, MailTemplate
from jobsite.languages import LANGUAGES, supported


def written(brands: Iterable[int | None]) -> list[MailTemplate]:
    """Return the templates for `brands` that have a text in a language."""
    return [
        each
        for each in mail.templates_for(brands)
        if any(
            getattr(each, f"subject_{code}") and getattr(each, f"body_{code}") for code in LANGUAGES
        )
    ]


class Mailing:
    """One email to many: the text of `template` in each language, or what the recruiter made of it
    for this mailing (`<language>-subject` and `<language>-body` in `data`).
    """

    def __init__(self, template: MailTemplate, base_url: str, data: QueryDict) -> None:
        self.template, self.base_url = template, base_url
        self.forms = {
            code: EmailForm(data, prefix=code) for code in LANGUAGES if f"{code}-body" in data
        }

    def is_valid(self) -> bool:
        return all(form.is_valid() for form in self.forms.values())

    def language_of(self, application: Application) -> str:
        return mail.language_of(self.template, supported(application.language))

    def email_to(self, application: Application) -> mail.WrittenEmail:
        code = self.language_of(application)
        if form := self.forms.get(code):
            texts = form.cleaned_data
            return mail.email(
                **texts, application=application, language=code, base_url=self.base_url
            )
        return mail.email_from(self.template, application, language=code, base_url=self.base_url)

    def previews(self, people: list[Application]) -> list[dict[str, object]]:
        """Return the text in each language with the email to its first applicant, None if the text
        is invalid, and how many get it.
        """
        found: dict[str, dict[str, Any]] = {}
        for application in people:
            code = self.language_of(application)
            if code not in found:
                names = ("subject", "body")
                initial = {name: getattr(self.template, f"{name}_{code}") for name in names}
                form = self.forms.get(code) or EmailForm(initial=initial, prefix=code)
                is_valid = not form.is_bound or form.is_valid()
                found[code] = {
                    "language": gettext(LANGUAGES[code]),
                    "code": code,
                    "form": form,
                    "count": 0,
                    "applicant": application.display_name,
                    "email": self.email_to(application) if is_valid else None,
                }
            found[code]["count"] += 1
        return list(found.values())
