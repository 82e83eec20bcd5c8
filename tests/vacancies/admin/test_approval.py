"""Publication with the approval of a second person (docs/decisions.md #188)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.applications.makers import signed_in
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, listed, opened, page, picture, run, saved, staff
from vacancies import dates
from vacancies.choices import State
from vacancies.exchange.importer import NEEDS_APPROVAL, VacancyImporter
from vacancies.exchange.sources import SourceRow
from vacancies.history.versions import record
from vacancies.media.orphans import orphans
from vacancies.models import Approval, Brand, Change, Vacancy, Version
from vacancies.operations import approval_decisions, options
from vacancies.operations.approval_requests import RequestConflictError
from vacancies.operations.save import Edit, save_content
from vacancies.statistics import counts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
DAY = timedelta(days=1)
EDITS = ("view_vacancy", "add_vacancy", "change_vacancy", "delete_vacancy")
DRAFT = {"status": "draft", "publish_from": None}
WAITING, APPROVED, SENT_BACK, WITHDRAWN, REPLACED = Approval.Outcome.values


@pytest.fixture
def ed(strict: Brand) -> Client:
    return staff("ed", *EDITS, brands=[strict])


@pytest.fixture
def lea(strict: Brand) -> Client:
    return staff("lea", *EDITS, "approve_vacancy", brands=[strict])


def user(name: str) -> User:
    return User.objects.get(username=name)


def make(brand: Brand, **values: Any) -> Vacancy:
    return make_vacancy(title="Nurse", brand=brand, **values)


def reread(vacancy: Vacancy) -> Vacancy:
    return Vacancy.objects.get(pk=vacancy.pk)


def url(vacancy: Vacancy, name: str = "approval") -> str:
    return f"{LIST}{vacancy.pk}/{name}/"


def told(response: Any) -> str:
    """Return the messages and the page of a response."""
    return f"{messages_of(response)} {response.content.decode()}"


def submit(client: Client, vacancy: Vacancy, **data: Any) -> Any:
    return client.post(url(vacancy, "submit"), data)


def decide(client: Client, vacancy: Vacancy, step: str, **data: Any) -> Any:
    """Open the page of the request, and press a button."""
    seen = client.get(url(vacancy)).context["seen"]
    return client.post(url(vacancy), {step: "1", "seen": seen, **data})


def outcomes(vacancy: Vacancy) -> list[str]:
    return list(
        Approval.objects.filter(vacancy=vacancy.pk).order_by("pk").values_list("outcome", flat=True)
    )


def buttons(client: Client, vacancy: Vacancy) -> list[str]:
    """Return the addresses of the publication actions that the page offers."""
    head = client.get(page(vacancy)).context["head"]
    others = {url(vacancy, name) for name in ("template", "application-form", "team", "delete")}
    others.add(vacancy.get_absolute_url())
    found = [each["url"] for each in (head["main"], *head["menu"]) if each]
    return [each for each in found if each not in others]


# --- two people ---


@pytest.mark.slow("opens several pages of the admin")
def test_second_person_publishes(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict, **DRAFT)
    assert buttons(ed, vacancy) == [
        url(vacancy, name) for name in ("submit", "archive", "duplicate")
    ]

    assert (
        messages_of(submit(ed, vacancy, note="Please read"))[-1]
        == "1 vacancy was submitted for approval."
    )
    assert (reread(vacancy).status, listed(lea, f"{LIST}?attention=approval")) == (
        "draft",
        {vacancy.pk},
    )
    assert buttons(ed, vacancy) == [url(vacancy, name) for name in ("archive", "duplicate")]
    shown = lea.get(url(vacancy)).content.decode()
    assert "Submitted by Ed on 2 Mar 2026, 09:30." in shown
    assert "Please read" in shown
    assert "Approve and publish" in shown

    assert (
        messages_of(decide(lea, vacancy, "approve", note="Fine"))[-1] == "The request was approved."
    )
    vacancy = reread(vacancy)
    assert (vacancy.state, vacancy.publish_from, vacancy.updated_at) == (State.PUBLISHED, NOW, NOW)
    version = Version.objects.latest("pk")
    assert (version.change, version.author) == (Change.PUBLISHED, user("lea"))
    steps = tuple(
        f"{done} on 2 Mar 2026, 09:30." for done in ("Submitted by Ed", "Approved by Lea")
    )
    for where in (page(vacancy), url(vacancy, "history")):
        shown = ed.get(where).content.decode()
        assert [text for text in (*steps, "Please read", "Fine") if text not in shown] == [], where
    assert listed(lea, f"{LIST}?attention=approval") == set()


@pytest.mark.slow("opens and saves the form several times")
def test_sending_back_needs_a_note(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict, **DRAFT)
    submit(ed, vacancy)

    refused = decide(lea, vacancy, "send_back")
    assert "Write what has to change." in told(refused)
    assert outcomes(vacancy) == [WAITING]

    decide(lea, vacancy, "send_back", note="Name the shifts")
    assert (reread(vacancy).status, outcomes(vacancy)) == ("draft", [SENT_BACK])
    text = ed.get(page(vacancy)).content.decode()
    assert "Sent back by Lea on 2 Mar 2026, 09:30." in text
    assert "Name the shifts" in text
    submit(ed, vacancy)
    assert outcomes(vacancy) == [SENT_BACK, WAITING]


def test_nobody_approves_the_own_request(strict: Brand, lea: Client) -> None:
    vacancy = make(strict, **DRAFT)
    root = signed_in(User.objects.create_superuser("root"))
    submit(root, vacancy)

    page_of_root = root.get(url(vacancy)).content.decode()
    assert "You submitted this request. Another person has to approve it." in page_of_root
    assert 'name="approve"' not in page_of_root
    for step in ("approve", "send_back"):
        decide(root, vacancy, step, note="x")
        assert outcomes(vacancy) == [WAITING]
    decide(lea, vacancy, "approve")
    assert outcomes(vacancy) == [APPROVED]


def test_who_changed_the_text_since_then_cannot_approve(
    ed: Client, lea: Client, strict: Brand
) -> None:
    vacancy = make(strict, **DRAFT)
    submit(ed, vacancy)
    assert saved(lea.post(page(vacancy), opened(lea, page(vacancy)) | {"title": "Head nurse"}))

    response = decide(lea, vacancy, "approve")
    assert "You changed the vacancy after it was submitted." in told(response)
    assert (reread(vacancy).status, outcomes(vacancy)) == ("draft", [WAITING])


def test_approval_is_of_what_the_approver_saw(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict, **DRAFT)
    submit(ed, vacancy)
    seen = lea.get(url(vacancy)).context["seen"]
    assert saved(ed.post(page(vacancy), opened(ed, page(vacancy)) | {"title": "Something else"}))

    response = lea.post(url(vacancy), {"approve": "1", "seen": seen})
    assert "changed after you opened this page. Read it again." in response.content.decode()
    assert outcomes(vacancy) == [WAITING]
    lea.post(url(vacancy), {"approve": "1", "seen": response.context["seen"]})
    assert (reread(vacancy).title, outcomes(vacancy)) == ("Something else", [APPROVED])


@pytest.mark.slow("opens several pages of the admin")
def test_only_an_approver_decides_by_a_known_button(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict, **DRAFT)
    submit(staff("other", *EDITS, brands=[strict]), vacancy)
    viewer = staff("viewer", "view_vacancy", brands=[strict])
    assert viewer.get(url(vacancy)).status_code == 200
    for step in ("approve", "send_back"):
        for client in (ed, viewer):
            response = client.post(url(vacancy), {step: "1", "note": "x"})
            assert (response.status_code, outcomes(vacancy)) == (403, [WAITING])
    for data in ({}, {"step": "approve"}, {"approve": "1", "note": "x" * 2001}):
        assert lea.post(url(vacancy), data).status_code == 200
        assert outcomes(vacancy) == [WAITING], data
    decide(ed, vacancy, "withdraw")
    assert outcomes(vacancy) == [WITHDRAWN]
    with pytest.raises(ValidationError):
        approval_decisions.approve(vacancy=vacancy, seen="", at=NOW, author=user("ed"))


@pytest.mark.slow("opens several pages of the admin")
def test_start_page_and_menu_count_the_requests(ed, lea, strict, monkeypatch):
    monkeypatch.setattr(counts, "MAX_COUNTED", 0)  # stored counts, which are older than the request
    vacancy = make(strict, **DRAFT)
    counts.update_counts(at=NOW)
    submit(ed, vacancy)
    url_of_list = f"{LIST}?attention=approval"
    badge = '<span class="menu-badge">1</span>'

    tile = ed.get("/admin/").context["attention"][0]
    assert tile == {"label": "Waiting for approval", "count": "1", "url": url_of_list}
    part = lea.get("/admin/").context["to_do"][0]
    assert (part.title, part.count, part.url) == ("Waiting for your approval", "1", url_of_list)
    assert [badge in client.get(page(vacancy)).content.decode() for client in (ed, lea)] == [
        False,
        True,
    ]
    decide(lea, vacancy, "approve")
    text = lea.get(LIST).content.decode()
    assert (badge in text, f'href="{url_of_list}"' in text) == (False, True)
    strict.requires_approval = False
    strict.save()
    assert f'href="{url_of_list}"' not in lea.get(LIST).content.decode()


# --- every way to publish ---


def test_closing_date_of_an_expired_vacancy_is_requested(
    ed: Client, lea: Client, strict: Brand
) -> None:
    vacancy = make(strict, publish_until=NOW - timedelta(minutes=5))
    data = opened(ed, page(vacancy)) | {"last_day": "2026-04-01", "title": "New title"}
    ed.post(page(vacancy), data)
    now = reread(vacancy)
    assert (now.title, now.publish_until) == ("New title", vacancy.publish_until)
    assert outcomes(vacancy) == [WAITING]
    decide(lea, vacancy, "approve")
    assert reread(vacancy).publish_until == dates.end_of_day(datetime(2026, 4, 1).date())


@pytest.mark.slow("opens and saves the form several times")
def test_scheduled_publication_is_approved_for_its_time(ed, lea, strict, time_machine):
    vacancy, late = make(strict, **DRAFT), make(strict, **DRAFT)
    for each in (vacancy, late):
        submit(ed, each, publish_from_0="2026-03-09", publish_from_1="10:00")
    decide(lea, vacancy, "approve")
    begin = datetime.fromisoformat("2026-03-09T10:00+00:00")
    assert (reread(vacancy).state, reread(vacancy).publish_from) == (State.SCHEDULED, begin)
    time_machine.move_to(NOW + 30 * DAY, tick=False)
    ed.force_login(user("ed"))
    lea.force_login(user("lea"))
    decide(lea, late, "approve")
    assert reread(late).publish_from == NOW + 30 * DAY


@pytest.mark.slow("opens many pages")
def test_incomplete_vacancy_cannot_be_submitted_or_approved(
    ed: Client, lea: Client, strict: Brand
) -> None:
    vacancy = make(strict, **DRAFT)
    submit(ed, vacancy)
    Vacancy.objects.update(description="", head_recruiter=None)
    decide(lea, vacancy, "approve")
    assert outcomes(vacancy) == [WAITING]
    decide(lea, vacancy, "withdraw")
    submit(ed, vacancy)
    assert (reread(vacancy).status, outcomes(vacancy)) == ("draft", [WITHDRAWN])


# --- changes of a public vacancy ---


@pytest.mark.slow("opens several pages of the admin")
def test_change_of_a_public_vacancy_waits(
    ed: Client, lea: Client, strict: Brand, regions: Any
) -> None:
    vacancy = make(strict)
    options.save_options(vacancy=vacancy, keyword="regions", pks=[regions[0].pk])
    record(vacancy, Change.EXTERNAL, author=None, at=NOW - DAY)
    before = Vacancy.objects.values().get()
    data = opened(ed, page(vacancy)) | {
        "title": "Head nurse",
        "regions": [regions[1].pk, regions[0].pk],
        "image": picture("a.png", "PNG"),
        "attachments-TOTAL_FORMS": "1",
        "attachments-0-url": "https://x.test/a.pdf",
        "attachments-0-name": "Folder",
    }
    assert saved(ed.post(page(vacancy), data))

    assert (Vacancy.objects.values().get(), Version.objects.count()) == (before, 1)
    assert not vacancy.attachments.exists()
    approval = Approval.objects.get()
    assert set(approval.changes) == {"title", "regions", "image", "attachments"}
    shown = lea.get(url(vacancy)).content.decode()
    assert "<ins>Head</ins>" in shown or "Head nurse" in shown
    decide(lea, vacancy, "approve")
    now = reread(vacancy)
    assert (now.title, now.image.name) == ("Head nurse", approval.changes["image"])
    assert [choice.option for choice in now.choices.order_by("position")] == [
        regions[1],
        regions[0],
    ]
    assert [(a.name, a.url) for a in now.attachments.all()] == [("Folder", "https://x.test/a.pdf")]
    assert now.publish_from == vacancy.publish_from
    assert Version.objects.latest("pk").change == Change.CHANGED


@pytest.mark.slow("opens many pages")
def test_closing_date_or_an_unpublished_text_changes_without_approval(
    ed: Client, strict: Brand
) -> None:
    vacancy = make(strict)
    more = {"last_day": "2026-04-01", "is_hot": "on"}
    assert saved(ed.post(page(vacancy), opened(ed, page(vacancy)) | more))
    assert (reread(vacancy).is_hot, outcomes(vacancy)) == (True, [])
    assert run(ed, "unpublish", [vacancy])[-1] == "1 vacancy was unpublished."
    assert saved(ed.post(page(vacancy), opened(ed, page(vacancy)) | {"title": "B"}))
    assert (reread(vacancy).title, outcomes(vacancy)) == ("B", [])


@pytest.mark.slow("opens many pages")
def test_second_change_is_added_to_the_first(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict)
    ed.post(page(vacancy), opened(ed, page(vacancy)) | {"title": "First"})
    third = staff("third", *EDITS, "approve_vacancy", brands=[strict])
    third.post(page(vacancy), opened(third, page(vacancy)) | {"location": "Ghent"})
    assert outcomes(vacancy) == [REPLACED, WAITING]
    assert Approval.objects.latest("pk").changes.keys() == {"title", "location"}
    ed_user = user("ed")
    ed_user.user_permissions.add(Permission.objects.get(codename="approve_vacancy"))
    decide(ed, vacancy, "approve")  # contains a change of Ed
    assert outcomes(vacancy) == [REPLACED, WAITING]
    decide(lea, vacancy, "approve")
    assert (reread(vacancy).title, reread(vacancy).location) == ("First", "Ghent")


@pytest.mark.slow("opens several pages of the admin")
def test_conflicting_changes_are_chosen_as_without_approval(
    ed: Client, lea: Client, strict: Brand
) -> None:
    vacancy = make(strict)
    third = staff("third", *EDITS, brands=[strict])
    ed.post(
        page(vacancy), opened(ed, page(vacancy)) | {"title": "Night nurse", "location": "Ghent"}
    )
    mine = opened(third, page(vacancy)) | {
        "title": "Head nurse",
        "location": "Ghent",
        "pay_note": "Bonus",
    }

    asked = third.post(page(vacancy), mine)

    assert (asked.status_code, outcomes(vacancy)) == (409, [WAITING])
    [row] = asked.context["overlaps"]
    assert [row["overlap"].mine, row["overlap"].theirs] == [["Head nurse"], ["Night nurse"]]
    assert (asked.context["people"], asked.context["waiting"]) == ("Ed", Approval.objects.get().pk)
    choice = {"_request": str(Approval.objects.get().pk), "_seen": "x"}
    old = third.post(page(vacancy), mine | choice | {"_choice-title": "mine", "_request": "0"})
    assert (old.status_code, outcomes(vacancy)) == (409, [WAITING])
    assert saved(third.post(page(vacancy), mine | choice | {"_choice-title": "mine"}))
    replaced, waiting = Approval.objects.order_by("pk")
    assert (replaced.outcome, replaced.changes["title"]) == (REPLACED, "Night nurse")
    assert waiting.changes == {"title": "Head nurse", "location": "Ghent", "pay_note": "Bonus"}
    assert lea.get(url(vacancy)).context["submitted_by"] == "Third, Ed"
    back = opened(ed, page(vacancy)) | {"title": "Nurses", "location": "Bruges"}
    choice = {"_request": str(waiting.pk), "_seen": "x", "_choice-title": "theirs"}
    assert saved(ed.post(page(vacancy), back | choice))  # the location is Ed's own
    assert Approval.objects.waiting().get().changes == waiting.changes | {"location": "Bruges"}


def test_other_writers_are_told_who_asked_for_another_value(ed: Client, strict: Brand) -> None:
    vacancy = make(strict)
    eva = User.objects.create_user("eva")
    save_content(vacancy, Edit({"title": "A", "location": "Ghent"}), author=eva, at=NOW)
    waiting = Approval.objects.get()
    text = "eva submitted another value for approval. Open the vacancy to choose."

    again = save_content(vacancy, Edit({"title": "A"}), author=user("ed"), at=NOW)
    assert (again.approval, Approval.objects.count()) == (waiting, 1)
    with pytest.raises(RequestConflictError) as caught:
        save_content(vacancy, Edit({"title": "B", "location": "Ghent"}), author=user("ed"), at=NOW)
    assert caught.value.message_dict == {"title": [text]}
    shown = ed.post(
        f"{LIST}import/",
        {"file": SimpleUploadedFile("v.csv", f"id,title\n{vacancy.pk},B".encode())},
    )
    [error] = shown.context["wrong"][0].errors
    assert (error.column, error.received, error.message) == ("Title", "B", text)
    assert save_content(vacancy, Edit({"title": "B"}), author=eva, at=NOW).approval  # the own one
    assert outcomes(vacancy) == [REPLACED, WAITING]


def test_moving_a_public_vacancy_into_the_brand_needs_approval(strict: Brand) -> None:
    vacancy = make(make_brand("Free"))
    root = signed_in(User.objects.create_superuser("root"))
    root.post(page(vacancy), opened(root, page(vacancy)) | {"brand": strict.pk})
    assert (reread(vacancy).brand.name, outcomes(vacancy)) == ("Free", [WAITING])


# --- without approval ---


def test_switched_off_approval_does_not_block(ed: Client, strict: Brand) -> None:
    vacancy = make(strict, **DRAFT)
    submit(ed, vacancy)
    Brand.objects.update(requires_approval=False)
    assert listed(ed, f"{LIST}?attention=approval") == set()
    assert "Its brand needs no approval." in told(submit(ed, vacancy))
    assert run(ed, "publish", [vacancy])[-1] == "1 vacancy was published."
    assert reread(vacancy).state == State.PUBLISHED


def test_only_who_manages_accounts_switches_approval(strict: Brand) -> None:
    where = f"/admin/vacancies/brand/{strict.pk}/change/"
    editor = staff("editor", "view_brand", "change_brand", brands=[strict])
    assert saved(editor.post(where, {"name": "Strict", "description": ""}))
    strict.refresh_from_db()
    assert strict.requires_approval
    admin = staff("admin", "view_brand", "change_brand", "change_user", brands=[strict])
    assert "requires_approval" in admin.get(where).content.decode()
    assert saved(admin.post(where, {"name": "Strict", "description": ""}))
    strict.refresh_from_db()
    assert not strict.requires_approval


# --- imports ---


def imported(vacancy_id: int, **values: Any) -> VacancyImporter:
    item = {"id": vacancy_id, "title": "Nurse", "brand": {"name": "Strict"}} | values
    item |= {"head_recruiter": {"name": "An"}, "description": "<p>Care</p>"}
    importer = VacancyImporter()
    importer.import_rows(
        [SourceRow("row 1", json.loads(json.dumps(item)), is_external=True, is_internal=False)]
    )
    return importer


def test_import_creates_drafts_and_changes_no_public_vacancy(strict: Brand) -> None:
    importer = imported(77)
    assert Vacancy.objects.get(pk=77).status == "draft"
    assert "publishes with approval only" in str(importer.report.drafts)

    vacancy = make(strict)
    importer = imported(vacancy.pk, title="Changed")
    assert (reread(vacancy).title, importer.report.refused) == ("Nurse", 1)
    assert NEEDS_APPROVAL.startswith("The vacancy is public")


# --- texts and files of requests ---


@pytest.mark.slow("opens and saves the form several times")
def test_change_that_was_sent_back_is_continued(ed: Client, lea: Client, strict: Brand) -> None:
    vacancy = make(strict)
    data = opened(ed, page(vacancy)) | {
        "title": "Head nurse",
        "attachments-TOTAL_FORMS": "1",
        "attachments-0-url": "https://x.test/a.pdf",
    }
    ed.post(page(vacancy), data)
    decide(lea, vacancy, "send_back", note="Shorter")
    again = f"{page(vacancy)}?changes={Approval.objects.get().pk}"
    assert f'href="{again}"' in ed.get(page(vacancy)).content.decode()

    assert ed.get(again).context["not_filled_in"] == ["Attachments"]
    data = opened(ed, again)
    assert data["title"] == "Head nurse"
    ed.post(again, data)
    assert Approval.objects.latest("pk").changes == {"title": "Head nurse"}
    other = make(strict)
    for wrong in ("x", "0", Approval.objects.latest("pk").pk):
        assert opened(ed, f"{page(other)}?changes={wrong}")["title"] == "Nurse"


@pytest.mark.slow("opens many pages")
def test_files_of_requests_are_kept_and_shown_to_the_brand(ed, strict, client):
    vacancy = make(strict)
    ed.post(page(vacancy), opened(ed, page(vacancy)) | {"image": picture("a.png", "PNG")})
    name = Approval.objects.get().changes["image"]
    assert name
    assert list(orphans(at=datetime(2190, 1, 1, tzinfo=UTC))) == []
    other = staff("other", *EDITS, brands=[make_brand("Other")])
    for each, status in ((ed, 200), (other, 404), (client, 404)):
        response = each.get(f"/media/{name}")
        assert response.status_code == status
        assert b"".join(response.streaming_content if response.streaming else [response.content])
