"""Signs that nobody sees, in every text that a program checks."""

from pathlib import Path

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.test import Client

from applications.importer.rows import ApplicationRow
from applications.models import Application, JobAlert
from forms_structure import admin as builder
from jobsite.accounts.lockout import name
from jobsite.fields import WebURLField
from jobsite.text.search import search_words
from jobsite.unseen import CONTROL, DASHES, FILLERS, plain_number, visible
from tests.applications.makers import PASSWORD, make_user
from tests.applications.submissions.sending import VALUES, make_open_vacancy, send, version_of
from vacancies.models import Recruiter

NUMBERS = (
    "\u2800+32 470 12\U000e0100 34\x02 56\ufffc",
    "\u202a+32 470 12 34 56\u202c",
    "\u200e+32\u00a0470\u202f12\u200734\u200956",
    "\ufeff+32 470\u201312\u201234\u201156",
    "+32\u00ad 470 12\ufe0f 34 56\u2060",
)


def test_numbers_are_read_as_people_see_them():
    plain = {plain_number(number).replace("-", " ") for number in NUMBERS}
    assert plain == {"+32 470 12 34 56"}
    assert (
        visible("a\u2013b  é\u0301 \U0001f469\u200d\u2695\ufe0f\u3000")
        == "a\u2013b  é\u0301 \U0001f469\u2695"
    )


def test_form_js_has_the_same_rules():
    folder = Path(builder.__file__).parent.parent / "static" / "forms_structure" / "form"
    script = (folder / "fields.js").read_text()
    of_script = FILLERS.pattern[1:].replace(r"\U000e0100-\U000e01ef", r"\u{e0100}-\u{e01ef}")
    assert f"UNSEEN = /[\\p{{Cf}}{of_script}/gu" in script
    assert f"CONTROL = /{CONTROL.pattern}/g" in script
    assert f"DASHES = /{DASHES.pattern}/g" in script


@pytest.mark.django_db
def test_api_and_page_accept_what_address_books_copy(settings):
    settings.APPLY_PAGES = True
    vacancy = make_open_vacancy()
    for n, number in enumerate(NUMBERS[:2]):
        values = VALUES | {"email": f"\ufeffmia{n}@example.org\u200b", "phone": number}
        answer = send(vacancy, values | {"birthday": "2001\u201101\u201131"}, client=Client())
        assert answer.status_code == 201, answer.content
    values = VALUES | {"email": "mia9@example.org\u00a0", "phone": NUMBERS[0], "birthday": "\u200b"}
    page = Client().post(f"/apply/{vacancy.pk}", values | {"_version": version_of(vacancy)})
    assert page.status_code == 302
    rows = Application.objects.order_by("pk")
    assert {each.phone.replace("-", " ") for each in rows} == {"+32 470 12 34 56"}
    assert [each.email for each in rows] == [f"mia{n}@example.org" for n in (0, 1, 9)]
    assert rows[0].submission.values["birthday"] == "2001-01-31"
    assert "birthday" not in rows.last().submission.values
    refused = send(vacancy, VALUES | {"phone": "\u202a12a\u202c"}, client=Client())
    assert [each["pointer"] for each in refused.json()["errors"]] == ["/values/phone"]


@pytest.mark.django_db
def test_every_other_address_and_number_is_read_as_people_see_it(settings):
    settings.CAREER_SITE = True
    Client().post("/alerts", {"address": "\u202amia@example.org\u202c", "frequency": "daily"})
    assert JobAlert.objects.get().address == "mia@example.org"
    make_user("mia@example.org")
    typed = {"username": "\ufeffmia@example.org\u00a0", "password": PASSWORD}
    assert Client().post("/account/login", typed).status_code == 302
    assert (
        Client().post("/v1/auth/token", typed, content_type="application/json").status_code == 200
    )
    assert name(None, typed) == "mia@example.org"  # of the lockout
    field = site._registry[User].formfield_for_dbfield(User._meta.get_field("email"), None)
    assert field.clean("\u200emia@example.org\u200b") == "mia@example.org"
    assert (
        WebURLField().formfield().clean("\ufeffhttps://example.org\u200b") == "https://example.org"
    )
    recruiter = Recruiter(name="An", phone=NUMBERS[0])
    recruiter.full_clean()
    assert recruiter.phone == "+32 470 12 34 56"
    assert search_words("\ufeffnur\u00adse\u00a0night\u200b") == ["nurse", "night"]
    row = ApplicationRow(context={"changes": []})
    assert row.fields["email"].run_validation("\u202amia@example.org") == "mia@example.org"
    assert row.fields["phone"].run_validation(NUMBERS[0]) == "+32 470 12 34 56"
