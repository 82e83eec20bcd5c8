"""Recruiters write, publish, edit and restore vacancies, by mouse and by keyboard."""

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group, User
from django.utils import timezone
from PIL import Image

from applications.models import AccessLog, Application, Stage, Status
from applications.operations import receive
from forms_structure.models import Form
from jobsite.admin import roles
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from vacancies import operations
from vacancies.history.versions import record
from vacancies.models import Brand, Change, Filter, FilterOption, Recruiter, Vacancy, Version

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "secret-1234"
ADMIN = "/admin/vacancies/vacancy/"
QUESTION = {"type": "text", "name": "motivation", "label": "Why you?", "required": False, "css": "col-12"}
QUESTIONS = [{"title": "About you", "description": "", "fields": [QUESTION]}]


@pytest.fixture
def office(filters: Any, settings: Any) -> User:
    """A superuser, a brand, a lead recruiter and four regions."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    make_brand("Acme")
    make_recruiter("Jan Peeters")
    for position, label in enumerate(("Antwerp", "Ghent", "Leuven", "Namur")):
        make_option("regions", label, position=position)
    return User.objects.create_superuser("anna", password=PASSWORD)


# --- what hands do ---


def log_in(page: Any, site: str, name: str = "anna") -> None:
    visit(page, f"{site}/admin/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    with page.expect_navigation(url="**/admin/"):
        page.press("#id_password", "Enter")


def visit(page: Any, address: str) -> Any:
    """Open the page and wait for its scripts."""
    return page.goto(address, wait_until="load")


def follow(page: Any, role: str, name: str, **which: Any) -> None:
    """Click a link or button and wait for the next page."""
    with page.expect_navigation():
        page.get_by_role(role, name=name, exact=True, **which).click()


def save(page: Any, button: str = "_continue") -> None:
    with page.expect_navigation():
        page.click(f"[name={button}]")


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def choose(page: Any, field: str, words: str) -> None:
    """Choose an option in a Select2: type, Enter."""
    page.locator(f"#id_{field} + .select2 .select2-selection").click()
    search(page, words)


def search(page: Any, words: str) -> None:
    page.locator(".select2-container--open input.select2-search__field").last.press_sequentially(words)
    page.locator(".select2-results__option--highlighted", has_text=words).wait_for()
    page.keyboard.press("Enter")


def run_action(page: Any, label: str) -> None:
    page.select_option("select[name=action]", label=label)
    with page.expect_navigation():
        page.get_by_role("button", name="Run").click()


def served(page: Any, site: str) -> list[dict[str, Any]]:
    """Return the currently public vacancies."""
    return page.request.get(f"{site}/v1/vacancies").json()["data"]


def picture(colour: str = "teal") -> dict[str, Any]:
    file = BytesIO()
    Image.new("RGB", (640, 400), colour).save(file, "PNG")
    return {"name": f"{colour}.png", "mimeType": "image/png", "buffer": file.getvalue()}


# --- the life of a vacancy ---


def test_vacancy_is_drafted_published_deleted_and_restored(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    Form.objects.create(name="General", is_default=True, structure=QUESTIONS)
    log_in(page, site)

    # Written.
    follow(page, "link", "New vacancy")
    page.fill("#id_title", "Nurse")
    page.get_by_role("textbox", name="Description", exact=True).click()
    page.keyboard.type("We care, ")
    page.keyboard.press("Control+b")
    page.keyboard.type("always")
    page.get_by_role("tab", name="Texts").press("ArrowRight")
    choose(page, "brand", "Acme")
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
    stranger.get_by_text("Not public. This is how the vacancy looks when it is published.").wait_for()
    stranger.get_by_label("Why you?").wait_for()
    assert stranger.locator("meta[name=robots]").get_attribute("content") == "noindex"
    stranger.context.close()
    assert served(page, site) == []

    # Refused in words, then published.
    follow(page, "link", "Publish now")
    page.get_by_role("heading", name="What the public will see").wait_for()
    page.locator(".diff", has_text="We care, always").wait_for()
    page.get_by_role("alert").get_by_text("A vacancy needs a lead recruiter to be published.").wait_for()
    assert page.get_by_role("button", name="Publish now").count() == 0
    follow(page, "link", "Back to the vacancy")
    tab(page, "People")
    choose(page, "head_recruiter", "Jan")
    save(page)
    follow(page, "link", "Publish now")
    follow(page, "button", "Publish now")
    page.get_by_text("1 vacancy was published.").wait_for()
    [item] = served(page, site)
    assert (item["title"], item["description"]) == ("Nurse", "<p>We care, <strong>always</strong></p>")
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
    page.get_by_text("A vacancy needs a lead recruiter to be published.").wait_for()  # it had none then
    restore(page, page.locator(".panel-card").nth(2))
    page.get_by_text("The version was restored.").wait_for()
    [item] = served(page, site)
    assert item["title"] == "Nurse"

    # Copied.
    follow(page, "link", "Duplicate")
    follow(page, "button", "Duplicate")
    copy = Vacancy.objects.exclude(pk=nurse.pk).get()
    assert page.url == f"{site}{ADMIN}{copy.pk}/change/"
    tab(page, "Publication")
    assert page.input_value("#id_status") == "draft"
    dates = ("publish_from_0", "publish_from_1", "last_day")
    assert [page.input_value(f"#id_{name}") for name in dates] == ["", "", ""]

    # Taken offline with others, of which one is none.
    others = [make_vacancy(title=title, brand=nurse.brand).pk for title in ("Baker", "Driver")]
    visit(page, f"{site}{ADMIN}")
    for pk in (nurse.pk, copy.pk, *others):
        page.locator(f"input[name=_selected_action][value='{pk}']").check()
    run_action(page, "Unpublish")
    page.get_by_text("3 vacancies were unpublished.").wait_for()
    page.get_by_text(f"“{copy.title}” was not changed. It is not published.").wait_for()
    assert served(page, site) == []

    # Put away: out of the list, in the filter.
    visit(page, change)
    follow(page, "link", "Archive")
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
        page.get_by_role("link", name="Delete").first.click()
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


def test_invalid_form_opens_the_tab_with_the_error(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}{ADMIN}add/")
    page.fill("#id_title", "Nurse")
    page.get_by_role("textbox", name="Description", exact=True).fill("We care")
    tab(page, "Job details")
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


def test_vacancy_is_published_by_keyboard_only(live_server: Any, browser_page: Any, office: User) -> None:
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
    tab_to(page, "[aria-label=Description]")
    page.keyboard.type("We care, ")
    page.keyboard.press("Control+b")
    page.keyboard.type("always")
    tab_to(page, "[role=tab]", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.get_by_role("tab", name="Job details", selected=True).wait_for()
    choose_by_keys(page, "brand", "Acme")
    choose_by_keys(page, "regions", "Leuven")
    page.keyboard.type("Ghent")
    page.locator(".select2-results__option--highlighted", has_text="Ghent").wait_for()
    page.keyboard.press("Enter")
    tab_to(page, "[role=tab]", "Shift+Tab")
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
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tab_to(page, "[aria-label^='Lead recruiter'][data-opener]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('nav#related-widget-wrapper-head_recruiter a')")
    page.keyboard.press("Escape")
    visit(page, f"{site}{ADMIN}")
    tab_to(page, "[data-opener][x-on\\:click*=filterOpen]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('#changelist-filter a')")
    page.keyboard.press("Escape")
    page.locator("#changelist-filter").wait_for(state="hidden")
    tab_to(page, "[x-data*=openUserLinks] > [data-opener]")
    page.keyboard.press("Enter")
    tab_to(page, "#logout-form button")
    enter(page)
    assert visit(page, f"{site}/admin/").url.endswith("/login/?next=/admin/")


# --- two at a time ---


def test_concurrent_save_shows_what_the_other_recruiter_changed(
    live_server: Any, browser_page: Any, office: User
) -> None:
    site = live_server.url
    User.objects.create_superuser("bob", password=PASSWORD, first_name="Bob", last_name="Maes")
    vacancy = make_vacancy(title="Nurse")
    anna = browser_page
    bob = anna.context.browser.new_context().new_page()
    for page, name in ((anna, "anna"), (bob, "bob")):
        log_in(page, site, name)
        visit(page, f"{site}{ADMIN}{vacancy.pk}/change/")
    bob.fill("#id_title", "Night nurse")
    save(bob)
    anna.fill("#id_title", "Nurse for children")
    save(anna)

    reported = anna.get_by_text("Not saved: Bob Maes changed this vacancy on")
    reported.wait_for()
    assert "Title" in reported.inner_text()
    assert anna.input_value("#id_title") == "Nurse for children"  # her text is not lost
    vacancy.refresh_from_db()
    assert vacancy.title == "Night nurse"
    with anna.expect_popup() as opened:
        anna.get_by_role("link", name="See what changed.").click()
    opened.value.locator("ins", has_text="Night nurse").wait_for()
    save(anna)  # stubbornly: as little as before
    reported.wait_for()
    vacancy.refresh_from_db()
    assert vacancy.title == "Night nurse"
    bob.context.close()


# --- brand scoping ---


def test_recruiter_sees_nothing_of_another_brand(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    roles.create()
    carl = User.objects.create_user("carl", password=PASSWORD, is_staff=True)
    carl.groups.add(Group.objects.get(name="Recruiter"))
    own, other = Brand.objects.get(name="Acme"), make_brand("Rival")
    own.members.add(carl)
    Form.objects.create(name="Free form", structure=QUESTIONS)
    secret_form = Form.objects.create(name="Rival form", structure=QUESTIONS)
    nurse = make_vacancy(title="Nurse", brand=own)
    baker = make_vacancy(title="Baker", brand=other, form=secret_form)
    gone = make_vacancy(title="Butcher", brand=other)
    now = timezone.now()
    for vacancy in (nurse, baker, gone):
        chosen = Vacancy.objects.filter(pk=vacancy.pk)
        operations.unpublish(vacancies=chosen, at=now, author=office)
        operations.publish(vacancies=chosen, at=now, author=office)
    hidden = re.compile("Baker|Butcher|Rival")

    log_in(page, site, "carl")
    page.get_by_role("link", name="Nurse").first.wait_for()  # among the last changes
    assert not hidden.search(page.content())
    for address in (ADMIN, f"{ADMIN}?q=Baker", f"{ADMIN}?q={baker.pk}", f"{ADMIN}?state=all",
                    f"{ADMIN}?brand__id__exact={other.pk}", f"{ADMIN}deleted/",
                    "/admin/vacancies/brand/", "/admin/forms_structure/form/"):  # fmt: skip
        response = visit(page, f"{site}{address}")
        assert response.status == 200
        seen = page.locator("#content, main").first.inner_text()
        assert not hidden.search(seen), address

    visit(page, f"{site}{ADMIN}add/")
    for part, field, offered in (
        ("Job details", "brand", ["Acme"]),
        ("Application form", "form", ["Free form"]),
    ):
        tab(page, part)
        page.locator(f"#id_{field} + .select2 .select2-selection").click()
        results = page.locator(".select2-results__option:not(.loading-results)")
        results.filter(has_text=offered[0]).wait_for()
        assert results.all_inner_texts() == offered
        page.keyboard.press("Escape")
        results.first.wait_for(state="detached")

    pk = Version.objects.filter(vacancy=baker.pk).last().pk
    pages = ("change", "publish", "schedule", "unpublish", "extend", "archive", "duplicate", "history",
             "delete", "preview", "application-form", f"versions/{pk}")  # fmt: skip
    typed = [f"{ADMIN}{baker.pk}/{name}/" for name in pages]
    for address in (*typed, f"/admin/vacancies/brand/{other.pk}/change/",
                    f"/admin/forms_structure/form/{secret_form.pk}/change/"):  # fmt: skip
        response = visit(page, f"{site}{address}")
        assert response.status in (403, 404) or response.url == f"{site}/admin/", address
        assert not hidden.search(page.content().replace(secret_form.name, "")), address
    answer = page.request.get(
        f"{site}/admin/autocomplete/?app_label=vacancies&model_name=vacancy&field_name=brand&term=Rival"
    )
    assert answer.json()["results"] == []
    assert Vacancy.objects.published(at=timezone.now()).count() == 3


# --- parts of a vacancy ---


def test_missing_option_is_added_in_place(live_server: Any, browser_page: Any, office: User) -> None:
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
    assert [text.strip("×\n ") for text in chosen.all_inner_texts()] == ["Leuven", "Mechelen", "Antwerp"]

    # One that is there already is chosen, not made twice.
    page.once("dialog", lambda dialog: dialog.accept("ghent"))
    button.click()
    chosen.filter(has_text="Ghent").wait_for()
    save(page)
    assert served(page, site)[0]["regions"] == ["Leuven", "Mechelen", "Antwerp", "Ghent"]
    assert FilterOption.objects.filter(filter__keyword="regions").count() == 5


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
    page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=shown.element_handle())
    names = [page.input_value(f"#id_attachments-{index}-name") for index in (0, 1)]
    assert names == ["Brochure", "Map"]

    page.fill("#id_attachments-0-position", "7")
    save(page)
    names = [page.input_value(f"#id_attachments-{index}-name") for index in (0, 1)]
    assert names == ["Map", "Brochure"]
    item = page.request.get(f"{site}/v1/vacancies/{vacancy.pk}").json()
    item = item.get("data", item)
    assert [file["name"] for file in item["attachments"]] == ["Map", "Brochure"]
    assert "/media/vacancies/" in item["image"]


# --- vocabularies ---


def test_options_are_merged_and_a_filter_is_switched_off(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    make_option("regions", "Gent", position=9)
    make_vacancy(title="Nurse", options={"regions": ["Gent", "Leuven"]})
    make_vacancy(title="Baker", options={"regions": ["Ghent"], "functiongroup": ["Food"]})
    log_in(page, site)
    visit(page, f"{site}/admin/vacancies/filteroption/")
    for option in FilterOption.objects.filter(label__in=("Gent", "Ghent")):
        page.locator(f"input[name=_selected_action][value='{option.pk}']").check()
    run_action(page, "Merge…")
    page.get_by_role("heading", name="Merge").first.wait_for()
    page.get_by_label("Option to keep").select_option(label="Ghent")
    follow(page, "button", "Merge")
    page.get_by_text("“Gent” was replaced by “Ghent” in 1 vacancy.").wait_for()
    regions = {item["title"]: item["regions"] for item in served(page, site)}
    assert regions == {"Nurse": ["Ghent", "Leuven"], "Baker": ["Ghent"]}

    def keywords() -> list[str]:
        return [each["keyword"] for each in page.request.get(f"{site}/v1/filters").json()["data"]]

    assert keywords() == ["functiongroup", "regions"]
    visit(page, f"{site}/admin/vacancies/filter/")
    row = page.locator("#result_list tbody tr", has_text="regions")
    row.locator("input[name$=is_active]").uncheck(force=True)
    save(page, "_save")
    assert keywords() == ["functiongroup"]


# --- languages ---


def test_admin_uses_the_chosen_language(live_server: Any, browser_page: Any, office: User) -> None:
    page, site = browser_page, live_server.url
    make_vacancy(title="Nurse", publish_from=datetime(2025, 12, 5, 9, 30, tzinfo=UTC))
    log_in(page, site)
    visit(page, f"{site}{ADMIN}")
    row = page.locator("#result_list tr", has_text="Nurse")
    assert "5 Dec 2025" in row.inner_text()
    page.locator("#nav-sidebar").get_by_role("button", name="anna").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Deutsch").click()
    page.locator("#nav-sidebar").get_by_role("link", name="Stellen").first.wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    row.wait_for()
    assert "Dez" in row.inner_text()
    assert "Dec" not in row.inner_text()


# --- for everybody ---


def findings(page: Any, place: str) -> list[str]:
    """Return the serious and critical findings of axe on a page."""
    page.evaluate("document.getAnimations().forEach(each => each.finish())")  # colours that are under way
    violations = Axe().run(page, context="body").response["violations"]
    return [
        f"{place}: {each['id']}: {node['html']}"
        for each in violations
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.fixture
def full_office(office: User, settings: Any) -> Vacancy:
    """Fill every page. Returns a vacancy with all related rows."""
    form = Form.objects.create(name="General", is_default=True, structure=QUESTIONS)
    brand = Brand.objects.get(name="Acme")
    brand.members.add(office)
    vacancy = make_vacancy(
        title="Nurse", brand=brand, form=form, options={"regions": ["Ghent"], "functiongroup": ["Care"]},
        recruiters=("Jan Peeters",), short_description="<p>Care</p>", is_hot=True,
        publish_until=timezone.now() + timedelta(days=3),
    )  # fmt: skip
    vacancy.attachments.create(name="Map", url="https://example.org/map.pdf")
    now = timezone.now()
    for state in ("draft", "unpublished", "archived"):
        make_vacancy(title=f"One that is {state}", brand=brand, status=state)
    make_vacancy(title="Planned", brand=brand, publish_from=now + timedelta(days=9))
    make_vacancy(title="Past", brand=brand, publish_until=now - timedelta(minutes=1))
    record(vacancy, Change.CREATED, author=office, at=now)
    for act in (operations.unpublish, operations.publish):
        act(vacancies=Vacancy.objects.filter(pk=vacancy.pk), at=now, author=office)
    status = Status.objects.create(label_en="Received")
    Stage.objects.all().delete()
    Stage.objects.create(name="Inbox", status=status)
    mia = User.objects.create_user("mia", first_name="Mia", last_name="Maes")
    application = receive(user=mia, vacancy=vacancy, at=now)
    application.history.create(name="Talk", planned_at=now)
    AccessLog.objects.create(actor=office, application=application.pk, action="viewed")
    return vacancy


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.once)])
def test_admin_pages_are_accessible(
    live_server: Any, browser_page: Any, full_office: Vacancy, scheme: str
) -> None:
    page, site, vacancy = browser_page, live_server.url, full_office
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    visit(page, f"{site}/admin/")
    found = findings(page, "login")
    log_in(page, site)
    rows = {
        name: model.objects.order_by("pk").values_list("pk", flat=True).first()
        for name, model in {
            "vacancies/brand": Brand,
            "vacancies/recruiter": Recruiter,
            "vacancies/filter": Filter,
            "vacancies/filteroption": FilterOption,
            "applications/application": Application,
            "applications/stage": Stage,
        }.items()
    }
    version = Version.objects.filter(vacancy=vacancy.pk).first().pk
    of_one = ("publish", "schedule", "extend", "unpublish", "duplicate", "history", "delete", "preview",
              f"versions/{version}")  # fmt: skip
    one = [f"{ADMIN}{vacancy.pk}/{name}/" for name in of_one]
    lists = [*rows, "forms_structure/form", "forms_structure/consenttext", "applications/accesslog",
             "applications/historyentry", "applications/status"]  # fmt: skip
    for address in (
        "/admin/",
        *one,
        f"{ADMIN}deleted/",
        *(f"/admin/{name}/" for name in lists),
        *(f"/admin/{name}/{pk}/change/" for name, pk in rows.items()),
        "/admin/vacancies/brand/add/",
        "/admin/vacancies/recruiter/add/",
    ):
        assert visit(page, f"{site}{address}").status == 200, address
        found += findings(page, address)

    for address in (f"{ADMIN}add/", f"{ADMIN}{vacancy.pk}/change/"):
        visit(page, f"{site}{address}")
        for each in page.get_by_role("tab").all():
            each.click()
            found += findings(page, f"{address} {each.inner_text()}")
    page.get_by_role("tab", name="People").click()
    page.get_by_role("link", name="Add recruiter").first.click()
    found += findings(page, "an empty row")
    page.get_by_role("tab", name="Texts").click()
    page.fill("#id_title", "Night nurse")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("dialog").wait_for()
    found += findings(page, "review")
    page.get_by_role("button", name="Keep editing").click()
    page.fill("#id_title", "")
    page.evaluate("document.querySelector('#id_title').required = false")
    save(page)
    found += findings(page, "refused")

    visit(page, f"{site}{ADMIN}")
    page.get_by_role("button", name="Filters").click()
    page.locator("#changelist-filter").wait_for()
    found += findings(page, "filters of the list")
    visit(page, f"{site}{ADMIN}")
    page.locator("input[name=_selected_action]").first.check()
    found += findings(page, "actions of the list")
    run_action(page, "Schedule…")
    found += findings(page, "many")
    visit(page, f"{site}/admin/vacancies/filteroption/")
    for option in FilterOption.objects.filter(label__in=("Ghent", "Leuven")):
        page.locator(f"input[name=_selected_action][value='{option.pk}']").check()
    run_action(page, "Merge…")
    found += findings(page, "merging")
    assert found == []
