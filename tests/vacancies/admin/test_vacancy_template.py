"""Vacancy templates: save a vacancy as one, start from one, edit and delete one."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import ADD, LIST, NO_ROWS, opened, page, picture, saved, staff
from vacancies.models import Attachment, Brand, FilterOption, Vacancy, VacancyTemplate, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
TEMPLATES = "/admin/vacancies/vacancytemplate/"
EDITS = ("view_vacancy", "add_vacancy", "change_vacancy")
OF_TEMPLATES = tuple(f"{verb}_vacancytemplate" for verb in ("view", "add", "change", "delete"))


@pytest.fixture
def acme() -> Brand:
    return make_brand("Acme")


@pytest.fixture
def ed(acme: Brand) -> Client:
    return staff("ed", *EDITS, *OF_TEMPLATES, brands=[acme])


@pytest.fixture
def nurse(acme: Brand, regions: list[FilterOption]) -> Vacancy:
    """A public vacancy with everything that a template contains."""
    vacancy = make_vacancy(
        title="Nurse",
        brand=acme,
        options={"regions": ["Ghent", "Antwerp"]},
        recruiters=("Bo", "Al"),
        location="Ghent",
        image=picture("nurse.png", "PNG"),
    )
    Attachment.objects.create(
        vacancy=vacancy, name="Folder", url="https://x.test/a.pdf", position=1
    )
    file = SimpleUploadedFile("terms.txt", b"Terms")
    Attachment.objects.create(vacancy=vacancy, name="Terms", file=file, position=2)
    return vacancy


def save_as(client: Client, vacancy: Vacancy, **data: Any) -> Any:
    data = {"name": "Care", "brand": vacancy.brand_id} | data
    return client.post(f"{LIST}{vacancy.pk}/template/", data)


@pytest.fixture
def template(ed: Client, nurse: Vacancy) -> VacancyTemplate:
    save_as(ed, nurse)
    return VacancyTemplate.objects.get()


def start(template: VacancyTemplate, more: str = "") -> str:
    return f"{ADD}?template={template.pk}{more}"


@pytest.mark.slow("opens many pages")
def test_template_has_the_content_without_publication(ed: Client, nurse: Vacancy) -> None:
    assert f"{LIST}{nurse.pk}/template/" in ed.get(page(nurse)).content.decode()
    assert saved(save_as(ed, nurse))
    template = VacancyTemplate.objects.get()
    assert (template.name, template.brand, template.updated_by.username) == (
        "Care",
        nurse.brand,
        "ed",
    )
    assert (template.content["title"], template.content["location"]) == ("Nurse", "Ghent")
    assert {"status", "publish_from", "publish_until"}.isdisjoint(template.content)
    assert (Vacancy.objects.count(), Version.objects.count()) == (1, 0)


@pytest.mark.slow("opens several pages of the admin")
def test_new_vacancy_starts_with_the_template(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    assert f'href="?template={template.pk}"' in ed.get(ADD).content.decode()

    data = opened(ed, start(template))
    assert (Vacancy.objects.count(), Attachment.objects.count()) == (1, 2)  # nothing is saved
    assert (data["title"], data["location"], data["status"]) == ("Nurse", "Ghent", ["draft"])
    assert sorted(data["regions"]) == sorted(
        str(choice.option_id) for choice in nurse.choices.all()
    )
    assert data["template_files"] == nurse.attachments.get(name="Terms").file.name
    data["title"] = "Head nurse"
    assert saved(ed.post(start(template), data))

    made = Vacancy.objects.latest("pk")
    assert (made.title, made.status, made.publish_from) == ("Head nurse", "draft", None)
    assert made.image == nurse.image
    assert [link.recruiter.name for link in made.recruiter_links.all()] == ["Bo", "Al"]
    of_made = [(each.name, each.url, each.file.name) for each in made.attachments.order_by("name")]
    assert of_made == [
        (each.name, each.url, each.file.name) for each in nurse.attachments.order_by("name")
    ]
    assert {choice.option for choice in made.choices.all()} == {
        c.option for c in nurse.choices.all()
    }
    assert Version.objects.get().content["attachments"]


@pytest.mark.slow("opens several pages of the admin")
def test_unticked_files_are_left_out(ed: Client, nurse: Vacancy, template: VacancyTemplate) -> None:
    data = opened(ed, start(template)) | {"image-clear": "on"}
    del data["template_files"]
    assert saved(ed.post(start(template), data))
    made = Vacancy.objects.latest("pk")
    assert (made.image.name, [each.name for each in made.attachments.all()]) == ("", ["Folder"])


@pytest.mark.slow("opens several pages of the admin")
def test_forged_file_is_not_attached(ed: Client, nurse: Vacancy, template: VacancyTemplate) -> None:
    foreign = make_vacancy(brand=make_brand("Other"))
    file = SimpleUploadedFile("secret.txt", b"Secret")
    secret = Attachment.objects.create(vacancy=foreign, name="Secret", file=file)
    data = opened(ed, start(template)) | {"template_files": [secret.file.name]}
    assert saved(ed.post(start(template), data))
    assert not Vacancy.objects.latest("pk").attachments.filter(name="Secret").exists()


@pytest.mark.slow("opens several pages of the admin")
def test_rejected_input_keeps_the_template(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    response = ed.post(start(template), opened(ed, start(template)) | {"title": ""})
    html = response.content.decode()
    assert response.status_code == 200
    assert f'value="{nurse.attachments.get(name="Terms").file.name}" checked' in html
    assert Vacancy.objects.count() == 1


def test_rows_that_no_longer_exist_are_named(ed, nurse, regions, template):
    nurse.choices.all().delete()
    nurse.recruiter_links.all().delete()
    regions[0].delete()
    make_recruiter("Bo").delete()
    assert ed.get(start(template)).context["not_filled_in"] == ["Antwerp", "Bo"]


def test_template_is_edited_in_the_form(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    before = Vacancy.objects.count()
    data = opened(ed, start(template, "&edit=1")) | {"title": "Care worker", "status": "published"}
    response = ed.post(start(template, "&edit=1"), data)
    assert messages_of(response)[-1] == "The template “Care” was saved."

    template.refresh_from_db()
    assert template.content["title"] == "Care worker"
    assert [each["name"] for each in template.content["attachments"]] == ["Terms", "Folder"]
    assert template.content["image"] == nurse.image.name
    assert "status" not in template.content
    assert (Vacancy.objects.count(), Version.objects.count()) == (before, 0)


@pytest.mark.slow("opens many pages")
def test_edit_without_a_template_adds_a_vacancy(ed: Client, template: VacancyTemplate) -> None:
    assert saved(ed.post(f"{ADD}?edit=1", opened(ed, start(template)) | {"title": "Cook"}))
    assert Vacancy.objects.filter(title="Cook").count() == 1


def test_template_is_renamed_and_deleted(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    url = f"{TEMPLATES}{template.pk}/"
    html = ed.get(f"{url}change/").content.decode()
    assert "Nurse" in html
    assert saved(ed.post(f"{url}change/", {"name": "Nursing", "brand": nurse.brand_id}))
    template.refresh_from_db()
    assert (template.name, template.content["title"]) == ("Nursing", "Nurse")
    assert saved(ed.post(f"{url}delete/", {"post": "yes"}))
    assert not VacancyTemplate.objects.exists()


def test_names_are_unique_within_a_brand(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    response = save_as(ed, nurse)
    assert response.status_code == 200
    assert "There is a template with this name." in response.content.decode()
    assert VacancyTemplate.objects.count() == 1


# --- access ---


def test_other_brands_do_not_see_the_template(
    ed: Client, nurse: Vacancy, template: VacancyTemplate
) -> None:
    other = staff("other", *EDITS, *OF_TEMPLATES, brands=[make_brand("Other")])
    assert other.get(f"{LIST}{nurse.pk}/template/").status_code == 404
    assert "Care" not in other.get(TEMPLATES).content.decode()
    assert "Care" not in other.get(ADD).content.decode()
    for more in ("", "&edit=1"):
        assert other.get(start(template, more)).status_code == 404
        assert other.post(start(template, more), {"title": "x", **NO_ROWS}).status_code == 404
    assert other.get(f"{TEMPLATES}{template.pk}/change/").status_code == 302
    assert saved(other.post(f"{TEMPLATES}{template.pk}/delete/", {"post": "yes"}))
    assert VacancyTemplate.objects.get().content == template.content


@pytest.mark.slow("opens several pages of the admin")
def test_template_for_all_brands_is_used_by_all_and_changed_by_few(
    nurse: Vacancy, ed: Client
) -> None:
    assert "This field is required" in save_as(ed, nurse, brand="").content.decode()
    editor = staff("editor", *EDITS, *OF_TEMPLATES, "work_for_every_brand")
    assert saved(save_as(editor, nurse, brand=""))
    template = VacancyTemplate.objects.get()
    save_as(editor, nurse, name="Of Acme")
    assert {each.name for each in editor.get(TEMPLATES).context["cl"].queryset} == {
        "Care",
        "Of Acme",
    }
    other = staff("other", *EDITS, *OF_TEMPLATES, brands=[make_brand("Other")])
    data = opened(other, start(template))
    assert data["title"] == "Nurse"
    assert "Acme" in other.get(start(template)).context["not_filled_in"]
    assert other.get(start(template, "&edit=1")).status_code == 403
    assert other.post(start(template, "&edit=1"), data).status_code == 403
    for path in ("change", "delete"):
        response = other.post(f"{TEMPLATES}{template.pk}/{path}/", {"name": "Mine", "post": "yes"})
        assert response.status_code == 403
    other.post(
        TEMPLATES, {"action": "delete_selected", "_selected_action": [template.pk], "post": "yes"}
    )
    template.refresh_from_db()
    assert (template.name, template.brand) == ("Care", None)


def test_unknown_template_is_not_found(ed: Client) -> None:
    for value in ("", "x", "0", "9" * 20, "1%00"):
        assert ed.get(f"{ADD}?template={value}").status_code == 404, value
        assert ed.post(f"{ADD}?template={value}", {"title": "x", **NO_ROWS}).status_code == 404, (
            value
        )
    assert not Vacancy.objects.exists()
