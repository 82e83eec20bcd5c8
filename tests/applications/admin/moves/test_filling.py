"""The last hire of a vacancy: what its confirmation and its message offer."""

import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.utils import timezone

from applications.models import MailTemplate, Stage
from applications.operations import Move, move
from tests.applications.admin.conftest import apply, group, staff
from tests.applications.admin.list.test_bulk_email import EMAILS
from tests.applications.admin.moves.test_bulk_move import MOVE, sent
from tests.applications.makers import make_stage
from tests.messages import messages_of
from vacancies.models import Requisition

pytestmark = pytest.mark.django_db
OTHERS = f"{EMAILS}others/"


@pytest.fixture
def hired(office):
    stage = make_stage("Hired", en="Hired")
    Stage.objects.filter(pk=stage.pk).update(kind=Stage.Kind.HIRED)
    return Stage.objects.get(pk=stage.pk)


def requests(office, hired):
    """Return, by page, a function that posts a hire with `values`."""
    template = MailTemplate.objects.get_or_create(
        name="Welcome", subject_en="Welcome", body_en="Hi."
    )[0]
    bulk = {"applications": sent(office.own), "stage": hired.pk}
    return {
        "list": lambda **values: office.anna.post(MOVE, bulk | values),
        "email": lambda **values: office.anna.post(
            EMAILS, bulk | {"template": template.pk} | values
        ),
    }


@pytest.mark.slow("opens many pages")
@pytest.mark.parametrize("where", ["list", "email"])
def test_last_hire_offers_to_mark_as_filled(office, hired, where):
    vacancy, post = office.own.vacancy, requests(office, hired)[where]
    others = [apply(vacancy, f"Zyx{n}", stage=office.new) for n in range(2)]
    apply(vacancy, "Gone", stage=office.new, withdrawn_at=timezone.now())
    apply(vacancy, "Rejected", stage=office.rejected)
    Requisition.objects.create(vacancy=vacancy, positions=2)
    offer = "Mark “Nurse” as filled"
    assert offer not in post().content.decode()
    Requisition.objects.update(positions=1)
    assert offer in post().content.decode()

    response = post(is_filled="on", confirmed="1")
    assert response.status_code == 302
    row = Requisition.objects.get()
    assert row.filled_at == row.updated_at == timezone.now()
    [entry] = LogEntry.objects.filter(object_id=vacancy.pk, content_type__model="vacancy")
    assert json.loads(entry.change_message)[0]["changed"]["fields"] == ["Filled"]
    [text] = [each for each in messages_of(response) if "filled" in each]
    assert text.startswith("“Nurse” is marked as filled. <a")
    assert f'{vacancy.pk}/unpublish/">Unpublish…</a>' in text
    assert f'{OTHERS}?vacancy={vacancy.pk}">Write to the 2 others…</a>' in text
    selected = office.anna.get(f"{OTHERS}?vacancy={vacancy.pk}").context["selection"]
    assert set(selected.seen) == {each.pk for each in others}


def test_message_says_so_also_if_it_is_not_marked(office, hired):
    vacancy = office.own.vacancy
    response = requests(office, hired)["list"](confirmed="1")
    [text] = [each for each in messages_of(response) if "filled" in each]
    assert text.startswith("Every position of “Nurse” is filled. <a")
    assert "Write to" not in text  # to nobody
    assert not Requisition.objects.exists()
    for values in ({"filled_at": timezone.now()}, {"is_for_open_applications": True}):
        move(type(office.own).objects.all(), Move(stage=office.new, author=None, at=timezone.now()))
        Requisition.objects.update_or_create(vacancy=vacancy, defaults={"filled_at": None} | values)
        response = requests(office, hired)["list"](confirmed="1", is_filled="on")
        found = [each for each in messages_of(response) if "filled" in each]
        assert found == [text], values  # that of the first request, which no page has shown


def test_earlier_hires_count_and_several_vacancies_are_marked_at_once(office, hired):
    first = office.own.vacancy
    Requisition.objects.create(vacancy=first, positions=2)
    second = apply(type(first).objects.create(title="Cook", brand=office.brand), stage=office.new)
    apply(first, "Earlier", stage=hired, created_at=timezone.now() - timedelta(days=9))
    data = {"applications": f"{sent(office.own)},{sent(second)}", "stage": hired.pk}
    assert "Mark 2 vacancies as filled" in office.anna.post(MOVE, data).content.decode()
    office.anna.post(MOVE, data | {"confirmed": "1", "is_filled": "on"})
    filled = Requisition.objects.exclude(filled_at=None).values_list("vacancy__title", flat=True)
    assert sorted(filled) == ["Cook", "Nurse"]


def test_nothing_is_offered_without_the_permission(office, hired):
    change_requisition = Permission.objects.get(codename="change_requisition")
    group("Recruiter").permissions.remove(change_requisition)
    post = requests(office, hired)["list"]
    assert "as filled" not in post().content.decode()
    response = post(confirmed="1", is_filled="on")
    assert not any("filled" in each for each in messages_of(response))
    assert not Requisition.objects.exists()
    group("Recruiter").permissions.add(change_requisition)


def test_page_for_the_others_asks_for_a_vacancy_of_an_own_brand(office):
    assert office.anna.get(OTHERS).status_code == 400
    assert office.anna.get(f"{OTHERS}?vacancy=x").status_code == 400
    foreign = office.anna.get(f"{OTHERS}?vacancy={office.foreign.vacancy_id}")
    assert (foreign.status_code, len(foreign.context["selection"])) == (200, 0)
    assert (
        staff("auditor", "Auditor").get(f"{OTHERS}?vacancy={office.own.vacancy_id}").status_code
        == 403
    )
    back = urlsplit(office.anna.get(f"{OTHERS}?vacancy={office.own.vacancy_id}").context["back"])
    assert back.query == f"vacancy__id__exact={office.own.vacancy_id}"
