"""Emails to colleagues who lost the account, the permission or the brand
before the email was sent.
"""

import pytest
from django.contrib.auth.models import Permission, User

from applications.mail.delivery import NOT_ALLOWED
from applications.models import Message
from tests.applications.mail.conftest import put, work
from tests.factories import make_brand, make_vacancy

pytestmark = pytest.mark.django_db


def test_colleague_who_lost_access_gets_no_email(delivery, clock, settings, at, mailoutbox):
    settings.IS_MAIL_SENT = True
    acme = make_brand()
    own, foreign = make_vacancy(brand=acme).pk, make_vacancy(brand=make_brand("Other")).pk
    names = ("nothing", "account", "staff", "permission", "brand", "one of two")
    an = {name: User.objects.create(username=name, is_staff=True) for name in names}
    for name, user in an.items():
        user.user_permissions.add(Permission.objects.get(codename="view_application"))
        user.brands.add(acme)
        vacancies = [own, foreign] if name == "one of two" else [own]
        put(f"{len(name)}{name[0]}@example.com", recipient=user, kind="digest", vacancies=vacancies)

    User.objects.filter(pk=an["account"].pk).update(is_active=False)
    User.objects.filter(pk=an["staff"].pk).update(is_staff=False)
    an["permission"].user_permissions.clear()
    an["brand"].brands.clear()
    work(delivery, clock)

    found = dict(Message.objects.values_list("recipient__username", "error"))
    assert found == dict.fromkeys(names, NOT_ALLOWED) | {"nothing": ""}
    assert [email.to for email in mailoutbox] == [["7n@example.com"]]
