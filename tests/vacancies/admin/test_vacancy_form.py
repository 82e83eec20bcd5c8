"""The admin form of a vacancy, used as a browser without JavaScript uses it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests.factories import make_brand, make_vacancy
from tests.vacancies.admin.forms import ADD, LIST, LONG_AGO, NO_ROWS, errors, opened, page, picture, saved
from vacancies.admin.base import TABLE_NOTE
from vacancies.history.versions import record
from vacancies.models import (
    Attachment,
    Brand,
    Change,
    Filter,
    FilterOption,
    Recruiter,
    State,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


# --- create and publish ---


def test_vacancy_is_created_and_published_in_one_post(
    anna: Client, brand: Brand, recruiter: Recruiter
) -> None:
    form = {
        **NO_ROWS,
        "title": "Nurse",
        "description": "<p>Care</p>",
        "brand": brand.pk,
        "head_recruiter": recruiter.pk,
        "status": "published",
        "audience": "public",
    }
    before = timezone.now().replace(microsecond=0)

    assert saved(anna.post(ADD, form))

    vacancy = Vacancy.objects.get()
    assert (vacancy.state, vacancy.publish_until) == (State.PUBLISHED, None)
    assert before <= vacancy.publish_from <= timezone.now()
    assert [item["title"] for item in anna.get("/v1/vacancies").json()["data"]] == ["Nurse"]


@pytest.mark.parametrize("brands", [("Acme",), ("Acme", "Rival")])
@pytest.mark.parametrize("who", ["editor", "recruiter"])
def test_draft_needs_only_a_title(client: Client, who: str, brands: tuple[str, ...]) -> None:
    user = User.objects.create_user(who, is_staff=True)
    rights = ["add_vacancy", "view_vacancy"] + (["work_for_every_brand"] if who == "editor" else [])
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    for name in brands:
        make_brand(name).members.add(user)
    client.force_login(user)

    response = client.post(ADD, opened(client, ADD) | {"title": "Nurse"})

    assert saved(response)
    nurse = Vacancy.objects.get()
    has_choice = who == "editor" and len(brands) > 1
    assert (nurse.status, nurse.brand and nurse.brand.name) == ("draft", None if has_choice else "Acme")


def test_brand_that_a_recruiter_used_last_is_preselected(colleague: Client) -> None:
    user = User.objects.get(username="colleague")
    other, foreign = make_brand("Other"), make_brand("Foreign")
    other.members.add(user)
    for brand in (other, foreign):  # the latter before the user lost it
        record(make_vacancy(brand=brand), Change.CREATED, author=user, at=timezone.now())

    assert opened(colleague, ADD)["brand"] == [str(other.pk)]


def test_recruiter_cannot_remove_the_brand(colleague: Client) -> None:
    response = colleague.post(ADD, opened(colleague, ADD) | {"title": "Nurse", "brand": ""})

    assert errors(response) == {"brand": ["This field is required."]}
    assert not Vacancy.objects.exists()


def test_table_becomes_a_list_with_a_warning(anna: Client, vacancy: Vacancy) -> None:
    """Without JavaScript, the field has HTML."""
    html = "<table><tr><td>Pay<td>3,000</table>"

    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | {"offer": html}, follow=True)

    assert Vacancy.objects.get().offer == "<ul><li>Pay: 3,000</li></ul>"
    assert [str(m) for m in response.context["messages"]].count(str(TABLE_NOTE)) == 1
    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | {"title": "Cook"}, follow=True)
    assert str(TABLE_NOTE) not in [str(m) for m in response.context["messages"]]


def test_form_posted_back_unchanged_changes_nothing(anna: Client, vacancy: Vacancy, regions: list) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[1], position=0)
    VacancyRecruiter.objects.create(vacancy=vacancy, recruiter=vacancy.head_recruiter, position=3)
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    before = Vacancy.objects.filter(pk=vacancy.pk).values().get()

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy))))

    assert Vacancy.objects.filter(pk=vacancy.pk).values().get() == before


@pytest.mark.parametrize(
    "change",
    [{"title": "Head nurse"}, {"description": "<p>Cure</p>"}, {"regions": "first"}, {"attachments": "one"}],
)
def test_updated_at_follows_every_real_change(
    anna: Client, vacancy: Vacancy, regions: list, change: dict[str, Any]
) -> None:
    form = opened(anna, page(vacancy)) | change
    if "regions" in change:
        form["regions"] = [regions[0].pk]
    if "attachments" in change:
        form |= {"attachments-TOTAL_FORMS": "1", "attachments-0-url": "https://acme.test/papers/a.pdf"}

    assert saved(anna.post(page(vacancy), form))

    vacancy.refresh_from_db()
    assert vacancy.updated_at > LONG_AGO
    assert list(vacancy.attachments.values_list("name", flat=True)) == (
        ["a.pdf"] if "attachments" in change else []
    )


def test_text_is_sanitised_when_saved(anna: Client, vacancy: Vacancy) -> None:
    html = '<p onclick="x()">Hi <script>alert(1)</script><a href="javascript:x()">there</a></p>'

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"description": html}))

    vacancy.refresh_from_db()
    assert vacancy.description == "<p>Hi <a>there</a></p>"


# --- options ---


@pytest.mark.slow("opens and saves the form several times")
def test_options_keep_the_order_of_picking(anna: Client, vacancy: Vacancy, regions: list) -> None:
    antwerp, ghent, leuven = regions
    for picked in ([leuven, antwerp, ghent], [ghent, leuven], [leuven, ghent]):
        form = opened(anna, page(vacancy)) | {"regions": [option.pk for option in picked]}
        assert saved(anna.post(page(vacancy), form))
        assert list(vacancy.choices.order_by("position").values_list("option", flat=True)) == form["regions"]
        assert opened(anna, page(vacancy))["regions"] == [str(option.pk) for option in picked]


def test_vacancy_has_at_most_one_job_category(anna: Client, vacancy: Vacancy, regions: list) -> None:
    filter = Filter.objects.get(keyword="functiongroup")
    care, ict = (
        FilterOption.objects.create(filter=filter, label=label, value=label) for label in ("Care", "ICT")
    )
    for option in (care, ict):
        assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"functiongroup": option.pk}))
        assert [choice.option for choice in vacancy.choices.all()] == [option]


def test_option_of_another_filter_is_refused(anna: Client, vacancy: Vacancy, regions: list) -> None:
    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | {"types": [regions[0].pk]})

    assert list(errors(response)) == ["types"]


# --- publication ---


@pytest.mark.slow("opens and saves the form several times")
@pytest.mark.parametrize(
    ("zone", "midnight"),
    [
        ("Europe/Brussels", datetime(2198, 7, 31, 22, tzinfo=UTC)),
        ("America/New_York", datetime(2198, 8, 1, 4, tzinfo=UTC)),
        ("UTC", datetime(2198, 8, 1, tzinfo=UTC)),
    ],
)
def test_closing_date_ends_with_that_day_in_the_site_time_zone(
    anna: Client, vacancy: Vacancy, settings: Any, zone: str, midnight: datetime
) -> None:
    settings.TIME_ZONE = zone

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"last_day": "2198-07-31"}))

    vacancy.refresh_from_db()
    assert vacancy.publish_until == midnight
    assert opened(anna, page(vacancy))["last_day"] == "2198-07-31"


def test_empty_closing_date_means_no_end(anna: Client, vacancy: Vacancy) -> None:
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"last_day": ""}))

    vacancy.refresh_from_db()
    assert vacancy.publish_until is None


@pytest.mark.slow("opens and saves the form several times")
@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"brand": ""}, {"brand": ["A vacancy needs a brand to be published."]}),
        ({"head_recruiter": ""}, {"head_recruiter": ["A vacancy needs a lead recruiter to be published."]}),
        (
            {"last_day": "2021-01-01"},
            {"last_day": ["The closing date has passed. Choose a later date or leave it empty."]},
        ),
        ({"last_day": "9999-12-31"}, {"last_day": ["Leave this empty if the vacancy has no closing date."]}),
        (
            {"last_day": "2198-01-01", "publish_from_0": "2198-01-02"},
            {"last_day": ["The closing date is before the publication date."]},
        ),
    ],
)
def test_refused_publication_shows_the_error_at_the_field(
    anna: Client, vacancy: Vacancy, change: dict[str, str], refusal: dict[str, list[str]]
) -> None:
    response = anna.post(page(vacancy), opened(anna, page(vacancy)) | change | {"title": "Changed"})

    assert errors(response) == refusal
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.updated_at) == ("Nurse", LONG_AGO)


def test_expired_vacancy_stays_editable(anna: Client, vacancy: Vacancy) -> None:
    Vacancy.objects.update(publish_until=LONG_AGO + timedelta(days=1))

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"title": "Nurses"}))


def test_draft_needs_nothing_but_a_title(anna: Client) -> None:
    assert saved(anna.post(ADD, {**NO_ROWS, "title": "Nurse", "status": "draft", "audience": "public"}))


def test_view_on_site_is_offered_for_public_vacancies_only(anna: Client, vacancy: Vacancy) -> None:
    address = f'href="/vacancies/{vacancy.pk}"'
    assertContains(anna.get(page(vacancy)), address)

    Vacancy.objects.update(status="unpublished")

    assertNotContains(anna.get(page(vacancy)), address)


def test_user_with_view_permission_reads_all_and_changes_nothing(
    client: Client, vacancy: Vacancy, regions: list
) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[0])
    user = User.objects.create_user("guest", is_staff=True)
    rights = ("view_vacancy", "work_for_every_brand")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(user)

    response = client.get(page(vacancy))

    assertContains(response, "Regions: Antwerp")
    assertNotContains(response, "Unpublish")
    assert client.post(f"{LIST}{vacancy.pk}/unpublish/").status_code == 403
    assert client.post(page(vacancy), {"title": "Mine"}).status_code == 403
    assert Vacancy.objects.get().title == "Nurse"


# --- uploads ---


@pytest.mark.slow("creates large pictures")
@pytest.mark.parametrize(
    ("size", "refusal"),
    [
        ((300, 900), ""),
        ((900, 300), ""),
        ((299, 600), "“a.png” has 299 × 600 pixels: its shorter side needs at least 300."),
        (
            (1201, 400),
            "“a.png” has 1201 × 400 pixels: its longer side may have at most three times as many as its "
            "shorter side.",
        ),
    ],
)
def test_image_of_a_vacancy_can_be_cropped(
    anna: Client, vacancy: Vacancy, size: tuple[int, int], refusal: str
) -> None:
    posted = opened(anna, page(vacancy)) | {"image": picture("a.png", "PNG", size)}

    response = anna.post(page(vacancy), posted)

    assert saved(response) if not refusal else errors(response) == {"image": [refusal]}
    vacancy.refresh_from_db()
    assert bool(vacancy.image) == (not refusal)
