"""The page of a vacancy for people:
of a public one for everybody, else for the holder of a preview link.
"""

from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from forms_structure.api.v1 import serve
from forms_structure.models import Form
from forms_structure.rendering import form_context
from forms_structure.schema import submission_schema
from jobsite.api.absolute_urls import absolute
from jobsite.api.permissions import lacks_factor
from jobsite.fields import web_url
from jobsite.languages import text_languages
from jobsite.text.iso_names import country_name, language_name
from jobsite.types import JsonObject
from vacancies.access.previews import ends_at, opened_by
from vacancies.api.published import find_published
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.choices import Audience, State
from vacancies.dates import closing_date_of
from vacancies.exchange.columns import COLUMNS
from vacancies.facts.pay import pay_lines
from vacancies.fields import HtmlField, html_fields
from vacancies.history.diff import address_text, lines
from vacancies.history.versions import values_of
from vacancies.models import Filter, Vacancy, languages_of

TEXTS = [name for name in html_fields(Vacancy) if name != "short_description"]
IN_THE_TEMPLATE = {
    "is_hot",
    "is_permanent",
    "location",
    "work_place",
    "language",
    "video",
    "apply_url",
}
FACTS = [
    column
    for column in COLUMNS
    if column.name not in IN_THE_TEMPLATE
    and column.name in VacancySerializer.Meta.fields
    and not isinstance(column, HtmlField)
]
# Images may be on any host; everything else only on ours.
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'"
)


@xframe_options_sameorigin  # the page that publishes shows it
@require_safe
def preview(request: HttpRequest, token: str) -> HttpResponse:
    """Show the vacancy that `token` opens and its application form, from the
    API's representations.
    """
    vacancy = Vacancy.objects.with_related().with_form().filter(pk__in=[opened_by(token)]).first()
    if vacancy is None:
        response = render(request, "vacancies/preview_expired.html", status=404)
    else:
        response = render(request, "vacancies/preview.html", _context(request, vacancy, token))
    # The URL grants access: keep it from search engines, caches and linked sites.
    response["Referrer-Policy"] = "no-referrer"
    return _with_headers(response)


@require_safe
def page(request: HttpRequest, pk: str) -> HttpResponse:
    """Lead to the page of the published vacancy `pk`, or show it to those who may see it in the API
    if it has none: job sites have pages of their own. "View on site" of the admin leads here.
    """
    viewer = Request(request, authenticators=APIView().get_authenticators())
    vacancies = Vacancy.objects.with_related().with_form()
    try:
        vacancy = find_published(viewer, pk, vacancies, at=timezone.now())
    except NotFound:
        return _with_headers(render(request, "vacancies/not_public.html", status=404))
    if settings.CAREER_SITE and vacancy.is_external:
        return _with_headers(HttpResponsePermanentRedirect(absolute(request, vacancy.url)))
    return _with_headers(render(request, "vacancies/preview.html", _context(request, vacancy)))


def _with_headers(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    response["Content-Security-Policy"] = CSP
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _context(request: HttpRequest, vacancy: Vacancy, token: str = "") -> dict[str, object]:
    language = request.GET.get("language", "")
    language = language if text_languages() and language in languages_of(vacancy) else ""
    context = {"request": request, "preview": token or None, "language": language}
    item = VacancySerializer(vacancy, context=context).data
    address = reverse("v1:single-vacancy-detail", args=[vacancy.pk])
    asked = {"preview": token, "language": language}
    query = "&".join(f"{name}={value}" for name, value in asked.items() if value)
    return {
        "item": item,
        "facts": [(label, values) for label, values in _facts(vacancy, item) if any(values)],
        "video_url": web_url(item["video"] or ""),
        "work_place": vacancy.get_work_place_display(),  # type: ignore[attr-defined] # Django's
        "text_language": item["language"] if item["language"] != get_language() else "",
        # Texts are sanitised when they are written. The policy of this page (CSP) runs no inline
        # script.
        "lead": item["short_description"] or "",
        "texts": [
            (capfirst(field.verbose_name), item[field.name])
            for field in Vacancy._meta.fields
            if field.name in TEXTS and item.get(field.name)
        ],
        **_form(vacancy, absolute(request, f"{address}/form/schema"), is_preview=bool(token)),
        "state": vacancy.state,
        "is_shown": vacancy.state == State.PUBLISHED,
        "is_internal": vacancy.audience == Audience.INTERNAL,
        "missing": vacancy.missing_to_publish().values(),
        "until": ends_at(token) if token else None,
        "json_url": absolute(request, f"{address}?{query}" if query else address),
        "languages": [(code, language_name(code)) for code in item["languages"]]
        if len(item["languages"]) > 1
        else [],
        "shows_bar": token or _is_recruiter_of(vacancy, request),
    }


def _form(vacancy: Vacancy, address: str, *, is_preview: bool) -> dict[str, object]:
    """Return the application form, or where to apply. `address` is that of its JSON Schema."""
    sections, language = serve(form := vacancy.served_form, vacancy.brand_id)
    schema = submission_schema(sections, address=address)
    return {
        "form": form_context(sections, language=language),
        "form_data": {"sections": sections, "schema": schema, "language": language},
        "shows_form": is_preview and not vacancy.apply_url,  # nothing is sent: only recruiters know
        "apply_url": not is_preview and (vacancy.apply_url or _apply_page(vacancy, form)),
    }


def _facts(vacancy: Vacancy, item: JsonObject) -> Iterator[tuple[str, list[str]]]:
    """Yield the labels and lines of the facts. Those of columns are as in the history."""
    yield _("Places"), [address_text(place) for place in item["places"]]
    yield _("Countries for remote work"), [_joined([*map(country_name, item["remote_countries"])])]
    # These also say the employment types, in the words of the recruiters.
    for each in Filter.objects.all():
        yield each.label, [_joined(item[each.keyword] or "")]
    yield _("Pay"), pay_lines(item["pay"])
    yield _("Closing date"), [closing_date_of(vacancy)] if item["closes_at"] else []
    values = values_of(vacancy, (column.name for column in FACTS))
    for column in FACTS:
        yield str(capfirst(column.verbose_name)), lines(column.name, values[column.name])


def _apply_page(vacancy: Vacancy, form: Form | None) -> str:
    is_open = settings.APPLY_PAGES and vacancy.accepts_applications(form)
    return reverse("apply", args=[vacancy.pk]) if is_open else ""


def _is_recruiter_of(vacancy: Vacancy, request: HttpRequest) -> bool:
    """Whether the admin shows `vacancy` to the user of `request`."""
    user = request.user
    return (
        user.is_authenticated
        and user.is_staff
        and user.has_perm("vacancies.view_vacancy")
        and not lacks_factor(request)
        and Vacancy.objects.editable_by(user).filter(pk=vacancy.pk).exists()
    )


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
