"""`save_content`, the one way to write a vacancy: what it merges, refuses, submits and records."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies.history.versions import content_at, read_content
from vacancies.models import Approval, Attachment, Vacancy, Version
from vacancies.operations.save import Edit, SaveConflictError, plan_save, save_content

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
DAY = timedelta(days=1)


@pytest.fixture
def anna() -> User:
    return User.objects.create_user("anna")


def link(name: str) -> dict[str, str]:
    return {"name": name, "file": "", "url": f"https://acme.test/{name}"}


def test_every_field_is_written_as_wanted(anna: User) -> None:
    vacancy, brand = make_vacancy(), make_brand("Other")
    ghent, els = make_option("regions", "Ghent"), make_recruiter("Els")
    change = {
        "title": "Cook",
        "is_hot": True,
        "brand": [brand.pk, "Other"],
        "publish_until": None,
        "regions": [[ghent.pk, "Ghent"]],
        "recruiters": [[els.pk, "Els"]],
        "attachments": [link("a"), link("b")],
    }
    wanted = read_content(vacancy) | change

    plan = plan_save(vacancy, Edit(wanted), at=NOW)
    assert (plan.after, read_content(vacancy), Version.objects.count()) == (wanted, plan.before, 0)
    saved = save_content(vacancy, Edit(wanted), author=anna, at=NOW)

    assert read_content(vacancy) == saved.plan.after == wanted
    found, changed = Version.objects.order_by("pk")
    assert (found.change, changed.change, changed.author, changed.created_at) == (
        "found",
        "changed",
        anna,
        NOW,
    )
    assert content_at(changed) == wanted
    assert saved.vacancy.updated_at == NOW


def test_content_that_is_stored_already_changes_nothing(anna: User) -> None:
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    save_content(vacancy, Edit({"title": "Cook"}), author=anna, at=NOW)
    row, versions = Vacancy.objects.values().get(), Version.objects.count()
    save_content(vacancy, Edit(read_content(vacancy)), author=anna, at=NOW)
    assert (Vacancy.objects.values().get(), Version.objects.count()) == (row, versions)


def test_only_what_the_author_changed_is_written(anna: User) -> None:
    vacancy = make_vacancy(title="Nurse", location="Ghent")
    base = read_content(vacancy)
    Vacancy.objects.update(location="Antwerp", title="Cook")

    save_content(
        vacancy, Edit(base | {"is_hot": True, "title": "Cook"}, base=base), author=anna, at=NOW
    )

    vacancy.refresh_from_db()
    assert (vacancy.location, vacancy.title, vacancy.is_hot) == ("Antwerp", "Cook", True)


def test_a_field_that_both_changed_is_a_conflict(anna: User) -> None:
    vacancy = make_vacancy(title="Nurse")
    base = read_content(vacancy)
    Vacancy.objects.update(title="Cook")
    with pytest.raises(SaveConflictError) as error:
        save_content(
            vacancy, Edit(base | {"title": "Carer", "is_hot": True}, base=base), author=anna, at=NOW
        )
    assert error.value.fields == ["title"]
    assert (Vacancy.objects.get().is_hot, Version.objects.count()) == (False, 0)


@pytest.mark.parametrize("begin", [NOW - DAY, NOW + DAY])
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"head_recruiter": None}, "head_recruiter"),
        ({"description": ""}, "description"),
        ({"publish_until": "2020-01-01T00:00:00+00:00"}, "publish_until"),
    ],
)
def test_published_vacancy_stays_complete(
    change: dict[str, Any], field: str, begin: datetime
) -> None:
    vacancy = make_vacancy(publish_from=begin)
    before = read_content(vacancy)
    with pytest.raises(ValidationError) as error:
        save_content(vacancy, Edit(change), author=None, at=NOW)
    assert list(error.value.message_dict) == [field]
    assert (read_content(vacancy), Version.objects.count()) == (before, 0)


def test_expired_vacancy_stays_editable() -> None:
    vacancy = make_vacancy(publish_from=NOW - 2 * DAY, publish_until=NOW - DAY)
    save_content(vacancy, Edit({"description": ""}), author=None, at=NOW)
    assert Vacancy.objects.get().description == ""


def test_markup_is_sanitised_before_it_is_compared_or_submitted(anna: User) -> None:
    vacancy = make_vacancy(
        brand=make_brand("Strict", requires_approval=True),
        description="<p>Care</p>",
        updated_at=NOW,
    )
    hostile = "<p>Care</p><script>alert(1)</script>"
    assert (
        save_content(vacancy, Edit({"description": hostile}), author=anna, at=NOW).approval is None
    )
    saved = save_content(vacancy, Edit({"profile": hostile}), author=anna, at=NOW)
    assert saved.approval is not None
    assert saved.approval.changes == {"profile": "<p>Care</p>"}


def test_attachments_keep_their_rows(anna: User) -> None:
    """Open forms name them by id."""
    vacancy = make_vacancy()
    one, two, three = (
        Attachment.objects.create(vacancy=vacancy, name=name, url=link(name)["url"], position=place)
        for place, name in enumerate("abc")
    )
    wanted = [link("c") | {"name": "renamed"}, link("a"), link("new")]
    save_content(vacancy, Edit({"attachments": wanted}), author=anna, at=NOW)
    rows = vacancy.attachments.order_by("position")
    assert read_content(vacancy)["attachments"] == wanted
    assert [row.pk for row in rows][:2] == [three.pk, one.pk]
    assert not rows.filter(pk=two.pk).exists()


def test_upload_of_a_change_that_needs_approval_is_stored(anna: User) -> None:
    vacancy = make_vacancy(brand=make_brand("Strict", requires_approval=True))
    upload = {"name": "Terms", "file": ContentFile(b"Terms", "terms.txt"), "url": ""}

    saved = save_content(vacancy, Edit({"attachments": [upload]}), author=anna, at=NOW)

    assert (read_content(vacancy)["attachments"], saved.approval) == ([], Approval.objects.get())
    [row] = Approval.objects.get().changes["attachments"]
    with default_storage.open(row["file"]) as file:
        assert file.read() == b"Terms"


def test_files_are_stored_before_rows_are_locked(
    anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object store may take seconds, and others who save would wait for the locks."""
    vacancy, found = make_vacancy(), []
    upload = {"name": "Terms", "file": ContentFile(b"Terms", "terms.txt"), "url": ""}
    save = FileSystemStorage._save

    def store(*args: Any) -> str:
        found.append([query["sql"] for query in queries.captured_queries])
        return save(*args)

    monkeypatch.setattr(FileSystemStorage, "_save", store)
    with CaptureQueriesContext(connection) as queries:
        save_content(vacancy, Edit({"title": "New", "attachments": [upload]}), author=anna, at=NOW)
    assert found == [[]]
