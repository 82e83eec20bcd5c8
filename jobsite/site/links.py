"""The template tags of pages that are not of the career site too (`libraries` of TEMPLATES)."""

from django.template import Context, Library
from django.utils.translation import get_language

from jobsite.languages import site_language
from vacancies.models import BrandLink, Vacancy

register = Library()


@register.simple_tag(takes_context=True)
def site_links(context: Context) -> list[BrandLink]:
    """Return the links of the `employer` of the page, else of the brand that has its host, else of the site.
    A page without a request says that the database does not respond: it has none."""
    if "site" not in context:
        return []
    brand = context.get("employer") or context["site"].brand
    return BrandLink.shown(get_language() or site_language(), brand and brand.pk)


@register.simple_tag
def vacancy_page(vacancy: Vacancy) -> str:
    """Return the address of the page of `vacancy` in the active language."""
    return vacancy.url_in(get_language() or site_language())
