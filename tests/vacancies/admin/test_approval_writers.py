"""Every way to write a vacancy of a brand that publishes with approval (docs/decisions.md #188):
none of them makes something public, and none loses what was written. The user has every permission.
"""

import csv
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from forms_structure.models import Form
from jobsite.accounts.roles import NAMES
from jobsite.accounts.roles import create as create_roles
from tests.applications.makers import signed_in
from tests.conftest import NOW
from tests.factories import make_brand
from tests.forms_structure.builder import STRUCTURE
from tests.messages import messages_of
from tests.vacancies.admin.forms import ADD, LIST, NO_ROWS, opened, page, run, staff, texts
from tests.vacancies.admin.test_approval import DRAFT, make, outcomes, reread
from tests.vacancies.admin.test_list_editing import row, save
from vacancies.admin.publication.selection import VacancySelection
from vacancies.choices import State, VacancyStatus
from vacancies.history.versions import read_content, record
from vacancies.models import Approval, Autosave, Brand, Change, Vacancy, VacancyTemplate, Version
from vacancies.models.approval import PUBLIC
from vacancies.operations import approval_decisions, publication
from vacancies.operations.approval_requests import SUBMITTED, request_approval
from vacancies.operations.undo import delete, undo_versions, versions_of_action

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
WAITING = [Approval.Outcome.WAITING]
EXPIRED = {"publish_from": NOW - 9 * DAY, "publish_until": NOW - DAY}
IMPORT = f"{LIST}import/"
NO_APPROVAL = "The brand publishes with approval only. Submit the vacancy for approval."


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root", first_name="Root"))
    return client


@pytest.fixture
def lea() -> User:
    return User.objects.create_superuser("lea")


def recorded(vacancy: Vacancy) -> Version:
    """Record the stored content of `vacancy`, a day ago."""
    version = record(reread(vacancy), Change.EXTERNAL, author=None, at=NOW - DAY)
    assert version is not None
    return version


def imported(client: Client, **cells: Any) -> Any:
    """Import a spreadsheet with one row.
    Return the page with its changes, and the page after it.
    """
    text = StringIO()
    csv.writer(text).writerows([list(cells), list(cells.values())])
    shown = client.post(IMPORT, {"file": SimpleUploadedFile("x.csv", text.getvalue().encode())})
    assert shown.context["wrong"] == []
    return shown, client.post(IMPORT, {"plan": shown.context["plan"]})


# --- writers that would publish a vacancy that is not public ---

PUBLISHED = {"status": "published", "publish_from_0": "2026-03-02", "publish_from_1": "09:00:00"}


def bulk_publish(client: Client, vacancy: Vacancy) -> None:
    sent = {
        "vacancies": str(VacancySelection.of(Vacancy.objects.filter(pk=vacancy.pk))),
        "back": LIST,
    }
    assert texts(client.post(f"{LIST}bulk/publish/", sent)) == [
        f"“Nurse” was not changed. {NO_APPROVAL}"
    ]
    client.post(
        f"{LIST}bulk/schedule/", sent | {"publish_from_0": "2026-03-09", "publish_from_1": "10:00"}
    )


def publish(client: Client, vacancy: Vacancy) -> None:
    client.post(f"{LIST}{vacancy.pk}/publish/")
    at = {"publish_from_0": "2026-03-09", "publish_from_1": "10:00"}
    client.post(f"{LIST}{vacancy.pk}/schedule/", at)


def status_field(client: Client, vacancy: Vacancy) -> None:
    client.post(page(vacancy), opened(client, page(vacancy)) | PUBLISHED | {"title": "Changed"})


def new_vacancy(client: Client, vacancy: Vacancy) -> None:
    values: dict[str, Any] = {"title": "New", "description": "<p>New</p>", "audience": "public"}
    values |= {"brand": vacancy.brand_id, "head_recruiter": vacancy.head_recruiter_id}
    client.post(ADD, opened(client, ADD) | NO_ROWS | PUBLISHED | values)
    assert outcomes(Vacancy.objects.get(title="New")) == WAITING


