"""The menu: the daily work, and the settings, folded."""

import re

import pytest

from tests.applications.admin.conftest import staff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_roles")]


def menu(client, address):
    """Return the items above the settings, whether these are open, and their items."""
    [text] = re.findall('id="nav-sidebar-apps"(.*?)</nav>', client.get(address).text, re.DOTALL)
    above, tag, below = re.split('<details class="menu-settings"([^>]*)>', text)
    names = [re.findall(r"</span><span>([^<]+)</span>", part) for part in (above, below)]
    return names[0], "open" in tag, names[1]


def test_recruiter_sees_daily_work_and_no_words_of_developers():
    daily, is_open, settings = menu(staff("rita"), "/admin/")

    assert daily == [
        "Start",
        "Vacancies",
        "Applications",
        "Candidates",
        "Interviews and tasks",
        "Emails",
        "Reports",
    ]
    assert not is_open
    assert {"Application forms", "Email templates", "Stages"} <= set(settings)
    assert not {"Tokens", "API documentation", "Groups"} & set(settings)


def test_settings_are_open_on_a_page_of_theirs():
    assert menu(staff("rita"), "/admin/applications/stage/")[1]


def test_administrator_sees_access(admin_client):
    assert menu(admin_client, "/admin/")[2][-7:] == [
        "Tokens",
        "Integrations",
        "Webhooks",
        "API documentation",
        "Access log",
        "Users",
        "Groups",
    ]
