"""System checks of the content (manage.py check --deploy)."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Warning

from forms_structure.models import ConsentText
from jobsite.languages import site_language
from jobsite.ops.checks import register_content_check
from vacancies.models import Vacancy

PLACEHOLDER_HOST = re.compile(r"(^|\.)example(\.(com|org|net))?$")


@register_content_check
def consent_texts_are_own() -> list[CheckMessage]:
    """Report consent texts that are missing or link to a placeholder, once applicants can see them."""
    published = Vacancy.objects.published().order_by().values_list("brand", flat=True).distinct()
    brands: set[int | None] = {brand if settings.MULTI_BRANDING else None for brand in published}
    if not brands:
        return []
    hint = "Add a text under Consent texts in the admin, or on the page of the brand."
    newest = ConsentText.objects.newest()
    messages: list[CheckMessage] = [
        Warning(
            f"Applicants consent to a placeholder: {text} links to {text.statement_url}.",
            hint=hint,
            id="jobsite.W014",
        )
        for (brand, _language), text in newest.items()
        if brand in (None, *brands)  # not one that was deleted
        and PLACEHOLDER_HOST.search(urlsplit(text.statement_url).hostname or "")
    ]
    language = site_language()
    if any(newest.keys().isdisjoint({(brand, language), (None, language)}) for brand in brands):
        messages.append(
            Warning(
                "Applicants consent to the default text, which has no privacy statement.",
                hint=hint,
                id="jobsite.W014",
            )
        )
    return messages
