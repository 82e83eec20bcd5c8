"""The page where users choose which emails they receive."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from applications.mail.preferences import KINDS
from applications.models import EmailLanguage, EmailOptOut
from tests.applications.makers import signed_in

pytestmark = pytest.mark.django_db
MINE = "/admin/applications/message/mine/"


def staff(name, *rights):
    user = User.objects.create_user(name, email=f"{name}@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return user


def refused(user):
    return sorted(EmailOptOut.objects.filter(user=user).values_list("kind", flat=True))


def test_user_switches_kinds_off_and_on():
    an = User.objects.create_superuser("an", email="an@example.com")
    client, other = signed_in(an), staff("bo", "view_vacancy")
    EmailOptOut.objects.create(user=other, kind="closing")

    html = client.get(MINE).content.decode()
    assert [html.count(f'value="{kind}" checked') for kind in KINDS] == [1] * len(KINDS)
    others = [
        "closing",
        "consent",
        "decision",
        "interview",
        "mention",
        "opinion",
        "reminder",
        "scorecard",
        "stale",
        "webhook",
    ]
    client.post(MINE, {"kinds": ["digest", "approval"], "language": "nl"})
    assert refused(an) == others
    assert EmailLanguage.objects.get().language == "nl"
    client.post(MINE, {"kinds": ["digest", "approval"], "language": "nl"})  # a second click
    assert refused(an) == others
    client.post(MINE, {"kinds": list(KINDS), "language": "en"})
    assert (refused(an), refused(other)) == ([], ["closing"])


def test_only_kinds_that_the_user_could_receive_are_offered():
    an = staff("an", "view_vacancy", "change_vacancy")
    html = signed_in(an).get(MINE).content.decode()
    assert [kind.value for kind in KINDS if f'value="{kind}"' in html] == ["closing", "decision"]
    EmailOptOut.objects.create(user=an, kind="digest")
    signed_in(an).post(MINE, {"kinds": ["digest", "receipt", "x"]})
    assert refused(an) == ["closing", "decision", "digest"]


def test_page_is_for_colleagues_who_receive_emails():
    nobody = signed_in(staff("an"))
    assert (nobody.get(MINE).status_code, nobody.post(MINE, {"kinds": []}).status_code) == (
        403,
        403,
    )
    assert Client().get(MINE).status_code == 302
    reader = signed_in(staff("bo", "view_application"))
    for language in ("", "es", "nl\0"):
        assert reader.post(MINE, {"kinds": [], "language": language}).status_code == 400, language
    assert not EmailOptOut.objects.exists()
