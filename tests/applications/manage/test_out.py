"""Applications out: what a system reads, what is gone, and what is never sent."""

import json
import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from jsonschema import Draft202012Validator

from applications.models import (
    Access,
    AccessLog,
    Application,
    ConsentRequest,
    Interview,
    Outgoing,
    StageChange,
)
from applications.privacy import retention
from applications.privacy.erasure import erase_application
from tests.applications.makers import (
    make_application,
    make_file,
    make_stage,
    make_step,
    make_submission,
    stage_of_kind,
)
from tests.factories import make_brand, make_vacancy
from tests.parallel import at_once
from tests.vacancies.feed.test_cursors import restored
from tests.vacancies.manage.client import Api, make_integration
from vacancies.feed.maintenance import delete_old
from vacancies.manage.views import document
from vacancies.models import IntegrationScope, Vacancy

# On PostgreSQL, a change is read when its transaction has ended.
pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "qqnever"


@pytest.fixture
def api() -> Api:
    make_brand("Acme")
    return Api(make_integration(scopes=(IntegrationScope.APPLICATIONS,)))


class Receiver:
    """Keeps a copy, as a payroll system would."""

    def __init__(self, api: Api, query: str = "") -> None:
        self.api, self.query, self.cursor = api, query, ""
        self.rows: dict[int, Any] = {}

    def read(self) -> None:
        more = True
        while more:
            since = f"since={self.cursor}&" if self.cursor else ""
            answer = self.api.get(f"applications?{since}{self.query}")
            assert answer.status_code == 200, answer.content
            body = answer.json()
            for each in body["data"]:
                if each.get("gone"):
                    self.rows.pop(each["id"], None)
                else:
                    self.rows[each["id"]] = each
            self.cursor, more = body["meta"]["cursor"], body["meta"]["more"]
            assert self.cursor in body["links"]["next"]


def make_sent(**values: Any) -> Application:
    vacancy = values.pop("vacancy", None) or make_vacancy(brand=make_brand("Acme"), reference="")
    stage = make_stage("Screened", en="In progress")
    application = make_application(
        vacancy=vacancy,
        stage=stage,
        given_name="Mia",
        family_name="Maes",
        email="mia@example.org",
        rating=5,
        reference="7K3QX9WD",
        language="en",
        **values,
    )
    submission = make_submission(application, {"first_name": "Mia"}, source="newsletter")
    make_file(submission, content=b"%PDF-1.4")
    application.notes.create(text=SECRET, author=None)
    make_step(
        application, "Talk", uid="1" * 32, ends_at=application.created_at + timedelta(hours=1)
    )
    make_step(application, "Off", uid="2" * 32, is_cancelled=True)
    make_step(application, f"Task {SECRET}")
    return application


def test_an_item_has_what_the_applicant_sent_and_sees(api):
    application = make_sent()
    [item] = api.get("applications").json()["data"]
    keys = (
        "id reference vacancy received_at withdrawn_at language names email phone stage status"
        " answers consent source interviews files"
    )
    assert " ".join(item) == keys
    assert item["names"] == {"given": "Mia", "family": "Maes"}
    assert item["stage"] == {"name": "Screened", "kind": "open"}
    assert item["status"] == "In progress"
    assert item["answers"][0] == {"field": "first_name", "label": "First name", "values": ["Mia"]}
    assert item["consent"]["version"] == 3
    assert [each["name"] for each in item["interviews"]] == ["Talk"]
    assert SECRET not in json.dumps(item)
    [file] = item["files"]
    assert (file["name"], file["kind"], file["scan"]) == ("cv.pdf", "pdf", "off")
    assert api.get(f"applications/{application.pk}").json()["data"] == item
    sent = api.get(f"applications/{application.pk}/files/1")
    assert (sent.content, sent["X-Content-Type-Options"]) == (b"%PDF-1.4", "nosniff")
    assert sent["Content-Disposition"].startswith("attachment")
    for path in (f"{application.pk}/files/2", "0", "9" * 30, f"{application.pk + 1}"):
        assert api.get(f"applications/{path}").status_code == 404
    accesses = AccessLog.objects.filter(application=application.pk, actor=api.integration.user)
    actions = list(accesses.order_by("pk").values_list("action", flat=True))
    assert actions == [Access.VIEW, Access.VIEW, Access.FILE]


