"""The pages of applicants: receipts by link, the account, withdrawal, export and deletion."""

import json
from datetime import timedelta
from urllib.parse import quote

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from applications import operations
from applications.models import (
    Access,
    AccessLog,
    Application,
    ApplicationTag,
    JobAlert,
    Message,
    Note,
    Participant,
    Stage,
    StageChange,
    Tag,
)
from applications.pages import account
from applications.submissions.links import receipt_path
from tests.applications.applicants import ADDRESS, make_anonymous, stages_of
from tests.applications.makers import (
    PASSWORD,
    make_application,
    make_stage,
    make_step,
    make_user,
    signed_in,
    stage_of_kind,
)
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db

ACTIONS = ("withdraw", "delete", "export", "account", "claim")
NEW = "een-heel-nieuw-geheim-8"
CHOSEN = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def mia(at):
    return make_user("mia", email="mia-at-work@example.org")


def text(response):
    return " ".join(response.content.decode().split())


def own(application, action=""):
    return f"/account/applications/{application.pk}{action and '/'}{action}"


# --- The link of a receipt -----------------------------------------------------------------------


def test_receipt_shows_what_was_stored(client, at, settings):
    stage = make_stage(en="Under review", nl="In behandeling")
    application = make_anonymous(stage=stage, vacancy=make_vacancy(title="A & <B>"), language="fr")
    make_step(application, "Talk", result="good")
    make_step(application, "Secret step", is_visible=False)
    Note.objects.create(application=application, text="zyxnote")
    make_anonymous("bob@example.org", vacancy=make_vacancy(title="Foreign"))

    page = text(client.get(receipt_path(application)))

    for expected in (
        "<h1>A &amp; &lt;B&gt;</h1>",
        "Under review",
        application.reference,
        "2 Mar 2026, 08:30",
        "Talk (good)",
        "<dt>First name</dt> <dd>Mia</dd>",
        "Ghent and &lt;b&gt;Leuven&lt;/b&gt;",
        "cv.pdf (1.2 KB)",
    ):
        assert expected in page, expected
    for hidden in ("Secret step", "zyxnote", "Foreign", "bob@"):
        assert hidden not in page
    assert AccessLog.objects.count() == 0  # it is of recruiters
    settings.APPLICATION_HISTORY = False
    response = client.get(receipt_path(application), headers={"Accept-Language": "nl"})
    assert (response["Content-Language"], "Talk (good)" in text(response)) == ("nl", False)
    # The answers as the form.
    for expected in ('<html lang="nl">', "In behandeling", '<div lang="fr">'):
        assert expected in text(response), expected


def test_button_verifies_the_mailbox_once_and_reading_links_changes_nothing(
    client, at, time_machine
):
    """Mail servers open links to check them."""
    application, other = make_anonymous(verified_at=None), make_anonymous(verified_at=None)
    link = receipt_path(application)

    before = list(Application.objects.values())
    page = text(client.get(link, headers={"Sec-Purpose": "prefetch"}))
    assert (application.vacancy.title in page, page.count("<button"), "Ghent" in page) == (
        True,
        1,
        False,
    )
    assert client.head(link).status_code == 200
    statuses = [client.get(f"{link}/{action}").status_code for action in ACTIONS]
    assert statuses == [200, 200, 200, 200, 405]
    assert list(Application.objects.values()) == before

    assert client.post(link)["Location"] == link
    time_machine.move_to(at + timedelta(days=1), tick=False)
    client.post(link)
    application.refresh_from_db()
    other.refresh_from_db()
    assert (application.verified_at, other.verified_at) == (at, None)
    assert "Ghent" in text(client.get(link))
    assert (User.objects.count(), Message.objects.count(), len(stages_of(application))) == (0, 0, 1)
    data = client.get(f"{link}/export").json()  # of this application only
    assert [each["reference"] for each in data["applications"]] == [application.reference]
    assert other.reference not in json.dumps(data)


def test_pages_of_a_link_are_private(client):
    link = receipt_path(make_anonymous())
    for path in (link, *(f"{link}/{action}" for action in ACTIONS)):
        for page in (client.get(path), client.get(path.replace(":", ":x", 1))):
            assert {"private", "no-store"} <= set(page["Cache-Control"].split(", ")), path
            assert page["Referrer-Policy"] == "strict-origin", path
            assert page["X-Robots-Tag"] == "noindex, nofollow", path
            assert "frame-ancestors 'none'" in page["Content-Security-Policy"], path


