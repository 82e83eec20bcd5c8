"""The admin of vacancies, used as a browser without JavaScript uses it."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django.asserts import assertContains, assertNotContains

from vacancies.models import (
    Attachment,
    Brand,
    Filter,
    FilterOption,
    Recruiter,
    State,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
LIST = "/admin/vacancies/vacancy/"
ADD = f"{LIST}add/"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
NO_ROWS = {
    f"{prefix}-{name}": "0"
    for prefix in ("recruiter_links", "attachments")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS")
}


@pytest.fixture
def anna(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("anna", first_name="Anna", last_name="Peeters"))
    return client


@pytest.fixture
def brand() -> Brand:
    return Brand.objects.create(name="Acme")


@pytest.fixture
def recruiter() -> Recruiter:
    return Recruiter.objects.create(name="Jan", email="jan@acme.test")


@pytest.fixture
def vacancy(brand: Brand, recruiter: Recruiter) -> Vacancy:
    """A published vacancy with line ends that browsers change, and times with microseconds."""
    return Vacancy.objects.create(
        title="Nurse",
        description="<p>Care\nfor people</p>\n",
        brand=brand,
        head_recruiter=recruiter,
        status="published",
        publish_from=LONG_AGO + timedelta(microseconds=123456),
        publish_until=datetime(2199, 5, 1, 14, 30, 15, 5, tzinfo=UTC),
        updated_at=LONG_AGO,
    )


@pytest.fixture
def regions() -> list[FilterOption]:
    filter = Filter.objects.get(keyword="regions")
    return [
        FilterOption.objects.create(filter=filter, label=label, value=label.lower(), position=position)
        for position, label in enumerate(("Antwerp", "Ghent", "Leuven"))
    ]


def page(vacancy: Vacancy) -> str:
    return f"{LIST}{vacancy.pk}/change/"


def opened(client: Client, url: str) -> dict[str, Any]:
    """Return what a browser posts from the form at `url` if nothing is changed."""
    html = client.get(url).content.decode()
    html = html[re.search(r'id="\w+_form"', html).start() :]  # type: ignore[union-attr]
    data: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", html):
        fields = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        kind = fields.get("type", "text")
        if (
            "name" in fields
            and kind not in {"submit", "file"}
            and (kind not in {"checkbox", "radio"} or re.search(r"\schecked[\s>]", tag))
        ):
            data[fields["name"]] = fields.get("value", "on" if kind == "checkbox" else "")
    for name, text in re.findall(r'<textarea[^>]*\sname="(\w+)"[^>]*>\n?(.*?)</textarea>', html, re.S):
        data[name] = unescape(text).replace("\r\n", "\n").replace("\n", "\r\n")
    for name, body in re.findall(r'<select[^>]*\sname="([\w-]+)"[^>]*>(.*?)</select>', html, re.S):
        chosen = re.findall(r'<option value="([^"]*)"[^>]* selected', body)
        if chosen:
            data[name] = chosen
    return data


def errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def saved(response: Any) -> bool:
    return response.status_code == 302


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


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"brand": ""}, {"brand": ["A vacancy needs a brand to be published."]}),
        ({"head_recruiter": ""}, {"head_recruiter": ["A vacancy needs a lead recruiter to be published."]}),
        (
            {"last_day": "2021-01-01"},
            {"last_day": ["The closing date has passed. Choose a later date or leave it empty."]},
        ),
        (
            {"last_day": "9999-12-31"},
            {"last_day": ["Leave this empty if the vacancy has no closing date."]},
        ),
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


def test_concurrent_save_is_refused_and_overwrites_nothing(anna: Client, vacancy: Vacancy) -> None:
    first, second = opened(anna, page(vacancy)), opened(anna, page(vacancy))
    assert saved(anna.post(page(vacancy), first | {"title": "First"}))

    response = anna.post(page(vacancy), second | {"title": "Second"})

    [error] = response.context["adminform"].form.non_field_errors()
    assert re.match(
        r"Not saved: Anna Peeters changed this vacancy on .*, after you opened it: Title\. <a ", error
    )
    assertContains(response, 'value="Second"')
    assert not saved(anna.post(page(vacancy), second | {"title": "Second, again"}))
    vacancy.refresh_from_db()
    assert vacancy.title == "First"


def test_view_on_site_is_offered_for_public_vacancies_only(anna: Client, vacancy: Vacancy) -> None:
    address = f'href="/v1/vacancies/{vacancy.pk}"'
    assertContains(anna.get(page(vacancy)), address)

    Vacancy.objects.update(status="unpublished")

    assertNotContains(anna.get(page(vacancy)), address)


# --- actions ---


def run(client: Client, action: str, vacancies: list[Vacancy]) -> list[str]:
    data = {"action": action, "_selected_action": [vacancy.pk for vacancy in vacancies]}
    return [str(message) for message in client.post(LIST, data, follow=True).context["messages"]]


def test_publish_action_reports_how_many_and_why_not(anna: Client, vacancy: Vacancy) -> None:
    ready = Vacancy.objects.create(
        title="Cook",
        description="<p>Cook.</p>",
        brand=vacancy.brand,
        head_recruiter=vacancy.head_recruiter,
    )
    bare = Vacancy.objects.create(title="Porter")

    assert run(anna, "publish_selected", [ready, bare, vacancy]) == [
        "1 vacancy was published.",
        "“Nurse” was not changed. It is already published.",
        "“Porter” was not changed. A vacancy needs a lead recruiter to be published. "
        "A vacancy needs a brand to be published. A vacancy needs a description to be published.",
    ]
    states = {vacancy.title: vacancy.state.value for vacancy in Vacancy.objects.all()}
    assert states == {"Cook": "published", "Porter": "draft", "Nurse": "published"}
    ready.refresh_from_db()
    assert ready.search_text == "cook cook."


def test_publish_action_keeps_a_past_start_and_replaces_a_scheduled_one(
    anna: Client, vacancy: Vacancy
) -> None:
    start = vacancy.publish_from
    Vacancy.objects.update(status="unpublished")
    planned = Vacancy.objects.create(
        title="Cook",
        description="<p>Cook.</p>",
        brand=vacancy.brand,
        head_recruiter=vacancy.head_recruiter,
        status="published",
        publish_from=timezone.now() + timedelta(days=9),
    )

    assert run(anna, "publish_selected", [vacancy, planned]) == ["2 vacancies were published."]
    vacancy.refresh_from_db()
    planned.refresh_from_db()
    assert vacancy.publish_from == start
    assert planned.publish_from <= timezone.now()


def test_unpublish_action_reports_how_many_and_why_not(anna: Client, vacancy: Vacancy) -> None:
    draft = Vacancy.objects.create(title="Porter")

    assert run(anna, "unpublish_selected", [vacancy, draft]) == [
        "1 vacancy was unpublished.",
        "“Porter” was not changed. It is not published.",
    ]
    assert anna.get(f"/v1/vacancies/{vacancy.pk}").status_code == 404


def test_publication_action_confirms_on_get_and_runs_on_post(anna: Client, vacancy: Vacancy) -> None:
    url = f"{LIST}{vacancy.pk}/unpublish/"
    assertContains(anna.get(url), "The vacancy is removed from all sites immediately.")
    assert Vacancy.objects.get().state == State.PUBLISHED

    response = anna.post(url)

    assert response["Location"] == page(vacancy)
    assert Vacancy.objects.get().state == State.UNPUBLISHED


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


# --- list ---


def test_list_query_count_does_not_depend_on_the_rows(
    anna: Client, vacancy: Vacancy, django_assert_num_queries: Any
) -> None:
    anna.get(LIST)  # content types are cached
    # session, user; brands of the filter; count, rows
    with django_assert_num_queries(5):
        anna.get(LIST)
    for number in range(29):
        brand = Brand.objects.create(name=f"Brand {number}")
        Vacancy.objects.create(title=f"Cook {number}", brand=brand)
    with django_assert_num_queries(5):
        assertContains(anna.get(LIST), "Brand 28")


@pytest.mark.parametrize("words", ["cafe", "CAFÉ", "keuken cafe", "{pk}"])
def test_search_finds_titles_texts_and_ids_whatever_the_accents(anna: Client, words: str) -> None:
    found = Vacancy.objects.create(title="Chef", description="<p>Café met keuken</p>")
    Vacancy.objects.create(title="Porter", description="<p>Hotel</p>")

    response = anna.get(LIST, {"q": words.format(pk=found.pk)})

    assert [vacancy.title for vacancy in response.context["cl"].result_list] == ["Chef"]


def test_state_filter_agrees_with_the_badge(anna: Client, vacancy: Vacancy) -> None:
    now = timezone.now()
    head = vacancy.head_recruiter
    for title, begin, end in (
        ("Scheduled", now + timedelta(days=1), None),
        ("Expired", LONG_AGO, now - timedelta(days=1)),
        ("Published", LONG_AGO, now + timedelta(days=1)),
    ):
        Vacancy.objects.create(
            title=title, head_recruiter=head, status="published", publish_from=begin, publish_until=end
        )
    Vacancy.objects.create(title="Draft")
    Vacancy.objects.create(title="Unpublished", status="unpublished")
    Vacancy.objects.create(title="Archived", status="archived")
    everything = set(Vacancy.objects.all())

    for state in State:
        rows = set(anna.get(LIST, {"state": state.value}).context["cl"].result_list)
        assert rows == {vacancy for vacancy in everything if vacancy.state == state}
        assert rows


# --- filters, brands, recruiters ---


def option_form(filter: Filter, rows: list[dict[str, Any]], initial: int) -> dict[str, Any]:
    data = {
        "label": filter.label,
        "position": "0",
        "options-TOTAL_FORMS": len(rows),
        "options-INITIAL_FORMS": initial,
    }
    for index, row in enumerate(rows):
        data |= {f"options-{index}-{name}": value for name, value in row.items()}
    return data


def test_option_in_use_is_not_deleted_and_says_why(anna: Client, vacancy: Vacancy, regions: list) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[0])
    rows = [{"id": o.pk, "label": o.label, "value": o.value, "position": o.position} for o in regions]
    rows[0]["DELETE"] = "on"
    filter = regions[0].filter

    response = anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 3))

    assertContains(
        response,
        "“Antwerp” cannot be deleted: a vacancy uses it. Switch it off, merge it with another one, or "
        "rename it.",
    )
    assert list(filter.options.values_list("label", flat=True)) == ["Antwerp", "Ghent", "Leuven"]


def test_new_options_go_last_and_get_values_of_their_own(anna: Client, regions: list) -> None:
    filter = regions[0].filter
    rows = [{"id": o.pk, "label": o.label, "value": o.value, "position": o.position} for o in regions]
    rows += [{"label": "C++", "value": "", "position": ""}, {"label": "C#", "value": "", "position": ""}]

    assert saved(anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 3)))

    assert list(filter.options.values_list("label", "value", "position"))[3:] == [
        ("C++", "c", 3),
        ("C#", "c-2", 4),
    ]


def test_same_option_twice_is_refused_at_the_row(anna: Client, regions: list) -> None:
    filter = Filter.objects.get(keyword="types")
    rows = [{"label": "Nurse", "value": "", "position": ""}] * 2

    response = anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 0))

    assertContains(response, "Another option of this filter already uses this.")
    assert not filter.options.exists()


def test_filters_are_neither_added_nor_deleted(anna: Client) -> None:
    filter = Filter.objects.first()
    assert anna.get("/admin/vacancies/filter/add/").status_code == 403
    assert anna.post(f"/admin/vacancies/filter/{filter.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Filter.objects.count() == 9


@pytest.mark.parametrize("noun", ["brand", "recruiter"])
def test_deleting_what_a_vacancy_needs_is_explained(anna: Client, vacancy: Vacancy, noun: str) -> None:
    needed = vacancy.brand if noun == "brand" else vacancy.head_recruiter

    response = anna.post(f"/admin/vacancies/{noun}/{needed.pk}/delete/", {"post": "yes"})

    assertContains(
        response, "would require deleting the following protected related objects", status_code=200
    )
    assertContains(response, "Nurse")
    assert type(needed).objects.filter(pk=needed.pk).exists()


def test_hidden_email_shows_on_the_recruiters_own_page_only(anna: Client, vacancy: Vacancy) -> None:
    head = vacancy.head_recruiter
    suggestions = (
        "/admin/autocomplete/?app_label=vacancies&model_name=vacancy&field_name=head_recruiter&term={}"
    )

    assert anna.get(suggestions.format("jan@acme")).json()["results"] == []
    assert anna.get(suggestions.format("Ja")).json()["results"] == [{"id": str(head.pk), "text": "Jan"}]
    assertNotContains(anna.get("/admin/vacancies/recruiter/"), "jan@acme.test")
    assertNotContains(anna.get(page(vacancy)), "jan@acme.test")
    assertContains(anna.get(f"/admin/vacancies/recruiter/{head.pk}/change/"), "jan@acme.test")


# --- uploads ---


def picture(name: str, kind: str, size: tuple[int, int] = (400, 300)) -> SimpleUploadedFile:
    file = BytesIO()
    Image.new("1" if kind != "WEBP" else "RGB", size).save(file, kind)
    return SimpleUploadedFile(name, file.getvalue())


@pytest.mark.parametrize(
    ("upload", "refusal"),
    [
        (lambda: picture("a.png", "PNG"), None),
        (lambda: picture("a.JPG", "JPEG"), None),
        (lambda: picture("a.webp", "WEBP"), None),
        (lambda: picture("a.gif", "GIF"), "“a.gif” is GIF. Use a JPEG, PNG or WebP image."),
        (lambda: picture("a.pdf", "PNG"), "The file name must end in .jpg, .png or .webp."),
        (
            lambda: picture("a.png", "PNG", (5001, 5000)),
            "This image has more than 25 megapixels: make it smaller.",
        ),
        (
            lambda: SimpleUploadedFile("a.png", picture("a.png", "PNG").read() + b"0" * 5 * 1024 * 1024),
            "This file is 5.0 MB: an image may have at most 5 MB.",
        ),
        (
            lambda: SimpleUploadedFile("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            "“a.svg” is SVG. Use a JPEG, PNG or WebP image.",
        ),
    ],
)
def test_image_upload_checks_format_and_size(
    anna: Client, settings: Any, tmp_path: Any, upload: Any, refusal: str | None
) -> None:
    settings.MEDIA_ROOT = tmp_path

    response = anna.post("/admin/vacancies/recruiter/add/", {"name": "Jan", "image": upload()})

    if refusal is None:
        assert saved(response)
        assertContains(anna.get("/admin/vacancies/recruiter/"), Recruiter.objects.get().image.url)
    else:
        assert errors(response) == {"image": [refusal]}


@pytest.mark.parametrize(
    ("size", "is_kept"), [((300, 900), True), ((900, 300), True), ((299, 600), False), ((1201, 400), False)]
)
def test_image_of_a_vacancy_can_be_cropped(
    anna: Client, vacancy: Vacancy, size: tuple[int, int], is_kept: bool
) -> None:
    posted = opened(anna, page(vacancy)) | {"image": picture("a.png", "PNG", size)}

    assert saved(anna.post(page(vacancy), posted)) == is_kept
    vacancy.refresh_from_db()
    assert bool(vacancy.image) == is_kept


@pytest.mark.parametrize(
    "query",
    [
        "title__regex=(x%2Bx%2B)%2By",
        "title__regex=(",
        "publish_until__year=99999",
        "search_text__contains=%00",
    ],
)
def test_list_accepts_only_the_filters_it_shows(anna: Client, query: str) -> None:
    assert anna.get(f"/admin/vacancies/vacancy/?{query}").status_code == 400


@pytest.mark.parametrize(
    "query", ["audience__exact=public", "is_hot__exact=1", "brand__id__exact=1", "q=a%00b"]
)
def test_list_accepts_the_filters_of_its_links(anna: Client, query: str) -> None:
    assert anna.get(f"/admin/vacancies/vacancy/?{query}", follow=True).status_code == 200


def test_autocomplete_accepts_any_text(anna: Client) -> None:
    field = {"app_label": "vacancies", "model_name": "vacancy", "field_name": "head_recruiter"}
    assert anna.get("/admin/autocomplete/", field | {"term": "a\0b"}).status_code == 200