def test_responses_are_as_the_document_says(api):
    content = document("https://jobs.example.com")

    def check(path: str, status: int, body: object) -> None:
        response = content["paths"][path]["get"]["responses"][str(status)]
        if "$ref" in response:
            response = content["components"]["responses"][response["$ref"].rpartition("/")[2]]
        [media] = response["content"].values()
        whole = media["schema"] | {"components": content["components"]}
        Draft202012Validator(whole).validate(body)

    many, one = "/v1/manage/{brand}/applications", "/v1/manage/{brand}/applications/{pk}"
    application = make_sent()
    make_application(vacancy=application.vacancy)  # without a submission
    first = api.get("applications").json()
    check(many, 200, first)
    check(one, 200, api.get(f"applications/{application.pk}").json())
    check(one, 404, api.get("applications/0").json())
    erase_application(application=application)
    changed = api.get(f"applications?since={first['meta']['cursor']}").json()
    assert {"gone", "id"} in [set(each) for each in changed["data"]]
    check(many, 200, changed)
    check(many, 400, api.get("applications?since=x").json())


def test_changes_follow_and_what_leaves_the_brand_is_gone(api):
    moved, erased = make_sent(), make_application(vacancy=make_vacancy(brand=make_brand("Acme")))
    receiver = Receiver(api)
    receiver.read()
    assert set(receiver.rows) == {moved.pk, erased.pk}
    receiver.read()
    other = make_vacancy(brand=make_brand("Other"))
    Application.objects.filter(pk=moved.pk).update(vacancy=other)
    pk = erased.pk
    erase_application(application=erased)
    new = make_application(vacancy=make_vacancy(brand=make_brand("Acme")))
    receiver.read()
    assert set(receiver.rows) == {new.pk}
    api.brand = "other"
    assert [each["id"] for each in api.get("applications").json()["data"]] == [moved.pk]
    assert api.get(f"applications/{pk}").status_code == 404


def test_a_vacancy_that_moves_to_another_brand_takes_its_applications_along(api):
    application = make_sent()
    own, theirs = Receiver(api), Receiver(Api(make_integration("Other"), "other"))
    make_brand("Other")
    own.read(), theirs.read()
    Vacancy.objects.filter(pk=application.vacancy_id).update(brand=make_brand("Other"))
    own.read(), theirs.read()
    assert (set(own.rows), set(theirs.rows)) == (set(), {application.pk})
    Vacancy.objects.filter(pk=application.vacancy_id).update(brand=make_brand("Third"))
    Vacancy.objects.filter(pk=application.vacancy_id).update(brand=make_brand("Acme"))
    own.read(), theirs.read()
    assert (set(own.rows), set(theirs.rows)) == ({application.pk}, set())


def test_an_interview_is_a_change_and_a_withdrawal_takes_the_answers(api):
    application = make_sent()
    receiver = Receiver(api)
    receiver.read()
    Interview.objects.filter(name="Talk").update(is_cancelled=True)
    receiver.read()
    assert receiver.rows[application.pk]["interviews"] == []
    Application.objects.filter(pk=application.pk).update(withdrawn_at=timezone.now())
    receiver.read()
    item = receiver.rows[application.pk]
    assert (bool(item["withdrawn_at"]), item["answers"], item["files"]) == (True, [], [])
    assert api.get(f"applications/{application.pk}/files/1").status_code == 404


def test_what_the_applicant_has_not_agreed_to_is_not_sent(api):
    application = make_sent()
    due = timezone.now() + timedelta(days=30)
    ConsentRequest.objects.create(
        application=application, purpose="application", text="Yes?", version=1, due_on=due
    )
    receiver = Receiver(api)
    receiver.read()
    assert receiver.rows == {}
    assert api.get(f"applications/{application.pk}").status_code == 404
    ConsentRequest.objects.update(answer="yes", answered_at=timezone.now())
    receiver.read()
    assert set(receiver.rows) == {application.pk}