def test_invalid_link_opens_nothing(client, at, time_machine):
    application, bob = make_anonymous(), make_anonymous("bob@example.org")
    link = receipt_path(application)
    token = link.rpartition("/")[2]
    foreign = link.replace(application.reference, bob.reference)
    forged = [foreign, *(link.replace(token, each) for each in ("x", f"{token}x", "%00"))]
    time_machine.move_to(at + timedelta(days=31), tick=False)

    paths = ["", *(f"/{action}" for action in ACTIONS)]
    expired = [link + path for path in paths]
    for address in (*expired, *(each + path for each in forged for path in paths[:2])):
        for method in (client.get, client.post):
            response = method(address, CHOSEN)
            assert response.status_code == 404, address
            assert "This link has expired" in text(response), address
            assert application.reference not in text(response), address
    assert (Application.objects.count(), User.objects.count()) == (2, 0)


def test_receipt_shows_no_stage_under_embargo(client, at):
    application = make_anonymous(stage=make_stage(en="Received"))
    stage = make_stage("Rejected internally", en="Not selected", embargo_days=2)
    Stage.objects.filter(pk=stage.pk).update(kind="rejected")
    before = client.get(receipt_path(application)).content
    StageChange.objects.create(application=application, stage=stage, at=at)

    assert client.get(receipt_path(application)).content == before


# --- From the link to an account ------------------------------------------------------------------


def test_applicant_creates_an_account(client, at):
    application, other = make_anonymous(), make_anonymous()
    bob = make_anonymous("bob@example.org")
    page = text(client.get(receipt_path(application)))
    assert "There is 1 other application from mia@example.org." in page
    assert "Create an account" in page

    response = client.post(f"{receipt_path(application)}/account", CHOSEN)

    assert (response.status_code, response["Location"]) == (302, "/account/")
    user = User.objects.get()
    assert (user.username, user.check_password(NEW), user.is_staff) == (ADDRESS, True, False)
    assert set(Application.objects.of(user)) == {application, other}
    page = text(client.get("/account/"))
    assert (application.vacancy.title in page, other.vacancy.title in page) == (True, True)
    assert bob.vacancy.title not in page
    assert "This application is in your account." in text(client.get(receipt_path(application)))
    assert client.get("/v1/user/applications").json()["data"][0]["title"] == other.vacancy.title


def test_weak_password_creates_no_account(client, settings, at):
    path = f"{receipt_path(make_anonymous())}/account"
    for password, repeated, error in (
        ("", "", "This field is required."),
        (NEW, f"{NEW}x", "The two password fields didn’t match."),
        ("12345678", "12345678", "This password is entirely numeric."),
        ("mia@example.org", "mia@example.org", "The password is too similar to the"),
        ("password1", "password1", "This password is too common."),
    ):
        page = text(client.post(path, {"new_password1": password, "new_password2": repeated}))
        assert (error in page, 'role="alert"' in page) == (True, True), error
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "2/min"
    assert [client.post(path, {"new_password1": "x"}).status_code for _ in range(3)] == [
        200,
        200,
        429,
    ]
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "values", [{"email": "MIA@Example.org"}, {"username": ADDRESS}, {"is_active": False}]
)
def test_owner_of_an_account_is_asked_to_sign_in(client, values):
    application = make_anonymous()
    values = {"username": "mia", "email": ADDRESS} | values
    make_user(values.pop("username"), **values)
    path = receipt_path(application)

    page = text(client.get(path))
    assert "There is an account with your e-mail address." in page
    assert f'href="/account/login?next={quote(path)}"' in page
    assert f"{path}/account" not in page
    for method in (client.get, client.post):
        assert method(f"{path}/account", CHOSEN)["Location"] == path
    assert (User.objects.count(), Application.objects.get().user) == (1, None)


def test_applicant_signs_in_to_claim(client, mia):
    application, other, foreign = (
        make_anonymous(),
        make_anonymous(),
        make_anonymous("bob@example.org"),
    )
    path = receipt_path(application)

    assert client.post(f"{path}/claim")["Location"] == path  # without a session
    client.force_login(mia)
    assert "You are signed in as mia." in text(client.get(path))
    assert Application.objects.of(mia).count() == 0  # only after the button
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(mia)
    posts = [("claim", {}), ("account", CHOSEN), ("withdraw", {}), ("delete", {})]
    assert [strict.post(f"{path}/{action}", data).status_code for action, data in posts] == [
        403
    ] * 4
    assert strict.post("/account/delete", {"old_password": PASSWORD}).status_code == 403
    assert set(Application.objects.values_list("user", "withdrawn_at")) == {(None, None)}
    assert client.post(f"{path}/claim")["Location"] == "/account/"

    assert set(Application.objects.of(mia)) == {application, other}
    foreign.refresh_from_db()
    assert foreign.user is None


