"""System checks of the content (manage.py check --deploy)."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Warning
from django.http.request import split_domain_port, validate_host

from forms_structure.models import ConsentText
from jobsite.api.absolute_urls import is_main_host
from jobsite.languages import site_language
from jobsite.ops.checks import register_content_check
from vacancies.models import Brand, BrandLink, Vacancy

PLACEHOLDER_HOST = re.compile(r"(^|\.)example(\.(com|org|net))?$")


@register_content_check
def consent_texts_are_own() -> list[CheckMessage]:
    """Report consent texts that are missing or link to a placeholder, once
    applicants can see them.
    """
    published = Vacancy.objects.published().order_by().values_list("brand", flat=True).distinct()
    brands = set(published)
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


@register_content_check
def privacy_statement_is_linked() -> list[CheckMessage]:
    """Report a career site without a privacy statement: it takes addresses for job alerts."""
    links = BrandLink.shown(site_language()) if settings.CAREER_SITE else None
    if links is None or any(link.kind == BrandLink.Kind.PRIVACY for link in links):
        return []
    text = "The pages of the career site have no link to a privacy statement (GDPR, article 13)."
    return [Warning(text, hint="Add one under Links of brands in the admin.", id="jobsite.W042")]


@register_content_check
def hosts_of_brands_lead_here() -> list[CheckMessage]:
    """Report hosts of brands that are refused, or that show the main site."""
    messages: list[CheckMessage] = []
    if not settings.CAREER_SITE:
        return messages
    for brand in Brand.objects.exclude(host=""):
        if is_main_host(brand.host):
            messages.append(
                Warning(
                    f"The host of the brand {brand} is a name of PUBLIC_BASE_URL: it shows all "
                    "brands.",
                    hint="Enter another host on the page of the brand, or none.",
                    id="jobsite.W027",
                )
            )
        elif not validate_host(split_domain_port(brand.host)[0], settings.ALLOWED_HOSTS):
            messages.append(
                Warning(
                    f"ALLOWED_HOSTS does not contain {brand.host}, the host of the brand {brand}.",
                    id="jobsite.W026",
                )
            )
    return messages
