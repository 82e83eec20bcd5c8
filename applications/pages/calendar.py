"""The address at which the calendar of a colleague reads their interviews, and the page that gives
it.

The calendar has names of applicants: programs read it again, and so follow erasures, unlike an
email.
"""

import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from applications.mail.calendars import FeedEvent, feed
from applications.mail.links import absolute
from applications.mail.outbox import as_body, one_line
from applications.mail.preferences import language_of, may_have_calendar
from applications.models import CalendarFeed, Interview
from applications.pages.access import signed_in
from applications.querysets import of_visible
from jobsite.api.absolute_urls import base_url
from jobsite.types import UserRequest

BEFORE, AFTER = timedelta(days=30), timedelta(days=180)
NAMES = (
    "given_name",
    "family_name",
    "email",
    "user__username",
    "user__first_name",
    "user__last_name",
)
COLUMNS = (
    *(
        "uid",
        "sequence",
        "planned_at",
        "ends_at",
        "name",
        "place",
        "video_url",
    ),
    *(f"application__{name}" for name in NAMES),
)
READ_EVERY = timedelta(hours=1)  # how exactly `read_at` is kept


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def calendar_address(request: UserRequest) -> HttpResponse:
    """Offer an address; POST makes a new one, which ends the old one, or with `end` only ends it.
    It is shown once: only its digest is stored.
    """
    user = request.user
    if not may_have_calendar(user):
        return render(request, "403.html", status=403)  # in the language of the account
    address = ""
    if request.method == "POST":
        if "end" in request.POST:
            CalendarFeed.objects.filter(user=user).delete()
            return redirect("account-calendar")
        secret = secrets.token_urlsafe(32)
        values = {"digest": _digest(secret), "read_at": None}
        CalendarFeed.objects.update_or_create(user=user, defaults=values)
        address = absolute(reverse("calendar-feed", args=[secret]), base_url(request))
    context = {
        "heading": _("Calendar of your interviews"),
        "address": address,
        "feed": CalendarFeed.objects.filter(user=user).first(),
        "days": AFTER.days,
    }
    response = render(request, "registration/calendar.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
def calendar_feed(request: HttpRequest, secret: str) -> HttpResponse:
    """Send the interviews of the colleague with this address, as they are now. Respond with 404 if
    the address ended, or the account may not read applications any more.
    """
    found = CalendarFeed.objects.select_related("user").filter(digest=_digest(secret)).first()
    if found is None or not may_have_calendar(found.user):
        raise Http404
    now = timezone.now()
    if found.read_at is None or found.read_at < now - READ_EVERY:
        CalendarFeed.objects.filter(pk=found.pk).update(read_at=now)
    with translation.override(language_of(found.user)):
        text = feed(_events(found.user, base_url(request), now), at=now)
    response = HttpResponse(text, content_type="text/calendar; charset=utf-8")
    response["Cache-Control"] = "private, no-store"
    response["Content-Disposition"] = 'inline; filename="interviews.ics"'
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _events(user: User, base: str, now: datetime) -> Iterator[FeedEvent]:
    coming = Interview.objects.taking_place(since=now - BEFORE, until=now + AFTER)
    rows = of_visible(coming.with_colleague(user), user)
    related = rows.select_related("application__user").only(*COLUMNS)
    related = related.annotate(title=F("application__vacancy__title"))
    path = reverse("admin:applications_application_change", args=[0])
    title = _("Interview: %(vacancy)s")
    for each in related.order_by("planned_at", "pk"):
        application = each.application
        named = {"vacancy": f"{each.title}, {application.display_name}"}
        link = absolute(path.replace("/0/", f"/{application.pk}/"), base)
        yield FeedEvent(
            uid=each.uid,
            sequence=each.sequence,
            starts_at=each.planned_at,
            ends_at=each.ends_at,
            summary=one_line(title % named),
            description=as_body("\n".join(filter(None, (each.name, each.video_url, link)))),
            location=one_line(each.place or each.video_url),
        )


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