def test_application_in_an_account_is_managed_by_its_user_only(client, mia):
    """Its address can be that of somebody else, who got the link."""
    stage_of_kind("withdrawn")
    application = make_anonymous(stage=make_stage("Inbox"))
    operations.claim(proven=application, user=mia, at=application.created_at)
    path = receipt_path(application)
    stranger = signed_in(make_user("stranger"))

    for each in (client, stranger):
        page = text(each.get(path))
        assert "This application is in an account." in page
        assert [action for action in ACTIONS[:3] if f"{path}/{action}" in page] == []
        assert "mia-at-work" not in page
        for action in ("withdraw", "delete", "export"):
            assert each.get(f"{path}/{action}")["Location"] == path
            assert each.post(f"{path}/{action}")["Location"] == path
    stranger.post(f"{path}/claim")
    stranger.post(f"{path}/account", CHOSEN)
    assert (stages_of(Application.objects.get()), Application.objects.get().user) == (
        ["Inbox"],
        mia,
    )

    owner = signed_in(mia)
    assert f"{path}/withdraw" in text(owner.get(path))
    owner.post(f"{path}/withdraw")
    assert stages_of(application) == ["Inbox", "Withdrawn"]


# --- The account ----------------------------------------------------------------------------------


def test_account_lists_the_own_applications_only(client, mia, at, settings):
    for path in ("/account/", "/account/export", "/account/delete"):
        for method in (client.get, client.post):
            assert method(path)["Location"] == f"/account/login?next={path}"
    client.force_login(mia)
    for expected in ("There are no applications in your account.", "Open the link in the email"):
        assert expected in text(client.get("/account/"))

    stage = make_stage(en="In interviews", embargo_days=0)
    mine = make_anonymous(
        user=mia, stage=stage, vacancy=make_vacancy(title="Mine", status="unpublished")
    )
    make_step(mine, "Talk")
    make_step(mine, "Secret step", is_visible=False)
    imported = make_application(user=mia, vacancy=make_vacancy(title="Imported"))
    make_anonymous(mia.email, vacancy=make_vacancy(title="Unclaimed"))  # nobody proved the mailbox
    make_application(vacancy=make_vacancy(title="Foreign"))

    page = text(client.get("/account/"))
    for expected in ("Mine", "Imported", "In interviews", "Talk", mine.reference, own(imported)):
        assert expected in page, expected
    for hidden in ("Unclaimed", "Foreign", "Secret step"):
        assert hidden not in page
    page = text(client.get(own(mine)))  # as its receipt
    for expected in ("<dt>First name</dt> <dd>Mia</dd>", own(mine, "withdraw"), "Talk"):
        assert expected in page, expected
    assert receipt_path(mine).split(":")[0] not in page
    settings.APPLICATION_HISTORY = False
    assert [path for path in ("/account/", own(mine)) if "Talk" in text(client.get(path))] == []
    exported = client.get("/account/export").json()["applications"]
    assert [each["history"] for each in exported] == [[], []]


