"""System checks of the content (manage.py check --deploy)."""

import re
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Warning

from forms_structure.models import ConsentText
from jobsite.languages import site_language
from jobsite.ops.checks import register_content_check
from vacancies.models import Vacancy

PLACEHOLDER_HOST = re.compile(r"(^|\.)example(\.(com|org|net))?$")


@register_content_check
def consent_texts_are_own() -> list[CheckMessage]:
    """Report consent texts that are missing or link to a placeholder, once applicants can see them."""
    if not Vacancy.objects.published().exists():
        return []
    hint = "Add a consent text under Application forms in the admin."
    newest = {text.language: text for text in ConsentText.objects.order_by("version")}
    messages: list[CheckMessage] = [
        Warning(
            f"Applicants consent to a placeholder: {text} links to {text.statement_url}.",
            hint=hint,
            id="jobsite.W014",
        )
        for text in newest.values()
        if PLACEHOLDER_HOST.search(urlsplit(text.statement_url).hostname or "")
    ]
    if site_language() not in newest:
        messages.append(
            Warning(
                "Applicants consent to the default text, which has no privacy statement.",
                hint=hint,
                id="jobsite.W014",
            )
        )
    return messages
