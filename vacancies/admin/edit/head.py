"""What the head of the pages of a vacancy shows:
its state, one main action, and a menu with the others.
"""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.admin.edit.template import ADD as ADD_TEMPLATE
from vacancies.admin.publication.pages import PublicationPages
from vacancies.choices import State
from vacancies.dates import closing_date_of
from vacancies.models import Integration, Requisition, Vacancy, Version


def head_of(admin: Any, request: UserRequest, vacancy: Vacancy) -> Context:
    """Return the context of head.html. `jobsite.office.vacancy` adds the candidates."""
    buttons = PublicationPages(admin).buttons(request, vacancy)
    main = next((button for button in buttons if button["is_main"]), None)
    menu = [button for button in buttons if button is not main]
    pages = {
        "template": (_("Save as template…"), "content_paste", ADD_TEMPLATE),
        "application_form": (_("Application form"), "dynamic_form", "forms_structure.view_form"),
    }
    for name, (label, icon, permission) in pages.items():
        if request.user.has_perm(permission):
            url = reverse(f"admin:vacancies_vacancy_{name}", args=[vacancy.pk])
            menu.append({"label": label, "icon": icon, "url": url})
    if vacancy.state == State.PUBLISHED:
        menu.append(
            {"label": _("View on site"), "icon": "open_in_new", "url": vacancy.get_absolute_url()}
        )
    filled_at = Requisition.of(vacancy).filled_at
    return {
        "vacancy": vacancy,
        "state": vacancy.state,
        "state_text": state_text(vacancy),
        "filled_at": filled_at and format_datetime(filled_at),
        "unpublish_url": next((each["url"] for each in buttons if each["name"] == "unpublish"), "")
        if filled_at
        else "",
        "source": source_of(vacancy),
        "main": main,
        # Last, apart from the others.
        "menu": sorted(menu, key=lambda each: bool(each.get("is_danger"))),
    }


def source_of(vacancy: Vacancy) -> str:
    """Return the name of the system that writes the vacancy, "" if none does."""
    versions = Version.objects.filter(vacancy=vacancy.pk).values("author")
    rows = Integration.objects.filter(is_enabled=True, user__in=versions)
    return rows.values_list("name", flat=True).first() or "" if vacancy.reference else ""


def state_text(vacancy: Vacancy) -> str:
    """Return the state of the vacancy in one sentence."""
    begin, end = vacancy.publish_from, vacancy.publish_until
    until = closing_date_of(vacancy)
    match vacancy.state:
        case State.SCHEDULED if begin:
            return _("Goes live on %(publish_from)s.") % {"publish_from": format_datetime(begin)}
        case State.PUBLISHED if end:
            return _("Public, closing date %(day)s.") % {"day": until}
        case State.PUBLISHED:
            return _("Public, no closing date.")
        case State.EXPIRED:
            return _("Was public until %(day)s.") % {"day": until}
        case State.ARCHIVED:
            return _("Not public and hidden from the list.")
    return _("Not public.")
