"""Recruiters write, publish, edit and restore vacancies, by mouse and by keyboard."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from forms_structure.models import Form
from tests.browser.accessibility import both_findings
from tests.browser.admin import (
    ADMIN,
    PASSWORD,
    QUESTIONS,
    choose,
    follow,
    follow_in_menu,
    log_in,
    make_office,
    picture,
    run_action,
    save,
    served,
    tab,
    visit,
)
from tests.factories import make_vacancy
from vacancies.models import FilterOption, Vacancy, VacancyText

office = pytest.fixture(make_office)


def test_vacancy_is_translated_by_keyboard(
    live_server: Any, browser_page: Any, office: User, settings: Any
) -> None:
    settings.TEXT_LANGUAGES = ["fr", "nl"]
    vacancy = make_vacancy(title="Nurse", description="")
    page = browser_page
    log_in(page, live_server.url)
    visit(page, f"{live_server.url}{ADMIN}{vacancy.pk}/change/")
    with page.expect_navigation():
        page.get_by_role("button", name="French").press("Enter")
    expect(page.get_by_label("Title (French)", exact=True)).to_be_focused()
    page.keyboard.type("Infirmier")
    page.get_by_label("Ready").press("Space")
    page.get_by_role("tab", name="French").press("ArrowLeft")
    expect(page.locator("#id_title")).to_be_visible()
    with page.expect_navigation():
        page.locator("#id_title").press("Enter")
    text = VacancyText.objects.get()
    assert (text.language, text.texts, text.is_ready) == ("fr", {"title": "Infirmier"}, True)


@pytest.mark.each_django
def test_vacancy_is_drafted_published_deleted_and_restored(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    Form.objects.create(name="General", is_default=True, structure=QUESTIONS)
    log_in(page, site)
    visit(page, f"{site}/admin/")

    # Written.
    follow(page, "link", "New vacancy")
    page.fill("#id_title", "Nurse")
    choose(page, "brand", "Acme")
    page.get_by_role("textbox", name="Description", exact=True).click()
    page.keyboard.type("We care, ")
    page.keyboard.press("Control+b")
    page.keyboard.type("always")
    page.get_by_role("tab", name="Texts").press("ArrowRight")
    for region in ("Leuven", "Antwerp", "Ghent"):
        choose(page, "regions", region)
    save(page)
    nurse = Vacancy.objects.get()
    change = f"{site}{ADMIN}{nurse.pk}/change/"
    assert page.url == change

    # Looked at by somebody who has nothing but the link.
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Preview").click()
    opened.value.wait_for_load_state()
    stranger = page.context.browser.new_context().new_page()
    visit(stranger, opened.value.url)
    stranger.get_by_role("heading", name="Nurse").wait_for()
    stranger.get_by_text(
        "Not public. This is how the vacancy looks when it is published."
    ).wait_for()
    stranger.get_by_label("Why you?").wait_for()
    assert stranger.locator("meta[name=robots]").get_attribute("content") == "noindex"
    stranger.context.close()
    assert served(page, site) == []

    # Refused in words, then published.
    follow(page, "link", "Publish now")
    page.get_by_role("heading", name="What the public will see").wait_for()
    page.frame_locator(".public-preview").get_by_text("We care, always").wait_for()
    page.get_by_role("alert").get_by_text(
        "A vacancy needs a lead recruiter to be published."
    ).wait_for()
    assert page.get_by_role("button", name="Publish now").count() == 0
    follow(page, "link", "Back to the vacancy")
    tab(page, "People")
    choose(page, "head_recruiter", "Jan")
    save(page)
    follow(page, "link", "Publish now")
    follow(page, "button", "Publish now")
    page.get_by_text("1 vacancy was published.").wait_for()
    [item] = served(page, site)
    assert (item["title"], item["description"]) == (
        "Nurse",
        "<p>We care, <strong>always</strong></p>",
    )
    assert item["regions"] == ["Leuven", "Antwerp", "Ghent"]

    # Opening and saving without a change is no change, whatever the editor makes of the text.
    before = Vacancy.objects.get().updated_at
    save(page)
    assert Vacancy.objects.get().updated_at == before

    # Changed, after a look at the difference.
    tab(page, "Texts")
    page.fill("#id_title", "Night nurse")
    page.get_by_role("button", name="Review changes").click()
    dialog = page.get_by_role("dialog", name="What changes for the public")
    dialog.locator("ins", has_text="Night").wait_for()
    dialog.get_by_role("button", name="Keep editing").click()
    dialog.wait_for(state="detached")
    assert served(page, site)[0]["title"] == "Nurse"
    page.get_by_role("button", name="Review changes").click()
    with page.expect_navigation():
        dialog.get_by_role("button", name="Save").click()
    assert served(page, site)[0]["title"] == "Night nurse"

    # Traced, and undone.
    visit(page, f"{site}{ADMIN}{nurse.pk}/history/")
    latest = page.locator(".panel-card").first
    assert "anna" in latest.inner_text()
    assert latest.locator("ins").all_inner_texts() == ["Night nurse"]
    assert latest.locator("del").all_inner_texts() == ["Nurse"]
    restore(page, page.locator(".panel-card").last)
    # It had none then.
    page.get_by_text("A vacancy needs a lead recruiter to be published.").wait_for()
    restore(page, page.locator(".panel-card").nth(2))
    page.get_by_text("The version was restored.").wait_for()
    [item] = served(page, site)
    assert item["title"] == "Nurse"

    # Copied.
    follow_in_menu(page, "Duplicate")
    follow(page, "button", "Duplicate")
    copy = Vacancy.objects.exclude(pk=nurse.pk).get()
    assert page.url == f"{site}{ADMIN}{copy.pk}/change/"
    tab(page, "Publication")
    assert page.locator(".vacancy-head .panel-state").inner_text() == "Draft"
    dates = ("publish_from_0", "publish_from_1", "last_day")
    assert [page.input_value(f"#id_{name}") for name in dates] == ["", "", ""]

    # Taken offline with others, of which one is none.
    others = [make_vacancy(title=title, brand=nurse.brand).pk for title in ("Baker", "Driver")]
    visit(page, f"{site}{ADMIN}")
    for pk in (nurse.pk, copy.pk, *others):
        page.locator(f"input[name=_selected_action][value='{pk}']").check()
    run_action(page, "Unpublish")
    follow(page, "button", "Unpublish")
    page.get_by_text("3 vacancies were unpublished.").wait_for()
    page.get_by_text(f"“{copy.title}” was not changed. It is not published.").wait_for()
    assert served(page, site) == []

    # Put away: out of the list, in the filter.
    visit(page, change)
    follow_in_menu(page, "Archive")
    follow(page, "button", "Archive")
    page.get_by_text("1 vacancy was archived.").wait_for()
    link = page.locator(f"#result_list a[href*='/vacancy/{nurse.pk}/change/']")
    visit(page, f"{site}{ADMIN}")
    page.locator("#result_list").wait_for()
    assert link.count() == 0
    visit(page, f"{site}{ADMIN}?state=archived")
    link.first.wait_for()

    # Deleted, and back under its old number.
    visit(page, change)
    with page.expect_navigation():
        page.locator(".vacancy-head summary").click()
        page.get_by_role("link", name="Delete…").click()
    with page.expect_navigation():
        page.locator("#content").get_by_role("button", name=re.compile("Yes|Delete")).click()
    assert not Vacancy.objects.filter(pk=nurse.pk).exists()
    visit(page, f"{site}/admin/")
    follow(page, "link", "Deleted vacancies")
    page.get_by_role("heading", name="Nurse").wait_for()
    follow(page, "link", "Restore")
    follow(page, "button", "Restore")
    assert page.url == change
    assert page.input_value("#id_title") == "Nurse"
    assert Vacancy.objects.get(pk=nurse.pk).status == "draft"


def restore(page: Any, version: Any) -> None:
    with page.expect_navigation():
        version.get_by_role("link", name="Restore").click()
    page.get_by_text("is public immediately").wait_for()
    follow(page, "button", "Restore")


@pytest.mark.each_django
def test_invalid_form_opens_the_tab_with_the_error(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}{ADMIN}add/")
    page.fill("#id_title", "Nurse")
    page.get_by_role("textbox", name="Description", exact=True).fill("We care")
    choose(page, "brand", "Acme")
    tab(page, "Publication")
    page.select_option("#id_status", "published")
    save(page)
    page.get_by_role("tab", name="People 1 error", selected=True).wait_for()
    page.get_by_text("A vacancy needs a lead recruiter to be published.").wait_for()
    choose(page, "head_recruiter", "Jan")
    save(page)
    page.wait_for_url("**/change/")
    assert [item["title"] for item in served(page, site)] == ["Nurse"]


# --- parts of a vacancy ---


@pytest.mark.each_django
def test_missing_option_is_added_in_place(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse", options={"regions": ["Leuven"]})
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    tab(page, "Job details")
    page.once("dialog", lambda dialog: dialog.accept("Mechelen"))
    button = page.get_by_role("button", name="Add option: Region")
    button.click()
    chosen = page.locator("#id_regions + .select2 .select2-selection__choice")
    chosen.filter(has_text="Mechelen").wait_for()
    choose(page, "regions", "Antwerp")
    save(page)
    [item] = served(page, site)
    assert item["regions"] == ["Leuven", "Mechelen", "Antwerp"]
    assert [text.strip("×\n ") for text in chosen.all_inner_texts()] == [
        "Leuven",
        "Mechelen",
        "Antwerp",
    ]

    # One that is there already is chosen, not made twice.
    page.once("dialog", lambda dialog: dialog.accept("ghent"))
    button.click()
    chosen.filter(has_text="Ghent").wait_for()
    save(page)
    assert served(page, site)[0]["regions"] == ["Leuven", "Mechelen", "Antwerp", "Ghent"]
    assert FilterOption.objects.filter(filter__keyword="regions").count() == 5


@pytest.mark.each_django
def test_image_is_shown_and_attachments_keep_their_order(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    tab(page, "Media")
    page.set_input_files("#id_image", picture())
    for index, name in enumerate(("Brochure", "Map")):
        page.get_by_role("link", name="Add attachment").last.click()
        page.fill(f"#id_attachments-{index}-url", f"https://example.org/{name}.pdf")
        page.fill(f"#id_attachments-{index}-name", name)
    save(page)
    shown = page.get_by_role("tabpanel", name="Media").locator("img[src*='/media/vacancies/']")
    shown.wait_for()
    page.wait_for_function(
        "image => image.complete && image.naturalWidth > 0", arg=shown.element_handle()
    )
    names = [page.input_value(f"#id_attachments-{index}-name") for index in (0, 1)]
    assert names == ["Brochure", "Map"]

    page.get_by_role("button", name="Show positions").click()
    page.fill("#id_attachments-0-position", "7")
    save(page)
    names = [page.input_value(f"#id_attachments-{index}-name") for index in (0, 1)]
    assert names == ["Map", "Brochure"]
    item = page.request.get(f"{site}/v1/vacancies/{vacancy.pk}").json()
    item = item.get("data", item)
    assert [file["name"] for file in item["attachments"]] == ["Map", "Brochure"]
    assert "/media/vacancies/" in item["image"]


# --- without a mouse ---


def tab_to(page: Any, wanted: str, key: str = "Tab") -> None:
    """Press Tab until the element `wanted` (a selector) has the focus."""
    for _number in range(150):
        page.keyboard.press(key)
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"{key} does not reach {wanted}")


def enter(page: Any) -> None:
    with page.expect_navigation():
        page.keyboard.press("Enter")


def choose_by_keys(page: Any, field: str, words: str) -> None:
    tab_to(page, f"#id_{field} + .select2 *")
    page.keyboard.press("Enter")
    page.locator(".select2-container--open .select2-search__field").last.wait_for()
    page.keyboard.type(words)
    page.locator(".select2-results__option--highlighted", has_text=words).wait_for()
    page.keyboard.press("Enter")


def test_vacancy_is_published_by_keyboard_only(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    visit(page, f"{site}/admin/")
    for field, text in (("#id_username", "anna"), ("#id_password", PASSWORD)):
        if not page.evaluate("wanted => document.activeElement.matches(wanted)", field):
            tab_to(page, field)
        page.keyboard.type(text)
    enter(page)

    tab_to(page, "a[href$='/vacancy/add/']")
    enter(page)
    tab_to(page, "#id_title")
    page.keyboard.type("Nurse")
    choose_by_keys(page, "brand", "Acme")
    tab_to(page, "[aria-label=Description]")
    page.keyboard.type("We care, ")
    page.keyboard.press("Control+b")
    page.keyboard.type("always")
    tab_to(page, "[role=tab]", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.get_by_role("tab", name="Job details", selected=True).wait_for()
    choose_by_keys(page, "regions", "Leuven")
    page.keyboard.type("Ghent")
    page.locator(".select2-results__option--highlighted", has_text="Ghent").wait_for()
    page.keyboard.press("Enter")
    tab_to(page, "[role=tab]", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    choose_by_keys(page, "head_recruiter", "Jan")
    tab_to(page, "[name=_continue]")
    enter(page)

    tab_to(page, "a[href$='/publish/']")
    enter(page)
    tab_to(page, ".panel-form button")
    enter(page)
    page.get_by_text("1 vacancy was published.").wait_for()
    [item] = served(page, site)
    assert (item["title"], item["regions"]) == ("Nurse", ["Leuven", "Ghent"])
    assert item["description"] == "<p>We care, <strong>always</strong></p>"

    # What unfold opens by mouse alone: the links beside a choice, filters, the menu of the user.
    tab_to(page, "[role=tab]")
    for _tab in range(3):
        page.keyboard.press("ArrowRight")
    tab_to(page, "[aria-label^='Lead recruiter'][data-opener]")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.activeElement.matches('nav#related-widget-wrapper-head_recruiter a')"
    )
    page.keyboard.press("Escape")
    visit(page, f"{site}{ADMIN}")
    tab_to(page, "[data-opener][x-on\\:click*=filterOpen]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('#changelist-filter [role=combobox]')")
    page.keyboard.press("Escape")
    page.locator("#changelist-filter").wait_for(state="hidden")
    tab_to(page, "[x-data*=openUserLinks] > [data-opener]")
    page.keyboard.press("Enter")
    tab_to(page, "#logout-form button")
    enter(page)
    assert visit(page, f"{site}/admin/").url.endswith("/login/?next=/admin/")


def test_pickers_are_translated_and_the_focus_is_not_below_the_buttons(
    live_server: Any, browser_page: Any, office: Any
) -> None:
    page, site = browser_page, live_server.url
    page.context.add_cookies([{"name": "django_language", "value": "nl", "url": site}])
    log_in(page, site)
    visit(page, f"{site}{ADMIN}add/")
    assert page.locator(".timelist a").first.text_content() == "Nu"
    page.set_viewport_size({"width": 1400, "height": 500})
    below = """() => {
      const field = document.activeElement;
      const bar = document.querySelector("#submit-row");
      const { top, bottom } = field.getBoundingClientRect();
      const firstLines = Math.min(bottom, top + 60); // an editor can be higher than the window
      const isCovered = firstLines > bar.getBoundingClientRect().top + 1;
      const isInForm = field.matches("#vacancy_form *") && !bar.contains(field);
      return isInForm && isCovered ? field.id || field.className : "";
    }"""
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate(below) == ""


def test_empty_dates_have_no_warning_in_another_time_zone(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    zone = page.context.new_cdp_session(page)
    zone.send("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    log_in(page, site)
    visit(page, f"{site}/admin/")
    assert page.get_by_text("View site").count() == 0
    visit(page, f"{site}{ADMIN}add/")
    tab(page, "Publication")
    page.get_by_text("Time zone: UTC").wait_for()
    warnings = page.locator(".timezonewarning")
    assert warnings.count() == 3  # by Django
    assert [each.is_visible() for each in warnings.all()] == [False] * 3


def test_long_messages_and_buttons_stay_in_the_bar(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site, vacancy = browser_page, live_server.url, make_vacancy()
    page.set_viewport_size({"width": 1280, "height": 900})
    log_in(page, site)
    for language in ("nl", "fr"):
        page.context.add_cookies([{"name": "django_language", "value": language, "url": site}])
        visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
        page.fill("#id_title", f"Something else, {language}")
        page.locator("#submit-row [role=status]:not(:empty)").wait_for()
        cut = page.locator("#submit-row > div > div > *").evaluate_all("""all => all.filter((each) => {
          const { left, top, right, bottom } = each.getBoundingClientRect();
          const bar = document.querySelector("#submit-row").getBoundingClientRect();
          return left < bar.left || right > bar.right || top < bar.top || bottom > bar.bottom;
        }).map((each) => each.innerText)""")
        assert cut == [], language


def test_city_fills_in_its_country_and_coordinates(
    live_server: Any, browser_page: Any, office: User
) -> None:
    """By keyboard. Another city removes the coordinates, a street or a free text does not."""
    page, site = browser_page, live_server.url
    vacancy = make_vacancy(title="Nurse", location="Gent")
    make_vacancy(title="Baker").places.create(locality="Leuven", country="BE")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")

    def row(number: int) -> list[str]:
        names = ("locality", "country", "region", "latitude", "longitude")
        return [page.input_value(f"#id_places-{number}-{name}") for name in names]

    # From the location.
    tab(page, "Job details")
    page.get_by_role("button", name="Use as place: Gent, Belgium").click()
    assert row(0) == ["Gent", "BE", "Flanders", "51.05", "3.717"]
    assert page.evaluate("document.activeElement.id") == "id_location"

    # Typed.
    page.get_by_role("link", name="Add place").click()
    city = page.get_by_role("combobox", name="City").nth(1)
    city.press_sequentially("antw")
    options = page.get_by_role("listbox", name="Cities").get_by_role("option")
    options.first.wait_for()
    assert options.first.inner_text() == "Antwerp Flanders, Belgium"
    assert both_findings(page) == []
    city.press("ArrowDown")
    assert city.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    assert options.first.get_attribute("aria-selected") == "true"
    city.press("Enter")
    assert row(1) == ["Antwerp", "BE", "Flanders", "51.22", "4.4"]
    page.get_by_role("status").filter(has_text="Filled in: Antwerp, Flanders, Belgium.").wait_for()

    # Changed by hand: another name of the city, then another place.
    for text, latitude in (("Antwerpen", "51.22"), ("Our ship", "")):
        city.fill(text)
        city.press("Tab")
        page.wait_for_function(
            "wanted => document.querySelector('#id_places-1-latitude').value === wanted",
            arg=latitude,
        )
    assert row(1) == ["Our ship", "BE", "", "", ""]
    page.get_by_role("button", name="Show coordinates and positions").click()
    page.fill("#id_places-1-latitude", "51.3")
    page.fill("#id_places-1-longitude", "4.3")
    city.fill("Our other ship")
    city.press("Escape")
    city.press("Tab")
    save(page)

    found = vacancy.places.values_list("locality", "country", "latitude", "longitude")
    assert [tuple(map(str, each)) for each in found] == [
        ("Gent", "BE", "51.050000", "3.717000"),
        ("Our other ship", "BE", "51.300000", "4.300000"),
    ]


def test_pay_gets_the_usual_currency_and_period(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    make_vacancy(title="Baker", pay_min=2000, pay_currency="EUR", pay_period="month")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}add/")
    tab(page, "Pay")

    def typed(text: str) -> list[str]:
        page.fill("#id_pay_min", text)
        page.press("#id_pay_min", "Tab")
        return [page.input_value(f"#id_pay_{name}") for name in ("currency", "period")]

    assert typed("2600") == ["EUR", "month"]
    assert typed("") == ["", ""]
    page.fill("#id_pay_currency", "USD")
    assert typed("2600") == ["USD", ""]
