"""The warning where the law wants applicants to know the pay before an interview."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from applications.mail.outbox import Email, queue
from applications.models import Application, Message
from vacancies.facts.pay import states_pay
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db
PAY = {"pay_min": 3100, "pay_max": Decimal("3500.50"), "pay_currency": "EUR", "pay_period": "month"}
WARNING, UNTOLD = "The pay is not public, and no email told it yet.", "Not told yet"


def test_pay_is_stated_where_a_text_has_both_amounts_in_any_format():
    vacancy = Vacancy(**PAY)
    texts = {
        "€3,100 – €3,500.50 per month": True,
        "3.100 € – 3.500,50 € pro Monat": True,
        "de 3\u202f100 à 3\u202f500,5 euros": True,
        "CHF 3'100 to 3'500.50": True,
        "from 3100 to 3500.50": True,
        "from 3100": False,
        "31000 to 3500.50": False,
        "room 3100, box 3500": False,
        "": False,
    }
    assert {text: states_pay(vacancy.pay, text) for text in texts} == texts
    assert not states_pay(Vacancy().pay, "0 to 0")
    hourly = Vacancy(pay_min=30, pay_max=18, pay_currency="PLN", pay_period="hour")
    texts = {"On 30 March at 18:00": False, "18 – 30 zł": True, "PLN 18 to 30": True}
    assert {text: states_pay(hourly.pay, text) for text in texts} == texts
    noted = Vacancy(pay_note="5000 PLN gross")
    assert states_pay(noted.pay, "Pay:\n5000  PLN gross")
    assert not states_pay(noted.pay, "5000")


@pytest.mark.slow("opens many pages")
def test_recruiters_are_warned_until_the_pay_is_public_or_was_sent(office, settings):
    own = office.own
    vacancy = Vacancy.objects.filter(pk=own.vacancy_id)
    vacancy.update(**PAY, is_pay_public=False)
    vacancy.get().places.create(locality="Łódź", country="PL")
    change = own.changes.latest("pk").pk if own.changes.exists() else ""
    changelist = reverse("admin:applications_application_changelist")
    pages = [
        reverse(f"admin:applications_application_{name}", args=[own.pk])
        for name in ("interview", "change")
    ]

    def warned():
        interview, page = (office.anna.get(path).content.decode() for path in pages)
        times = office.anna.post(
            reverse("admin:applications_application_choose_times"),
            {"applications": f"{own.pk}:{change}"},
        )
        listed = office.anna.get(changelist, {"pay": "untold"}).context["cl"].queryset
        found = {
            WARNING in interview,
            WARNING in times.content.decode(),
            UNTOLD in page,
            own in listed,
        }
        assert len(found) == 1
        return found.pop()

    def email(body, **values):
        return queue(
            Email(
                kind=Message.Kind.TEMPLATE,
                application=own,
                to=own.address,
                language="en",
                subject="Talk",
                body=body,
                **values,
            ),
            at=timezone.now(),
        )

    assert Application.objects.pay_not_told().count() == 0  # no country asks for it
    settings.PAY_TOLD_IN = ["BE"]
    assert not warned()  # another country does
    settings.PAY_TOLD_IN = ["PL", "SK"]
    assert warned()
    for message, is_told in (
        (email("We look forward to it."), False),
        (email("€3,100 – €3,500.50", recipient=User.objects.get(username="anna")), False),
        (email("€3,100 – €3,500.50"), True),
    ):
        assert warned(), message.body  # queued is not sent
        Message.objects.filter(pk=message.pk).update(state="sent", finished_at=timezone.now())
        assert warned() is not is_told
    assert "Told on" in office.anna.get(pages[1]).content.decode()
    Message.objects.all().delete()
    assert warned()
    vacancy.update(is_pay_public=True)
    assert not warned()
    # Nothing to read there.
    vacancy.update(pay_min=None, pay_max=None, pay_currency="", pay_period="")
    assert warned()