def template(client: Client, vacancy: Vacancy) -> None:
    """The content of a template could not be valid, so add what a recruiter cannot."""
    stored = read_content(vacancy) | {"status": "published", "publish_from": NOW.isoformat()}
    made = VacancyTemplate.objects.create(name="T", brand=vacancy.brand, content=stored)
    where = f"{ADD}?template={made.pk}"
    client.post(where, opened(client, where) | PUBLISHED)
    assert Vacancy.objects.count() == 2


def unsaved_input(client: Client, vacancy: Vacancy) -> None:
    form = opened(client, page(vacancy)) | PUBLISHED | {"title": "Changed"}
    own = {"_user": client.session["_auth_user_id"], "_window": "w1"}
    client.post(f"{LIST}{vacancy.pk}/autosave/", form | own)
    assert Autosave.objects.get().data is not None
    client.post(page(vacancy), opened(client, page(vacancy)) | PUBLISHED)


def merge(client: Client, vacancy: Vacancy) -> None:
    form = opened(client, page(vacancy)) | PUBLISHED | {"title": "Mine"}
    Vacancy.objects.filter(pk=vacancy.pk).update(title="Theirs", updated_at=NOW + MINUTE)
    choice = {"_choice-title": "mine", "_seen": reread(vacancy).updated_at.isoformat()}
    client.post(page(vacancy), form | choice)
    assert reread(vacancy).title == "Mine"


