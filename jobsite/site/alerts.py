"""The pages of job alerts: sign-up, confirmation, change, end (applications/alerts).

They have no session, so no CSRF token: what they do needs the token of the link, or sends an email.
"""

from functools import wraps
from typing import Any

from django.core.signing import BadSignature
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from applications.alerts import operations
from applications.alerts.queries import brand_of, in_words, read
from applications.mail.links import alert_of
from applications.mail.outbox import is_address, one_line
from applications.models import JobAlert
from applications.privacy import erase_alert
from forms_structure.structure import HONEYPOT
from jobsite.api.absolute_urls import base_url
from jobsite.api.problems import RETRY_AFTER, InvalidParameters
from jobsite.api.throttling import RateLimit
from jobsite.languages import site_language
from jobsite.site.filters import meant_parameters
from jobsite.site.hosts import Site, page_path
from jobsite.site.views import View, career_page, on_site, respond
from jobsite.unseen import visible

ATTEMPTS = "20/hour"  # for each client
ADDRESS, FREQUENCY = "address", "frequency"
Frequency = JobAlert.Frequency


def form_page(view: View) -> View:
    """A page with a form, in the language of its path.
    It is not stored, and its address goes nowhere.
    """

    @csrf_exempt
    @require_http_methods(["GET", "HEAD", "POST"])
    @on_site
    @wraps(view)
    def page(site: Site, language: str = "", **kwargs: Any) -> HttpResponseBase:
        with translation.override(language or site_language()):
            response = view(site, **kwargs)
        # not no-store: browsers then forget what was typed
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response["Referrer-Policy"] = "same-origin"
        response["X-Robots-Tag"] = "noindex"
        return response

    return page


def link(name: str, **arguments: str) -> str:
    """Return the path of a page in the active language."""
    return page_path(name, translation.get_language(), **arguments)


# --- Sign-up --------------------------------------------------------------------------------------


@form_page
def sign_up_page(site: Site) -> HttpResponse:
    """Show what an alert for the list with this query would tell, and ask for an address."""
    request = site.request
    if request.path_info != (own := link("alerts")):
        query = request.META.get("QUERY_STRING", "")
        return HttpResponsePermanentRedirect(f"{own}?{query}" if query else own)
    try:
        query, brand = brand_of(read(meant_parameters(request.GET)))
    except InvalidParameters as refusal:
        details = [error.detail for error in refusal.errors]
        return respond(site, "invalid.html", {"errors": details, "list": link("jobs")}, status=400)
    brand = site.brand or brand
    address = visible(request.POST.get(ADDRESS, ""))
    frequency = request.POST.get(FREQUENCY, Frequency.DAILY)
    limit, status, errors = RateLimit(ATTEMPTS), 200, dict[str, str]()
    if request.method == "POST":
        status, errors = _errors(request, limit, address, frequency)
        if not errors:
            alert = JobAlert(
                address=address,
                query=query,
                brand=brand,
                frequency=frequency,
                language=translation.get_language() or site_language(),
            )
            operations.sign_up(alert=alert, base_url=base_url(request), at=timezone.now())
            return redirect(link("alerts-sent"))
    end = f"?{request.GET.urlencode()}" if request.GET else ""
    site.path_in, site.query = lambda code: page_path("alerts", code), end
    context = {
        "employer": brand,
        "words": in_words(query, brand),
        "action": link("alerts") + end,
        "address": one_line(address),
        "frequency": frequency,
        "frequencies": Frequency.choices,
        "errors": errors,
        "honeypot": HONEYPOT,
    }
    response = respond(site, "alerts/alerts.html", context, status=status)
    if status == 429:
        response["Retry-After"] = str(int(limit.wait()))
    return response


def _errors(
    request: HttpRequest, limit: RateLimit, address: str, frequency: str
) -> tuple[int, dict[str, str]]:
    """Return the status and the errors, by field, of what was posted."""
    errors = {}
    if not is_address(address):
        errors[ADDRESS] = _("Enter one e-mail address, such as name@example.com.")
    if frequency not in Frequency.values:
        errors[FREQUENCY] = _("Choose one of these.")
    if request.POST.get(HONEYPOT):
        errors[""] = _("A hidden field was filled in. Send it once more.")
    if errors:
        return 422, errors
    if not limit.allow_client(request, "alerts"):
        text = _("There were too many attempts. Try again in %(minutes)s min.")
        return 429, {"": text % {"minutes": -(-int(limit.wait()) // 60)}}
    return 200, {}


@career_page
def sent(site: Site, language: str = "") -> HttpResponse:
    """Say what comes next: the same for every address."""
    with translation.override(language or site_language()):
        return respond(site, "alerts/alerts_sent.html", {"days": operations.UNCONFIRMED_FOR.days})


# --- With the link of an email --------------------------------------------------------------------


def _opened_by(token: str) -> JobAlert | None:
    """Return the alert, or None if it has ended. Raise Http404 for an invalid token."""
    try:
        return alert_of(token)
    except BadSignature:
        raise Http404 from None


def _ended(site: Site, status: int) -> HttpResponse:
    return respond(site, "alerts/alert_ended.html", {}, status=status)


def _page(
    site: Site, template: str, found: JobAlert, token: str, **context: object
) -> HttpResponse:
    context |= {
        "alert": found,
        "employer": found.brand,
        "words": in_words(found.query, found.brand),
        "frequencies": Frequency.choices,
        "unsubscribe": link("alert-unsubscribe", token=token),
    }
    return respond(site, template, context)


@form_page
def confirmation(site: Site, token: str) -> HttpResponse:
    """Show what the alert will tell, with a button: mail scanners open links, but post nothing."""
    if (found := _opened_by(token)) is None:
        return _ended(site, 404)
    if site.request.method == "POST":
        operations.confirm(found, at=timezone.now())
    elif found.confirmed_at is None:
        return _page(site, "alerts/alert_confirm.html", found, token)
    return redirect(link("alert", token=token))


@form_page
def alert(site: Site, token: str) -> HttpResponse:
    """Show what the alert tells, and change how often."""
    if (found := _opened_by(token)) is None:
        return _ended(site, 404)
    if found.confirmed_at is None:
        return redirect(link("alert-confirm", token=token))
    error = ""
    if site.request.method == "POST":
        frequency = site.request.POST.get(FREQUENCY, "")
        if frequency in Frequency.values:
            operations.set_frequency(found, frequency)
            return redirect(f"{link('alert', token=token)}?saved")
        error = _("Choose one of these.")
    is_saved = "saved" in site.request.GET
    response = _page(site, "alerts/alert.html", found, token, is_saved=is_saved, error=error)
    if error:
        response.status_code = 422
    return response


@form_page
def unsubscribe(site: Site, token: str) -> HttpResponse:
    """End the alert with one POST, which mail programs send too (RFC 8058), again and again."""
    found = _opened_by(token)
    if found and site.request.method != "POST":
        return _page(site, "alerts/alert_unsubscribe.html", found, token)
    if found:
        try:
            erase_alert(found)
        except OSError:  # it cannot be recorded, and is not deleted
            response = respond(site, "refused.html", {}, status=503)
            response["Retry-After"] = RETRY_AFTER
            return response
    return _ended(site, 200)
