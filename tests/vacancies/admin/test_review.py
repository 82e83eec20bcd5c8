"""The review of what saving a vacancy would change."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories import make_option, make_vacancy
from tests.vacancies.admin.forms import LIST, opened, page, picture, saved
from vacancies.history.versions import read_content
from vacancies.models import Vacancy, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


def reviewed(client: Client, vacancy: Vacancy, change: dict[str, Any]) -> Any:
    return client.post(f"{LIST}{vacancy.pk}/review/", opened(client, page(vacancy)) | change)


def paper() -> SimpleUploadedFile:
    return SimpleUploadedFile("a.pdf", b"%PDF-1.4")


def stored(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_review_shows_what_saving_would_change_and_saves_nothing(anna: Client) -> None:
    ghent = make_option("regions", "Ghent")
    vacancy = make_vacancy(title="Nurse", description="<p>We care</p>")
    before, row = read_content(vacancy), Vacancy.objects.values().get()
    change = {
        "title": "Cook",
        "description": "<p>We cook<script>x</script></p>",
        "regions": [ghent.pk],
        "attachments-TOTAL_FORMS": "1",
        "attachments-0-url": "https://acme.test/a.pdf",
    }

    response = reviewed(anna, vacancy, change)

    found = {each.name: str(each.marked) for each in response.context["differences"]}
    assert found == {
        "title": "<div><del>Nurse</del> <ins>Cook</ins></div>",
        "description": "<div>We <del>care</del><ins>cook</ins></div>",
        "regions": "<div><ins>Ghent</ins></div>",
        "attachments": "<div><ins>a.pdf (https://acme.test/a.pdf)</ins></div>",
    }
    assert (read_content(vacancy), Vacancy.objects.values().get()) == (before, row)
    assert Version.objects.count() == 0
    assert reviewed(anna, vacancy, {}).context["differences"] == []


@pytest.mark.slow("reviews with files")
def test_review_neither_stores_nor_deletes_files(anna: Client, settings: Any) -> None:
    folder = Path(settings.MEDIA_ROOT)
    vacancy = make_vacancy()
    assert saved(
        anna.post(page(vacancy), opened(anna, page(vacancy)) | {"image": picture("a.png", "PNG")})
    )
    (folder / "a.pdf").write_bytes(b"somebody else's")
    (folder / "attachments").mkdir()
    (folder / "attachments" / "a.pdf").write_bytes(b"another")
    before, files = read_content(vacancy), stored(folder)
    pdf = "attachments-0-file"

    for change in (
        {"image": picture("b.png", "PNG")},
        {"image": picture("a.png", "PNG")},  # the same name as the stored file
        {"attachments-TOTAL_FORMS": "1", pdf: paper()},
        {"attachments-TOTAL_FORMS": "1", pdf: paper(), "attachments-0-DELETE": "on"},
        {"image": picture("c.png", "PNG"), "title": ""},
        {"image-clear": "on"},
    ):
        assert reviewed(anna, vacancy, change).status_code in (200, 422), change
        assert (stored(folder), read_content(vacancy)) == (files, before), change


def test_review_of_an_invalid_form_is_422(anna: Client) -> None:
    vacancy = make_vacancy()
    before = read_content(vacancy)
    for change in ({"title": ""}, {"head_recruiter": ""}):
        assert reviewed(anna, vacancy, change).status_code == 422
    assert read_content(vacancy) == before