def test_many_applications_have_pages(mia, at, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(account, "PER_PAGE", 3)
    stage = make_stage()
    for number in range(7):
        vacancy = make_vacancy(title=f"Vacancy no. {number}")
        make_application(
            user=mia, stage=stage, vacancy=vacancy, created_at=at - timedelta(days=number)
        )
    client = signed_in(mia)

    def titles(query):
        page = text(client.get(f"/account/{query}"))
        return [n for n in range(7) if f"Vacancy no. {n}" in page]

    shown = {query: [0, 1, 2] for query in ("", "?page=1", "?page=x", "?page=-5&page=1")}
    shown |= {"?page=2": [3, 4, 5], "?page=3": [6], "?page=99999999999999999999": [6]}
    assert {query: titles(query) for query in shown} == shown
    with django_assert_max_num_queries(14) as one:
        client.get("/account/?page=3")
    with django_assert_max_num_queries(len(one)):
        client.get("/account/?page=2")  # three rows


def test_foreign_application_is_not_found(client, mia):
    make_anonymous(mia.email)
    foreign = [make_anonymous(user=make_user("owner")), *Application.objects.filter(user=None)]
    strange = signed_in(mia)

    for action in ("", "withdraw", "delete", "export"):
        path = own(foreign[0], action)
        assert client.get(path)["Location"] == f"/account/login?next={path}"
        absent = [f"/account/applications/{n}{action and '/'}{action}" for n in (0, 10**30)]
        answers = [
            strange.get(path) for path in [*(own(each, action) for each in foreign), *absent]
        ]
        answers += [strange.post(own(each, action)) for each in foreign]
        found = {(answer.status_code, answer.content) for answer in answers}
        assert found == {(404, answers[0].content)}, action
    assert (Application.objects.count(), Application.objects.filter(withdrawn_at=None).count()) == (
        2,
        2,
    )


# --- Interviews -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_by_link", [True, False])
def test_applicant_answers_an_invitation(client, mia, is_by_link, settings):
    settings.APPLICATION_HISTORY = False
    application = make_anonymous(stage=make_stage("Inbox"), **({} if is_by_link else {"user": mia}))
    client.force_login(mia)
    base = receipt_path(application) if is_by_link else own(application)
    start = timezone.now() + timedelta(days=1)
    times = {"planned_at": start, "ends_at": start + timedelta(hours=1), "zone": "Europe/Brussels"}
    mine = [
        make_step(application, name, uid=name, place=f"{name} place", **times | values)
        for name, values in (
            ("Coming", {}),
            (
                "Over",
                {"planned_at": start - timedelta(days=2), "ends_at": start - timedelta(days=1)},
            ),
            ("Cancelled", {"is_cancelled": True}),
            ("Hidden", {"is_visible": False}),
        )
    ]
    for each in mine:
        Participant.objects.create(entry=each, address=mia.email)
    page = text(client.get(base))
    assert [each.name for each in mine if f"{each.name} place" in page] == ["Coming"]
    answers = [{"interview": each.pk, "reply": "accepted"} for each in mine]
    wrong = [{"interview": mine[0].pk, "reply": "x"}, {"interview": "x"}, {}]
    found = [client.post(f"{base}/reply", data).status_code for data in (*answers, *wrong)]
    assert found == [302, 404, 404, 404, 404, 404, 404]
    assert "You accepted." in text(client.get(base))
    assert client.get(f"{base}/reply").status_code == 405
    assert list(Participant.objects.values_list("reply", flat=True)) == ["accepted", "", "", ""]


# --- Withdraw, export, delete ---------------------------------------------------------------------


@pytest.mark.parametrize("is_by_link", [True, False])
def test_applicant_withdraws_after_a_confirmation(client, mia, at, is_by_link, settings):
    settings.PUBLIC_BASE_URL = "https://jobs.example.org"
    stage_of_kind("withdrawn")
    application = make_anonymous(stage=make_stage("Inbox"), **({} if is_by_link else {"user": mia}))
    client.force_login(mia)
    base = receipt_path(application) if is_by_link else own(application)
    assert f"{base}/withdraw" in text(client.get(base))

    assert (client.get(f"{base}/withdraw").status_code, stages_of(application)) == (200, ["Inbox"])
    assert client.post(f"{base}/withdraw")["Location"] == base
    assert client.post(f"{base}/withdraw")["Location"] == base  # a double click

    page = text(client.get(base))
    assert (stages_of(application), Message.objects.count()) == (["Inbox", "Withdrawn"], 1)
    assert "<dt>Withdrawn</dt> <dd>2 Mar 2026, 09:30</dd>" in page
    assert f"{base}/withdraw" not in page


def test_decided_application_is_not_withdrawn(mia):
    application = make_anonymous(user=mia, stage=stage_of_kind("hired"))
    client = signed_in(mia)

    assert "/withdraw" not in text(client.get(own(application)))
    refused = client.post(own(application, "withdraw"))

    assert refused.status_code == 409
    assert '<p class="errors" role="alert">This application has a result.' in text(refused)
    assert (stages_of(application), Message.objects.count()) == (["Hired"], 0)


def test_download_has_what_the_applicant_sees(mia, at):
    application = make_anonymous(user=mia, stage=make_stage(en="Received"), rating=2)
    secret = make_stage("Secret stage", en="Not selected", embargo_days=2)
    StageChange.objects.create(application=application, stage=secret, at=at)
    Note.objects.create(application=application, text="zyxnote")
    make_step(application, "Secret step", is_visible=False)
    message = {"application": application, "to": ADDRESS, "language": "en", "subject": "Hello"}
    Message.objects.create(kind="template", body="sent body", state="sent", **message)
    Message.objects.create(kind="template", body="queued body", **message)
    Message.objects.create(
        kind="mention", body="to a colleague", state="sent", recipient=mia, **message
    )
    make_anonymous(mia.email)

    response = signed_in(mia).get("/account/export")

    assert response["Content-Disposition"] == 'attachment; filename="applications.json"'
    assert "no-store" in response["Cache-Control"]
    data = json.loads(response.content)
    assert (data["account"]["username"], "accesses" in data) == ("mia", False)
    [exported] = data["applications"]
    assert exported["statuses"] == [{"at": "2026-03-02 08:30:15+00:00", "status": "Received"}]
    assert exported["submission"]["values"]["first_name"] == "Mia"
    assert [(file["name"], file["size"]) for file in exported["submission"]["files"]] == [
        ("cv.pdf", 1234)
    ]
    assert [email["body"] for email in exported["emails"]] == ["sent body"]
    assert exported.keys().isdisjoint({"notes", "rating", "updated_at"})
    for hidden in ("zyxnote", "Secret", "Not selected", "queued body", "colleague"):
        assert hidden not in response.content.decode()
    assert not AccessLog.objects.filter(action=Access.EXPORT).exists()


@pytest.mark.parametrize("is_by_link", [True, False])
def test_applicant_deletes_one_application(client, mia, is_by_link):
    application, other = (make_anonymous(**({} if is_by_link else {"user": mia})) for _ in range(2))
    client.force_login(mia)
    base = receipt_path(application) if is_by_link else own(application)

    assert "the notes that we made about the application" in text(client.get(f"{base}/delete"))
    assert client.post(f"{base}/delete", follow=True).status_code == 200
    assert list(Application.objects.all()) == [other]
    assert client.post(f"{base}/delete").status_code == 404  # a double click
    assert User.objects.get() == mia


def test_applicant_deletes_the_account(mia, at, settings):
    make_anonymous(user=mia)
    left = make_anonymous(mia.email)
    proven = make_anonymous("mia@work.example", user=mia, verified_at=at)
    ApplicationTag.objects.create(
        application=proven, tag=Tag.objects.create(name="moved", folded="moved")
    )
    for address in (mia.email, proven.email, "other@example.org"):
        values = {
            "address": address,
            "address_folded": address,
            "language": "en",
            "frequency": "daily",
        }
        JobAlert.objects.create(ends_at=at + timedelta(days=1), **values)
    client, elsewhere = signed_in(mia), signed_in(mia)

    settings.AXES_FAILURE_LIMIT = 3
    assert "2 applications in your account" in text(client.get("/account/delete"))
    for wrong in ({}, {"old_password": ""}, {"old_password": "wrong"}):
        refused = client.post("/account/delete", wrong)
        assert (refused.status_code, User.objects.count()) == (200, 1)
        assert 'role="alert"' in text(refused)
    statuses = [
        client.post("/account/delete", {"old_password": f"no {n}"}).status_code for n in range(2)
    ]
    assert statuses == [200, 429]  # wrong passwords count as failed sign-ins
    assert client.post("/account/delete", {"old_password": PASSWORD}).status_code == 429
    assert User.objects.get() == mia
    AccessAttempt.objects.all().delete()
    done = client.post("/account/delete", {"old_password": PASSWORD}, follow=True)

    assert "Your data was deleted" in text(done)
    assert list(User.objects.all()) == []
    assert list(Application.objects.all()) == [left]
    assert [alert.address for alert in JobAlert.objects.all()] == ["other@example.org"]
    assert not Tag.objects.exists()
    for each in (client, elsewhere):
        assert each.get("/account/")["Location"].startswith("/account/login")


def test_deletion_that_cannot_be_recorded_is_a_503_and_deletes_nothing(
    client, mia, settings, tmp_path
):
    settings.ERASURE_LOG = str(tmp_path / "no such folder" / "erased")
    make_application(user=mia)
    page, reply = "/account/delete", {"old_password": PASSWORD}
    for response in (
        signed_in(mia).post(page, reply, headers={"Accept-Language": "nl"}),
        client.post(f"{receipt_path(make_anonymous())}/delete", headers={"Accept-Language": "nl"}),
    ):
        assert response.status_code == 503
        assert "op dit moment niet worden verwijderd. Er is niets verwijderd." in text(response)
    assert (Application.objects.count(), User.objects.filter(pk=mia.pk).exists()) == (2, True)

    settings.ERASURE_LOG = ""
    assert signed_in(mia).post(page, reply).status_code == 302


def test_account_without_a_password_or_of_staff(at):
    client = signed_in(User.objects.create_user("oidc", "oidc@example.org"))
    assert "old_password" not in text(client.get("/account/delete"))
    assert client.post("/account/delete")["Location"] == reverse("application-deleted")
    assert not User.objects.exists()

    for right in ("is_staff", "is_superuser"):
        client = signed_in(make_user(right, **{right: True}))
        assert "old_password" not in text(client.get("/account/delete"))
        refused = client.post("/account/delete", {"old_password": PASSWORD})
        assert (refused.status_code, "Nothing was deleted." in text(refused)) == (409, True)
    assert User.objects.count() == 2
