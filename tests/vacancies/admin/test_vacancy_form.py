"""The admin form of a vacancy, used as a browser without JavaScript uses it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import Application
from tests.applications.makers import make_application
from tests.factories import make_brand, make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import (
    ADD,
    LONG_AGO,
    NO_ROWS,
    errors,
    opened,
    page,
    picture,
    posted_by,
    saved,
    staff,
)
from vacancies.admin.base import TABLE_NOTE
from vacancies.choices import State
from vacancies.history.versions import record
from vacancies.models import Attachment, Change, Vacancy, VacancyOption, VacancyRecruiter

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


# --- create and publish ---


def test_vacancy_is_created_and_published_in_one_post(anna, brand, recruiter):
    values = {
        "title": "Nurse",
        "description": "<p>Care</p>",
        "status": "published",
        "audience": "public",
    }
    form = NO_ROWS | values | {"brand": brand.pk, "head_recruiter": recruiter.pk}
    before = timezone.now().replace(microsecond=0)

    assert saved(anna.post(ADD, form))

    vacancy = Vacancy.objects.get()
    assert (vacancy.state, vacancy.publish_until) == (State.PUBLISHED, None)
    assert before <= vacancy.publish_from <= timezone.now()
    assert [item["title"] for item in anna.get("/v1/vacancies").json()["data"]] == ["Nurse"]


@pytest.mark.slow("opens several pages of the admin")
@pytest.mark.parametrize("who", ["editor", "recruiter"])
def test_draft_needs_only_a_title(who: str) -> None:
    rights = ["add_vacancy", "view_vacancy"] + (["work_for_every_brand"] if who == "editor" else [])
    client = staff(who, *rights)
    for name in ("Acme", "Rival"):
        make_brand(name).members.add(User.objects.get())
        assert saved(client.post(ADD, opened(client, ADD) | {"title": "Nurse"}))
        nurse = Vacancy.objects.latest("pk")
        has_choice = (who, name) == ("editor", "Rival")
        assert (nurse.status, nurse.brand and nurse.brand.name) == (
            "draft",
            None if has_choice else "Acme",
        )


def test_brand_that_a_recruiter_used_last_is_preselected(colleague: Client) -> None:
    user = User.objects.get(username="colleague")
    other, foreign = make_brand("Other"), make_brand("Foreign")
    other.members.add(user)
    for brand in (other, foreign):  # the latter before the user lost it
        record(make_vacancy(brand=brand), Change.CREATED, author=user, at=timezone.now())

    assert opened(colleague, ADD)["brand"] == [str(other.pk)]


@pytest.mark.slow("opens several pages of the admin")
def test_recruiter_cannot_remove_the_brand(colleague: Client) -> None:
    response = colleague.post(ADD, opened(colleague, ADD) | {"title": "Nurse", "brand": ""})

    assert errors(response) == {"brand": ["This field is required."]}
    assert not Vacancy.objects.exists()


@pytest.mark.slow("opens several pages of the admin")
def test_table_becomes_a_list_with_a_warning(anna: Client, vacancy: Vacancy) -> None:
    """Without JavaScript, the field has HTML."""
    html = "<table><tr><td>Pay<td>3,000</table>"
    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | {"offer": html})
    assert Vacancy.objects.get().offer == "<ul><li>Pay: 3,000</li></ul>"
    assert messages_of(response).count(str(TABLE_NOTE)) == 1
    again = posted_by(anna.get(page(vacancy)).text)  # shows the note
    response = anna.post(page(vacancy), again | {"title": "Cook"})
    assert str(TABLE_NOTE) not in messages_of(response)


def test_form_posted_back_unchanged_changes_nothing(
    anna: Client, vacancy: Vacancy, regions: list
) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[1], position=0)
    VacancyRecruiter.objects.create(vacancy=vacancy, recruiter=vacancy.head_recruiter, position=3)
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    before = Vacancy.objects.filter(pk=vacancy.pk).values().get()

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy))))

    assert Vacancy.objects.filter(pk=vacancy.pk).values().get() == before


# --- options ---


@pytest.mark.slow("opens and saves the form several times")
def test_options_keep_the_order_of_picking(anna: Client, vacancy: Vacancy, regions: list) -> None:
    antwerp, ghent, leuven = regions
    for picked in ([leuven, antwerp, ghent], [ghent, leuven], [leuven, ghent]):
        form = opened(anna, page(vacancy)) | {"regions": [option.pk for option in picked]}
        assert saved(anna.post(page(vacancy), form))
        assert (
            list(vacancy.choices.order_by("position").values_list("option", flat=True))
            == form["regions"]
        )
        assert opened(anna, page(vacancy))["regions"] == [str(option.pk) for option in picked]


@pytest.mark.slow("opens several pages of the admin")
def test_vacancy_has_at_most_one_job_category(
    anna: Client, vacancy: Vacancy, regions: list
) -> None:
    for option in (make_option("functiongroup", label) for label in ("Care", "ICT")):
        assert saved(
            anna.post(page(vacancy), opened(anna, page(vacancy)) | {"functiongroup": option.pk})
        )
        assert [choice.option for choice in vacancy.choices.all()] == [option]
    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | {"types": [regions[0].pk]})
    assert list(errors(response)) == ["types"]  # an option of another filter


# --- publication ---


@pytest.mark.slow("opens and saves the form several times")
def test_closing_date_ends_with_that_day_in_the_site_time_zone(anna, vacancy, settings):
    for zone, day, midnight in (
        ("Europe/Brussels", "2198-07-31", datetime(2198, 7, 31, 22, tzinfo=UTC)),
        ("America/New_York", "2198-07-31", datetime(2198, 8, 1, 4, tzinfo=UTC)),
        ("UTC", "2198-07-31", datetime(2198, 8, 1, tzinfo=UTC)),
        ("UTC", "", None),
    ):
        settings.TIME_ZONE = zone
        Vacancy.objects.update(publish_until=LONG_AGO + timedelta(days=99_999))
        assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"last_day": day}))
        assert Vacancy.objects.get().publish_until == midnight, zone
        assert opened(anna, page(vacancy))["last_day"] == day


@pytest.mark.slow("opens and saves the form several times")
def test_refused_publication_shows_the_error_at_the_field(anna: Client, vacancy: Vacancy) -> None:
    form = opened(anna, page(vacancy)) | {"title": "Changed"}
    passed = "The closing date has passed. Choose a later date or leave it empty."
    for change, refusal in (
        ({"brand": ""}, "A vacancy needs a brand to be published."),
        ({"head_recruiter": ""}, "A vacancy needs a lead recruiter to be published."),
        ({"last_day": "2021-01-01"}, passed),
        ({"last_day": "9999-12-31"}, "Leave this empty if the vacancy has no closing date."),
        (
            {"last_day": "2198-01-01", "publish_from_0": "2198-01-02"},
            "The closing date is before the publication date.",
        ),
    ):
        assert errors(anna.post(page(vacancy), form | change)) == {next(iter(change)): [refusal]}
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.updated_at) == ("Nurse", LONG_AGO)


@pytest.mark.slow("opens several pages of the admin")
def test_view_on_site_is_offered_for_public_vacancies_only(anna: Client, vacancy: Vacancy) -> None:
    address = f'href="/vacancies/{vacancy.pk}"'
    assertContains(anna.get(page(vacancy)), address)

    Vacancy.objects.update(status="unpublished")
    assertNotContains(anna.get(page(vacancy)), address)
    Vacancy.objects.update(status="published", publish_until=LONG_AGO + timedelta(days=1))
    assertNotContains(anna.get(page(vacancy)), address)
    # An expired vacancy stays editable.
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"title": "Nurses"}))


# --- uploads ---


@pytest.mark.slow("creates large pictures")
def test_image_of_a_vacancy_can_be_cropped(anna: Client, vacancy: Vacancy) -> None:
    small = "“a.png” has 299 × 600 pixels: its shorter side needs at least 300."
    narrow = (
        "“a.png” has 1201 × 400 pixels: its longer side may have at most three times as many as "
        "its shorter side."
    )
    form = opened(anna, page(vacancy))
    for size, refusal in (((299, 600), small), ((1201, 400), narrow)):
        response = anna.post(page(vacancy), form | {"image": picture("a.png", "PNG", size)})
        assert errors(response) == {"image": [refusal]}
        assert not Vacancy.objects.get().image
    for size in ((300, 900), (900, 300)):
        image = {"image": picture("a.png", "PNG", size)}
        assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | image))
        assert Vacancy.objects.get().image


@pytest.mark.slow("many pages")
def test_brand_is_on_the_first_tab_and_changes_until_the_draft_has_applications(
    at: datetime,
) -> None:
    own, other = make_brand("Acme"), make_brand("Rival")
    client = staff("bea", "view_vacancy", "change_vacancy", brands=[own, other])
    vacancy = make_vacancy(brand=own, status="draft", publish_from=None)
    values = opened(client, page(vacancy)) | {"brand": other.pk}
    first = client.get(page(vacancy)).text.partition('id="id_short_description"')[0]
    assert 'name="brand"' in first

    assert saved(client.post(page(vacancy), values))

    vacancy.refresh_from_db()
    assert vacancy.brand == other
    make_application(vacancy=vacancy)
    assert 'name="brand"' not in client.get(page(vacancy)).text
    Application.objects.all().delete()
    Vacancy.objects.update(status="unpublished")
    assert 'name="brand"' not in client.get(page(vacancy)).text