def test_a_filter_gives_those_of_a_kind_and_says_who_left_it(api):
    hired = make_application(
        vacancy=make_vacancy(brand=make_brand("Acme")), stage=stage_of_kind("hired")
    )
    make_sent()
    receiver = Receiver(api, "filter[kind]=hired")
    receiver.read()
    assert set(receiver.rows) == {hired.pk}
    StageChange.objects.create(application=hired, stage=stage_of_kind("withdrawn"))
    Application.objects.filter(pk=hired.pk).update(updated_at=timezone.now())
    receiver.read()
    assert receiver.rows == {}
    for kind in ("", "all", "hired,rejected"):
        assert api.get(f"applications?filter[kind]={kind}").status_code == 400


def test_a_cursor_of_another_list_is_400_and_a_lost_one_410(api):
    make_sent()
    receiver = Receiver(api)
    receiver.read()
    for cursor in ("x", receiver.cursor[:-2], "é", ""):
        assert api.get(f"applications?since={cursor}").status_code == 400
    make_brand("Other")
    api.brand = "other"
    assert api.get(f"applications?since={receiver.cursor}").status_code == 400
    api.brand = "acme"
    delete_old(timezone.now() + timedelta(hours=1))  # of the feed of vacancies
    assert api.get(f"applications?since={receiver.cursor}").status_code == 200
    restored()
    lost = api.get(f"applications?since={receiver.cursor}")
    assert (lost.status_code, lost.json()["type"]) == (410, "cursor-expired")


def test_purge_forgets_old_changes_and_a_cursor_from_before(api, time_machine):
    make_sent()
    receiver = Receiver(api)
    receiver.read()
    count = Outgoing.objects.count()
    later = timezone.now() + timedelta(days=91)
    Outgoing.objects.update(at=timezone.now() - timedelta(days=1))
    retention.purge_credentials(now=later)
    assert count >= Outgoing.objects.count() == 1  # the last one
    time_machine.move_to(later)
    assert api.get(f"applications?since={receiver.cursor}").status_code in (401, 410)


def test_pages_of_the_walk_and_of_changes(api, monkeypatch):
    monkeypatch.setattr("applications.manage.reading.PAGE", 2)
    vacancy = make_vacancy(brand=make_brand("Acme"))
    pks = {make_application(vacancy=vacancy).pk for _ in range(5)}
    receiver = Receiver(api)
    receiver.read()
    assert set(receiver.rows) == pks
    Application.objects.update(phone="1")
    receiver.read()
    assert {each["phone"] for each in receiver.rows.values()} == {"1"}


@pytest.mark.slow("several writers at once")
@pytest.mark.each_database
def test_writers_erasures_and_an_open_transaction_lose_nothing(settings):
    settings.INTEGRATION_RATE = "off"
    stage = make_stage()
    brands = [make_brand("Acme"), make_brand("Other")]
    vacancies = [make_vacancy(brand=brand) for brand in brands]
    integration = make_integration()
    receivers = [Receiver(Api(integration, slug)) for slug in ("acme", "other")]

    def write(seed: int) -> None:
        chance = random.Random(seed)
        for n in range(12):
            with transaction.atomic():
                made = make_application(vacancy=chance.choice(vacancies), stage=stage)
                if connection.vendor == "postgresql" and chance.random() < 0.3:
                    with connection.cursor() as cursor:
                        cursor.execute("SELECT pg_sleep(0.2)")
            with transaction.atomic():
                if n % 3 == 0:
                    erase_application(application=made)
                elif n % 3 == 1:
                    rows = Application.objects.filter(pk=made.pk)
                    rows.update(vacancy=chance.choice(vacancies), phone=str(n))

    def follow(receiver: Receiver) -> None:
        for _ in range(15):
            receiver.read()

    errors = at_once(
        *(lambda n=n: write(n) for n in range(8)), *(lambda r=r: follow(r) for r in receivers)
    )
    assert [each for each in errors if each is not None] == []
    for receiver, brand in zip(receivers, brands, strict=True):
        receiver.read()
        rows = Application.objects.filter(vacancy__brand=brand)
        expected = {row.pk: row.phone or None for row in rows}
        assert {pk: item["phone"] for pk, item in receiver.rows.items()} == expected
