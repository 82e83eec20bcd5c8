"""Applications in the admin: access by brand, stage changes and the access log."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications import operations
from applications.admin.selection import Selection
from applications.models import AccessLog, Application, HistoryEntry, Stage, Status, Token
from applications.tokens import issue
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db

LIST = "/admin/applications/application/"
STEPS = "/admin/applications/historyentry/"
FOREIGN = "Zyxforeign"
SEEING = ("view_application", "change_application", "view_historyentry", "view_accesslog")


@pytest.fixture(autouse=True)
def stages(db):
    """Three stages, in place of those of the migration."""
    Stage.objects.all().delete()
    Status.objects.all().delete()
    for position, (name, label, embargo) in enumerate(
        (("New", "Received", 0), ("Rejected", "Not selected", 3), ("Interview", "In interviews", 0))
    ):
        status = Status.objects.create(label_en=label, label_nl=f"{label} (nl)")
        Stage.objects.create(name=name, status=status, position=position, embargo_days=embargo)


def staff(name, *permissions, brands=()):
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    user.brands.set(brands)
    client = Client()
    client.force_login(user)
    return client


def apply(name, brand="Acme", **values):
    user = User.objects.create_user(name, f"{name}@example.org", first_name=name.title())
    vacancy = make_vacancy(title=f"Job for {name}", brand=make_brand(brand), **values)
    return operations.receive(user=user, vacancy=vacancy, at=timezone.now() - timedelta(days=1))


def step(application, name="Talk", **values):
    planned = timezone.now() + timedelta(days=1)
    return HistoryEntry.objects.create(application=application, name=name, **{"planned_at": planned} | values)


@pytest.fixture
def own():
    return apply("jan")


@pytest.fixture
def foreign():
    application = apply(FOREIGN, brand="Other")
    step(application, name=f"{FOREIGN} talk")
    return application


@pytest.fixture
def anna(own):
    return staff("anna", *SEEING, brands=[own.vacancy.brand])


@pytest.fixture
def root():
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def page(application):
    return f"{LIST}{application.pk}/change/"


def change(application, **values):
    """Return the data that the form of an application posts."""
    latest = application.changes.last()
    steps = {"history-TOTAL_FORMS": 0, "history-INITIAL_FORMS": 0}
    return {"stage": latest.stage_id, "seen": latest.pk} | steps | values


# --- brand scoping -------------------------------------------------------------------------------------


def test_other_brands_are_hidden_everywhere(anna, own, foreign):
    for url in (LIST, f"{LIST}?q={FOREIGN[:5]}", f"{LIST}?vacancy__id__exact={foreign.vacancy_id}", STEPS):
        assertNotContains(anna.get(url), FOREIGN.title(), msg_prefix=url)
    for url in (page(foreign), f"{LIST}{foreign.pk}/history/", f"{LIST}{foreign.pk}/delete/"):
        answer = anna.get(url, follow=True)
        assertNotContains(answer, FOREIGN.title(), status_code=answer.status_code, msg_prefix=url)

    anna.post(page(foreign), change(foreign, stage=Stage.objects.last().pk))
    stage = Stage.objects.get(name="Rejected")
    applications = str(Selection.of(Application.objects.filter(pk__in=[own.pk, foreign.pk])))
    anna.post(f"{LIST}move/", {"applications": applications, "stage": stage.pk, "confirmed": "1"})
    assert [str(change) for change in foreign.changes.all()] == ["New"]
    assert own.changes.last().stage == stage


def test_recruiter_cannot_grant_access_to_other_brands(own, foreign):
    client = staff("anna", *SEEING, "view_brand", "change_brand", "view_vacancy", "change_vacancy")
    anna = User.objects.get(username="anna")
    anna.brands.add(own.vacancy.brand)
    brand = f"/admin/vacancies/brand/{foreign.vacancy.brand_id}/change/"
    vacancy = f"/admin/vacancies/vacancy/{foreign.vacancy_id}/change/"

    assert (
        client.get(brand).status_code == client.get(vacancy).status_code == 302
    )  # as if they were not there
    client.post(brand, {"name": "Other", "description": "", "url": "", "members": [anna.pk]})
    assert not foreign.vacancy.brand.members.exists()

    client.post(vacancy, {"title": "Mine", "status": "published", "brand": own.vacancy.brand_id})
    foreign.vacancy.refresh_from_db()
    assert foreign.vacancy.brand.name == "Other"

    mine = f"/admin/vacancies/vacancy/{own.vacancy_id}/change/"
    assertNotContains(client.get(f"/admin/vacancies/brand/{own.vacancy.brand_id}/change/"), "id_members")
    assertNotContains(client.get(mine), "id_brand")
    client.post(mine, {"title": "Mine", "status": "published", "brand": foreign.vacancy.brand_id})
    own.vacancy.refresh_from_db()
    assert own.vacancy.brand.name != "Other"


def test_tokens_need_access_to_every_brand(own):
    issue(user=own.user, lifetime=timedelta(days=1))
    url = "/admin/applications/token/"

    assertNotContains(staff("anna", "view_token").get(url), "jan")
    assertContains(staff("editor", "view_token", "work_for_every_brand").get(url), "jan")


def test_user_of_every_brand_sees_all(own, foreign):
    client = staff("editor", *SEEING, "work_for_every_brand")

    assertContains(client.get(LIST), FOREIGN.title())
    assertContains(client.get(STEPS), FOREIGN.title())
    assert client.get(page(foreign)).status_code == 200


def test_user_without_a_brand_sees_none(own, foreign):
    client = staff("new", *SEEING)

    assert list(client.get(LIST).context["cl"].result_list) == []
    assert client.get(page(own)).status_code == 302


def test_without_the_permission_everything_is_hidden(own):
    client = staff("other", "view_vacancy", "work_for_every_brand", brands=[own.vacancy.brand])

    for url in (LIST, page(own), STEPS, "/admin/applications/accesslog/", "/admin/applications/token/"):
        assert client.get(url).status_code == 403


# --- stages ------------------------------------------------------------------------------------


def test_stage_change_is_recorded_with_author_and_time(at, anna, own):
    interview = Stage.objects.get(name="Interview")

    anna.post(page(own), change(own, stage=interview.pk))

    recorded = own.changes.values_list("stage__name", "author__username", "at")
    assert list(recorded) == [("New", None, own.created_at), ("Interview", "anna", at)]
    own.refresh_from_db()
    assert own.updated_at == at


def test_save_without_a_stage_change_records_none(anna, own):
    anna.post(page(own), change(own, is_spontaneous="on"))

    assert own.changes.count() == 1
    assert Application.objects.get(pk=own.pk).is_spontaneous


def test_outdated_page_does_not_undo_a_stage_change(anna, own):
    stale = change(own)
    rejected, interview = (Stage.objects.get(name=name) for name in ("Rejected", "Interview"))
    rows = Application.objects.filter(pk=own.pk)
    operations.move(applications=rows, stage=rejected, author=None, at=timezone.now())

    anna.post(page(own), stale | {"is_spontaneous": "on"})
    assert [str(each) for each in own.changes.all()] == ["New", "Rejected"]

    refused = anna.post(page(own), stale | {"stage": interview.pk})
    assertContains(refused, "Moved to Rejected since you opened this page.")
    assert own.changes.count() == 2
    assertContains(refused, f'value="{own.changes.last().pk}"')  # so that saving again is meant

    anna.post(page(own), change(own, stage=interview.pk))
    assert [str(each) for each in own.changes.all()] == ["New", "Rejected", "Interview"]


def test_view_only_user_sees_the_stage(own):
    assertContains(staff("reader", "view_application", brands=[own.vacancy.brand]).get(page(own)), "New")


def test_page_shows_the_status_after_the_delay(anna, own):
    """Rejected and moved back during the delay: the applicant never sees the rejection."""
    for name in ("Rejected", "Interview"):
        rows, stage = Application.objects.filter(pk=own.pk), Stage.objects.get(name=name)
        operations.move(applications=rows, stage=stage, author=None, at=timezone.now())

    html = anna.get(page(own)).content.decode()

    shown = html[html.index("What the applicant sees") : html.index('id="stages"')]
    assert "In interviews" in shown
    assert "Not selected" not in shown


def test_bulk_move_reports_moved_and_unchanged(anna, own):
    second = apply("piet")
    interview = Stage.objects.get(name="Interview")
    rows = Application.objects.filter(pk=second.pk)
    operations.move(applications=rows, stage=interview, author=None, at=timezone.now())

    applications = str(Selection.of(Application.objects.filter(pk__in=[own.pk, second.pk])))
    chosen = {"applications": applications, "stage": interview.pk}
    answer = anna.post(f"{LIST}move/", chosen)

    assert messages_of(answer) == ["1 moved to Interview.", "1 was already in Interview."]
    assert own.changes.count() == second.changes.count() == 2
    assert [entry.object_id for entry in LogEntry.objects.all()] == [str(own.pk)]


def test_page_shows_what_the_applicant_sees(anna, own):
    step(own, name="Visible talk", is_visible=True)
    step(own, name="Secret talk")
    anna.post(page(own), change(own, stage=Stage.objects.get(name="Rejected").pk))

    html = anna.get(page(own)).content.decode()

    shown = html[html.index("What the applicant sees") : html.index('id="stages"')]
    assert "English: <strong>Received</strong>" in shown
    assert "Dutch: <strong>Received (nl)</strong>" in shown
    assert "Not selected" in shown[shown.index("From ") :]  # when the embargo ends
    assert "Visible talk" in shown
    assert "Secret talk" not in shown


def test_interview_is_scheduled_on_the_application_page(at, anna, own):
    new = {
        "history-TOTAL_FORMS": 1,
        "history-0-name": "Talk",
        "history-0-planned_at_0": "2026-03-09",
        "history-0-planned_at_1": "10:00:00",
        "history-0-result": "",
        "history-0-is_visible": "on",
        "history-0-application": own.pk,
    }

    assert anna.post(page(own), change(own, **new)).status_code == 302
    assert list(own.history.values_list("name", "is_visible", "updated_at")) == [("Talk", True, at)]


def test_interviews_and_tasks_are_a_calendar(at, anna, own):
    for name, days in (("Later", 3), ("Past", -3), ("Sooner", 1)):
        step(own, name=name, planned_at=at + timedelta(days=days))

    def names(query=""):
        return [row.name for row in anna.get(STEPS + query).context["cl"].result_list]

    assert names() == ["Sooner", "Later"]
    assert names("?when=past") == ["Past"]
    assert names("?when=all") == ["Past", "Sooner", "Later"]


# --- the log and the tokens --------------------------------------------------------------------


def test_every_view_and_change_is_logged(anna, own, foreign):
    anna.get(LIST)
    anna.get(page(own))
    anna.get(page(foreign))
    anna.post(page(own), change(own))
    anna.get(f"{LIST}{own.pk}/history/")

    entries = AccessLog.objects.order_by("pk").values_list("actor__username", "application", "action")
    assert list(entries) == [("anna", own.pk, kind) for kind in ("view", "change", "view")]


def test_access_log_is_read_only(anna, own, root):
    anna.get(page(own))
    entry = AccessLog.objects.get()

    assert root.get("/admin/applications/accesslog/").status_code == 200
    for path in ("add/", f"{entry.pk}/delete/", f"{entry.pk}/change/"):
        assert root.post(f"/admin/applications/accesslog/{path}", {"post": "yes"}).status_code == 403
    assert AccessLog.objects.get() == entry


def test_deleting_a_token_revokes_it(client, own, root):
    token, text = issue(user=own.user, lifetime=timedelta(days=1))
    bearer = {"Authorization": f"Bearer {text}"}
    assert client.get("/v1/user/applications", headers=bearer).status_code == 200

    listed = root.get("/admin/applications/token/")
    root.post(f"/admin/applications/token/{token.pk}/delete/", {"post": "yes"})

    assertNotContains(listed, text)
    assert not Token.objects.exists()
    assert client.get("/v1/user/applications", headers=bearer).status_code == 401


def test_application_cannot_be_added_or_deleted_by_hand(own, root):
    assert root.get(f"{LIST}add/").status_code == 403
    assert root.post(f"{LIST}{own.pk}/delete/", {"post": "yes"}).status_code == 403
    root.post(LIST, {"action": "delete_selected", "_selected_action": [own.pk], "post": "yes"})
    assert Application.objects.exists()


def test_stage_in_use_cannot_be_deleted_and_status_needs_a_text(own, root):
    stage = Stage.objects.first()

    root.post(f"/admin/applications/stage/{stage.pk}/delete/", {"post": "yes"})
    empty = root.post("/admin/applications/status/add/", {})

    assert Stage.objects.filter(pk=stage.pk).exists()
    assertContains(empty, "Enter the text in at least one language.")


def test_list_offers_a_stage_whose_name_has_a_percent_sign(anna):
    """Django formats action labels with %."""
    names = dict(zip(Stage.objects.in_bulk(), ("50% done", "%(name)s", "100%"), strict=True))
    for pk, name in names.items():
        Stage.objects.filter(pk=pk).update(name=name)

    page = anna.get(LIST)

    for pk, name in names.items():
        assertContains(page, f'<option value="move_to_{pk}">Move to: {name}</option>', html=True)