def list_editing(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(status="published", **EXPIRED)
    vacancy = reread(vacancy)
    response = save(client, row(vacancy, last_day="2026-05-01"), vacancies=[vacancy])
    assert str(SUBMITTED) in messages_of(response)


def extend(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(status="published", **EXPIRED)
    client.post(f"{LIST}{vacancy.pk}/extend/", {"day": "2026-04-01"})


def import_of_a_status(client: Client, vacancy: Vacancy) -> None:
    _shown, done = imported(client, ID=vacancy.pk, Status="Published")
    assert str(SUBMITTED) in messages_of(done)


def import_of_a_closing_date(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(status="published", **EXPIRED)
    shown, _done = imported(client, ID=vacancy.pk, **{"Closing date": "2026-05-01"})
    assert [each.name for each in shown.context["changed"][0].differences] == ["publish_until"]


def import_of_a_new_vacancy(client: Client, vacancy: Vacancy) -> None:
    cells = {"Title": "New", "Status": "Published", "Brand": "Strict", "Description": "<p>New</p>"}
    imported(client, **cells, **{"Lead recruiter (contact)": str(vacancy.head_recruiter)})
    assert Vacancy.objects.get(title="New").status == VacancyStatus.DRAFT


def restore(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(status="published", publish_from=NOW - DAY)
    old = recorded(vacancy)
    Vacancy.objects.filter(pk=vacancy.pk).update(status="draft", title="Changed")
    client.post(f"{LIST}{vacancy.pk}/versions/{old.pk}/")
    assert reread(vacancy).title == "Nurse"


def restore_deleted(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(status="published", publish_from=NOW - DAY)
    number = delete(vacancies=Vacancy.objects.all(), at=NOW, author=None).first_version
    client.post(f"{LIST}{vacancy.pk}/versions/{number}/")
    assert reread(vacancy).status == VacancyStatus.DRAFT


def undo_of_action(client: Client, vacancy: Vacancy) -> None:
    for action, status in (
        ("unpublish", VacancyStatus.UNPUBLISHED),
        ("delete", VacancyStatus.DRAFT),
    ):
        Vacancy.objects.filter(pk=vacancy.pk).update(status="published", publish_from=NOW - DAY)
        run(client, action, [vacancy])
        client.post(f"{LIST}undo/{Version.objects.latest('pk').pk}/")
        assert reread(vacancy).status == status


WRITERS = (
    bulk_publish,
    publish,
    status_field,
    new_vacancy,
    template,
    unsaved_input,
    merge,
    list_editing,
    extend,
    import_of_a_status,
    import_of_a_closing_date,
    import_of_a_new_vacancy,
    restore,
    restore_deleted,
    undo_of_action,
)


@pytest.mark.slow("opens several pages of the admin")
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_nothing_goes_live_without_approval(root: Client, strict: Brand, write: Any) -> None:
    write(root, make(strict, **DRAFT))
    assert [each.title for each in Vacancy.objects.all() if each.state_at(NOW) in PUBLIC] == []


# --- writers that would change a public vacancy ---


def save_form(client: Client, vacancy: Vacancy) -> None:
    client.post(page(vacancy), opened(client, page(vacancy)) | {"title": "Changed"})


def save_unsaved_input(client: Client, vacancy: Vacancy) -> None:
    own = {"_user": client.session["_auth_user_id"], "_window": "w1"}
    client.post(
        f"{LIST}{vacancy.pk}/autosave/", opened(client, page(vacancy)) | {"title": "Changed"} | own
    )
    client.post(page(vacancy), opened(client, page(vacancy)))
    assert not Autosave.objects.filter(data__isnull=False).exists()  # it is in the request


def save_merged(client: Client, vacancy: Vacancy) -> None:
    form = opened(client, page(vacancy)) | {"title": "Changed"}
    Vacancy.objects.filter(pk=vacancy.pk).update(location="Ghent", updated_at=NOW + MINUTE)
    client.post(page(vacancy), form)
    assert reread(vacancy).location == "Ghent"


def import_a_title(client: Client, vacancy: Vacancy) -> None:
    shown, done = imported(client, ID=vacancy.pk, Title="Changed")
    [result] = shown.context["changed"]
    assert [each.name for each in result.differences] == ["title"]
    assert result.notes == [str(SUBMITTED)]
    assert str(SUBMITTED) in messages_of(done)


def restore_a_title(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(title="Changed")
    where = f"{LIST}{vacancy.pk}/versions/{recorded(vacancy).pk}/"
    Vacancy.objects.filter(pk=vacancy.pk).update(title="Nurse")
    assert "submitted for approval" in client.get(where).content.decode()
    client.post(where)


CHANGES = (save_form, save_unsaved_input, save_merged, import_a_title, restore_a_title)


@pytest.mark.parametrize("write", CHANGES, ids=lambda write: write.__name__)
def test_public_text_changes_after_approval_only(root: Client, strict: Brand, write: Any) -> None:
    vacancy = make(strict)
    write(root, vacancy)
    assert (reread(vacancy).title, outcomes(vacancy)) == ("Nurse", WAITING)
    assert Approval.objects.get().changes == {"title": "Changed"}


def copied(client: Client, form: Form, vacancy: Vacancy) -> int:
    """Copy `form` for `vacancy`, as the form builder does. Return the status."""
    where, question = f"/admin/forms_structure/form/{form.pk}/copy/", {"for": vacancy.pk}
    return client.post(where, question, "application/json").status_code


@pytest.mark.slow("each role")
def test_form_for_one_vacancy_waits_for_approval(strict: Brand) -> None:
    """Roles that may change the vacancy submit its new form, and others change nothing."""
    form = Form.objects.create(name="Standard", structure=STRUCTURE)
    create_roles()
    found = {}
    for role in NAMES:
        vacancy = make(strict, form=form)
        user = User.objects.create_user(role, is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        user.brands.add(strict)
        status = copied(signed_in(user), form, vacancy)
        waits = Approval.objects.filter(vacancy=vacancy.pk, changes__has_key="form")
        found[role] = (status, reread(vacancy).form == form, waits.count())
    others = ("Filter manager", "Auditor", "Hiring manager", "Client")
    refused = dict.fromkeys(others, (403, True, 0))
    assert found == dict.fromkeys(NAMES, (200, True, 1)) | refused


def test_form_for_one_vacancy_needs_the_permission_to_change_it(strict: Brand) -> None:
    form = Form.objects.create(name="Standard", structure=STRUCTURE)
    client = staff("ann", "view_vacancy", "view_form", "add_form", brands=[strict])
    assert copied(client, form, make(strict)) == 403
    assert (Form.objects.count(), Approval.objects.count()) == (1, 0)


def test_form_for_a_draft_is_a_version_of_the_vacancy(root: Client, strict: Brand) -> None:
    form, vacancy = Form.objects.create(name="Standard", structure=STRUCTURE), make(strict, **DRAFT)
    assert copied(root, form, vacancy) == 200
    made, version = reread(vacancy).form, Version.objects.latest("pk")
    assert made is not None
    assert made != form
    assert (version.content["form"], version.author) == ([made.pk, made.name], User.objects.get())


# --- undo of what was approved ---


@pytest.fixture
def approved(strict: Brand, root: Client, lea: User) -> Vacancy:
    """A vacancy that two people published a day ago."""
    vacancy = make(strict, **DRAFT)
    author, at = User.objects.get(username="root"), NOW - DAY
    approval = request_approval(vacancy, {"status": "published"}, at=at, author=author)
    seen = approval_decisions.fingerprint(vacancy, approval)
    approval_decisions.approve(vacancy=vacancy, seen=seen, at=at, author=lea)
    return vacancy


def undone(number: int | None, author: User) -> publication.BulkResult:
    at = NOW + MINUTE
    return undo_versions(
        versions_of_action(number or 0, author=author, at=at), author=author, at=at
    )


@pytest.mark.parametrize("action", [publication.unpublish, delete])
def test_undo_publishes_what_was_approved(approved: Vacancy, lea: User, action: Any) -> None:
    publication.extend(vacancies=Vacancy.objects.all(), weeks=1, at=NOW - 2 * MINUTE, author=lea)
    publication.feature(vacancies=Vacancy.objects.all(), at=NOW - MINUTE, author=lea)
    number = action(vacancies=Vacancy.objects.all(), at=NOW, author=lea).first_version
    result = undone(number, lea)
    assert (result.done, result.notes) == ([approved.pk], {})
    assert (reread(approved).state_at(NOW), reread(approved).is_hot) == (State.PUBLISHED, True)


def test_undo_publishes_no_other_text(root: Client, approved: Vacancy) -> None:
    """The text changed while approval was switched off, so nobody approved it."""
    Brand.objects.update(requires_approval=False)
    root.post(page(approved), opened(root, page(approved)) | {"title": "Changed"})
    Brand.objects.update(requires_approval=True)
    for action in ("unpublish", "delete"):
        run(root, action, [approved])
        number = Version.objects.latest("pk").pk
        response = root.post(f"{LIST}undo/{number}/")
        assert "The brand publishes with approval only." in " ".join(messages_of(response))
        assert reread(approved).state_at(NOW) not in PUBLIC
        Vacancy.objects.update(status="published", publish_from=NOW - DAY)


# --- writers and the merge ---


def edit_in_list(client: Client, vacancy: Vacancy) -> None:
    save(client, row(vacancy, is_hot=True), vacancies=[vacancy])


def import_featured(client: Client, vacancy: Vacancy) -> None:
    imported(client, ID=vacancy.pk, Featured="yes")


def bulk_feature(client: Client, vacancy: Vacancy) -> None:
    run(client, "feature", [vacancy])


def restore_featured(client: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.filter(pk=vacancy.pk).update(is_hot=True)
    old = recorded(vacancy)
    Vacancy.objects.filter(pk=vacancy.pk).update(is_hot=False)
    client.post(f"{LIST}{vacancy.pk}/versions/{old.pk}/")


@pytest.mark.parametrize("write", [edit_in_list, import_featured, bulk_feature, restore_featured])
def test_form_is_merged_with_what_others_wrote(root: Client, lea: User, write: Any) -> None:
    vacancy = make(make_brand("Free"), updated_at=NOW - DAY)
    colleague = signed_in(lea)
    form = opened(colleague, page(vacancy))

    write(root, vacancy)

    assert reread(vacancy).updated_at == Version.objects.latest("pk").created_at == NOW
    assert Version.objects.latest("pk").author == User.objects.get(username="root")
    response = colleague.post(page(vacancy), form | {"title": "Night nurse"})
    assert "Merged with the changes of Root: Featured." in messages_of(response)
    assert (reread(vacancy).title, reread(vacancy).is_hot) == ("Night nurse", True)
