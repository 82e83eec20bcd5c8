"""The tasks. Each begins on the start page, signed in, and finds its way by roles and labels."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tests.browser.tour.hand import Hand

TASKS: dict[str, tuple[str, str, Callable[[Hand], None]]] = {}  # by name: text, user, function
ROWS = "#result_list input[name=_selected_action]"
TEXT = "We look for a colleague who likes to work with people. " * 30


def task(text: str, user: str = "recruiter") -> Any:
    def add(function: Callable[[Hand], None]) -> Callable[[Hand], None]:
        TASKS[function.__name__] = text, user, function
        return function

    return add


def menu(hand: Hand, name: str) -> None:
    settings = hand.page.locator(".menu-settings:not([open])")
    if settings.get_by_role("link", name=name, include_hidden=True).count():
        hand.click(settings.locator("summary"))
    hand.follow(
        hand.page.locator("#nav-sidebar-apps, #nav-sidebar, body").first.get_by_role(
            "link", name=re.compile(rf"(^|\s){name}(\s|$|\d)")
        )
    )


def search_list(hand: Hand, words: str) -> None:
    hand.type(words, hand.page.locator("#searchbar"))
    hand.enter()


def open_vacancy(hand: Hand, title: str) -> None:
    """By the list of vacancies and its search."""
    menu(hand, "Vacancies")
    search_list(hand, title)
    hand.follow(hand.page.locator("#result_list").get_by_role("link", name=title))


def in_menu(hand: Hand, name: str) -> None:
    """Click a link of the page of a vacancy, in its menu if there is one."""
    more = hand.page.locator(".vacancy-head summary")
    if more.count():
        hand.click(more)
    hand.follow(hand.link(name))


def select_all(hand: Hand) -> None:
    hand.click(
        hand.page.locator("#action-toggle"), hand.page.get_by_label(re.compile("Select all"))
    )


def confirm(hand: Hand, name: Any) -> None:
    is_exact = isinstance(name, str)
    hand.follow(hand.page.locator("#content").get_by_role("button", name=name, exact=is_exact))


def day(days: int) -> str:
    return (date.today() + timedelta(days=days)).isoformat()


def fill_date(hand: Hand, target: Any, days: int) -> None:
    hand.click(target)
    hand.press("Control+a")
    hand.type(day(days))
    hand.press("Escape") if hand.page.locator(".calendarbox:visible").count() else None


@task("Create a vacancy and publish it")
def create_and_publish(hand: Hand) -> None:
    page = hand.page
    hand.follow(hand.link("New vacancy"))
    hand.type("Tour nurse for the night", page.locator("#id_title"))
    hand.paste(TEXT, page.get_by_role("textbox", name="Description", exact=True))
    if not page.locator("#id_brand option[selected]").count():  # several brands
        hand.click(page.locator("#id_brand + .select2 .select2-selection"))
        first = hand.find(
            page.locator(".select2-results__option--highlighted:not(.loading-results)")
        )
        first.wait_for()
        hand.press("Enter")
    hand.click(page.get_by_role("tab", name="People"))
    hand.click(page.locator("#id_head_recruiter + .select2 .select2-selection"))
    hand.find(page.locator(".select2-results__option--highlighted:not(.loading-results)"))
    hand.press("Enter")
    hand.follow(page.locator("[name=_continue]"))
    hand.follow(hand.link("Publish now"))
    confirm(hand, "Publish now")
    hand.find(hand.text(re.compile("1 vacancy was published")))


@task("Publish a vacancy, and find it on the career site")
def find_on_site(hand: Hand) -> None:
    create_and_publish(hand)
    in_menu(hand, "View on site")
    hand.follow(hand.link(re.compile("All vacancies")))
    hand.find(hand.link("Tour nurse for the night"))


@task("Find the five vacancies that close this week, and extend them")
def extend_five(hand: Hand) -> None:
    page = hand.page
    hand.follow(hand.link(re.compile("^Closing within a week|Closing this week")))
    if len([each for each in page.locator(ROWS).all() if each.is_visible()]) != 5:
        raise AssertionError("The list does not show the five vacancies.")
    select_all(hand)
    hand.action("Extend…")
    confirm(hand, re.compile("Extend"))
    hand.find(hand.text(re.compile("5 vacancies were extended")))


@task("Restore last week's text of a vacancy")
def restore_text(hand: Hand) -> None:
    page = hand.page
    open_vacancy(hand, "Tour restore")
    hand.follow(page.locator("#content, body").get_by_role("link", name="History"))
    week_ago = page.locator(".panel-card").nth(2)
    hand.follow(week_ago.get_by_role("link", name="Restore"))
    confirm(hand, "Restore")
    hand.find(hand.text(re.compile("version was restored")))


@task("Reject twelve applicants with one email")
def reject_twelve(hand: Hand) -> None:
    page = hand.page
    menu(hand, "Applications")
    search_list(hand, "Tourist")
    if page.locator(ROWS).count() != 12:
        raise AssertionError("The list does not show the twelve applications.")
    select_all(hand)
    hand.action("Reject with an email…", "Send an email…")
    hand.choose(page.locator("#content select[name=template]"), "Rejection of the tour")
    if page.locator("#content select[name=stage]").count():
        hand.choose(page.locator("#content select[name=stage]"), "Rejected")
    hand.follow(hand.button(re.compile("Preview|Continue|Show")))
    confirm(hand, re.compile("^Send"))
    hand.find(hand.text(re.compile("12 emails|12 applications")))


def tick(hand: Hand, count: int) -> None:
    """Select the first `count` rows of the list: the first, and the last one with Shift."""
    rows = hand.page.locator(ROWS)
    hand.click(rows.nth(0))
    hand.page.keyboard.down("Shift")
    hand.click(rows.nth(count - 1))
    hand.page.keyboard.up("Shift")
    hand.keys += 1
    if hand.page.locator(f"{ROWS}:checked").count() != count:
        raise AssertionError(f"The list does not have {count} selected rows.")


@task("Reject ten of twelve applicants with one email")
def reject_ten(hand: Hand) -> None:
    """The stage sends an email."""
    menu(hand, "Applications")
    search_list(hand, "Zyxtalk")
    tick(hand, 10)
    hand.action("Move to: Rejected")
    confirm(hand, re.compile("^Move 10"))
    hand.find(hand.text(re.compile("10 applications|10 were|moved")))


@task("Invite two applicants to an interview, from the list")
def invite_two(hand: Hand) -> None:
    page = hand.page
    menu(hand, "Applications")
    search_list(hand, "Zyxtalk")
    hand.clicks = hand.keys = hand.pages = 0
    hand.seconds = hand.waited = 0.0
    hand.follow(page.locator("#result_list").get_by_role("link", name="Given10 Zyxtalk"))
    invite(hand, "10:00")
    hand.follow(page.get_by_role("link", name="Next"))
    invite(hand, "11:00")


def invite(hand: Hand, start: str) -> None:
    page = hand.page
    hand.follow(hand.link("Invite"))
    fill_date(hand, page.locator("#id_starts_at_0"), 7)
    next_time(hand, start)
    hand.follow(hand.button("Preview"))
    hand.follow(hand.button("Invite"))
    hand.find(hand.text(re.compile("^Interview: ")))


def next_time(hand: Hand, text: str) -> None:
    """Type into the next field. The button of the field before it comes first."""
    hand.press("Tab")
    hand.press("Tab")
    hand.type(text)


@task("Offer times to eight applicants")
def offer_eight(hand: Hand) -> None:
    page = hand.page
    menu(hand, "Applications")
    search_list(hand, "Zyxtalk")
    tick(hand, 8)
    hand.action("Let applicants choose a time…")
    fill_date(hand, page.locator("#id_day1"), 7)
    for at in ("09:00", "17:00"):
        next_time(hand, at)
    if not page.locator("#id_name").input_value():
        hand.type("Talk", page.locator("#id_name"))
    fill_date(hand, page.locator("#id_closes_on"), 5)
    hand.follow(hand.button("Preview"))
    hand.follow(hand.button("Send"))
    hand.find(hand.text("8 applicants may choose a time."))


@task("Choose a time as an applicant, from the email")
def choose_time(hand: Hand) -> None:
    """The first click is on the link of the email, which a note has here."""
    page = hand.page
    menu(hand, "Applications")
    search_list(hand, "Given11 Zyxtalk")
    hand.follow(page.locator("#result_list").get_by_role("link", name="Given11 Zyxtalk"))
    path = page.locator("#notes .application-text").text_content()
    page.context.clear_cookies()
    page.goto(f"{hand.site}{path}")
    hand.clicks, hand.keys, hand.pages, hand.seconds, hand.waited = 1, 0, 1, 0.0, 0.0
    hand.follow(page.locator("#times button").first)
    hand.find(page.get_by_text("You can choose another time:"))


@task("Import 30 vacancies from a spreadsheet")
def import_thirty(hand: Hand) -> None:
    page = hand.page
    menu(hand, "Vacancies")
    if page.locator("summary", has_text="More").count():
        hand.click(page.locator("summary", has_text="More"))
    hand.follow(
        page.locator("#content, body").get_by_role("link", name=re.compile("Import")), timeout=3_000
    )
    rows = [f"Tour import {number},<p>Text {number}</p>" for number in range(30)]
    content = "\n".join(["title,description", *rows]).encode()
    hand.attach(page.locator("input[type=file]"), "vacancies.csv", content)
    confirm(hand, re.compile("Show the changes|Check|Upload"))
    hand.find(hand.text(re.compile("30 new")))
    confirm(hand, re.compile("^Import"))
    hand.find(hand.text(re.compile(r"30 (new )?vacancies|30 vacancies were|imported")))


@task("Give a new colleague a role and a brand", user="admin")
def invite_colleague(hand: Hand) -> None:
    menu(hand, "Users")
    page = hand.page
    hand.follow(hand.link("Invite a colleague"), timeout=3_000)
    hand.type("noor.peeters@example.org", page.get_by_label("E-mail address"))
    hand.type("Noor", page.get_by_label("First name"))
    hand.type("Peeters", page.get_by_label("Last name"))
    hand.click(page.get_by_role("radio", name=re.compile("^Recruiter")))
    hand.click(page.get_by_role("group", name="Brands").get_by_role("checkbox").first)
    confirm(hand, "Send the invitation")
    hand.find(hand.text("The invitation is sent to"))


@task("Find an applicant by name")
def find_applicant(hand: Hand) -> None:
    hand.type("zyxmans", hand.find(hand.page.locator("#site-search input[type=search]")))
    found = hand.page.locator("#site-search-results").get_by_role(
        "option", name=re.compile("Zyxmans")
    )
    hand.follow(hand.find(found, hand.page.locator("#site-search-results a", has_text="Zyxmans")))
    hand.find(hand.page.locator(".application-name", has_text="Noor Zyxmans"))


@task("Duplicate a vacancy")
def duplicate(hand: Hand) -> None:
    open_vacancy(hand, "Tour duplicate")
    in_menu(hand, "Duplicate")
    confirm(hand, "Duplicate")
    hand.find(hand.text(re.compile("duplicated|copy", re.IGNORECASE)))


@task("Schedule a vacancy for next week")
def schedule(hand: Hand) -> None:
    page = hand.page
    open_vacancy(hand, "Tour schedule")
    in_menu(hand, "Schedule…")
    fill_date(hand, page.locator("#id_publish_from_0"), 7)
    hand.type("09:00", page.locator("#id_publish_from_1"))
    hand.press("Escape") if page.locator(".clockbox:visible").count() else None
    confirm(hand, re.compile("Schedule"))
    hand.find(hand.text(re.compile("1 vacancy was scheduled")))


@task("Undo a wrong unpublish")
def undo_unpublish(hand: Hand) -> None:
    """Counted from the moment after the mistake."""
    open_vacancy(hand, "Tour unpublish")
    in_menu(hand, "Unpublish")
    confirm(hand, "Unpublish")
    hand.find(hand.text(re.compile("1 vacancy was unpublished")))
    hand.clicks = hand.keys = hand.pages = 0
    hand.seconds = hand.waited = 0.0
    hand.follow(hand.button("Undo"), hand.link("Undo"))
    hand.find(hand.text(re.compile("undone|restored|again", re.IGNORECASE)))


@task("Fill in all facts: reference, language, work place, place, countries, pay")
def fill_in_facts(hand: Hand) -> None:
    """Counted from the open form to the saved vacancy."""
    page = hand.page
    open_vacancy(hand, "Tour facts")
    hand.clicks = hand.keys = hand.pages = 0
    hand.seconds = hand.waited = 0.0

    def next_field(text: str) -> None:
        hand.press("Tab")
        hand.type(text)

    hand.type("R-2041", page.get_by_label("Reference", exact=True))
    next_field("du")  # the language: the select finds Dutch
    hand.click(page.get_by_role("tab", name="Job details"))
    hand.click(page.get_by_role("button", name=re.compile("^Use as place: Antwerp")))
    next_field("hyb")  # the work place
    next_field("Belg")  # the countries
    hand.find(page.locator(".select2-results__option--highlighted", has_text="Belgium"))
    hand.press("Enter")
    hand.click(page.get_by_role("tab", name="Pay"))
    hand.type("2600", page.get_by_label("Pay from"))
    next_field("3100")
    hand.press("Tab")  # currency and period are those of the vacancy before
    hand.press("Tab")
    next_field("Gross")
    hand.follow(page.locator("[name=_continue]"))
    hand.find(hand.text(re.compile("was changed successfully")))
    wanted = {
        "reference": "R-2041",
        "language": "nl",
        "work_place": "hybrid",
        "remote_countries": "BE",
        "places-0-locality": "Antwerp",
        "places-0-country": "BE",
        "places-0-latitude": "51.22",
        "pay_min": "2600.00",
        "pay_max": "3100.00",
        "pay_currency": "EUR",
        "pay_period": "month",
        "pay_note": "Gross",
    }
    found = {name: page.locator(f"#id_{name}").input_value() for name in wanted}
    if found != wanted:
        raise AssertionError(f"The page has {found}.")


@task("Add an application that came by email, with its CV")
def add_application(hand: Hand) -> None:
    page = hand.page
    menu(hand, "Applications")
    hand.follow(hand.link(re.compile("Add application$")), timeout=3_000)
    hand.option("vacancy", "Tour duplicate")
    hand.press("Tab")
    for text in ("Zyxada", "Lovelace", "ada@example.org"):
        hand.type(text)
        hand.press("Tab")
    hand.attach(page.locator("input[type=file]"), "cv.pdf", b"%PDF-1.7 the CV")
    hand.follow(hand.button("Save"))
    hand.find(page.locator(".application-name", has_text="Zyxada Lovelace"))


@task("See how many applied last month for each vacancy, and from where")
def report(hand: Hand) -> None:
    shortcut = hand.page.locator("#content").get_by_role(
        "link", name=re.compile("Last month.s applications")
    )
    if shortcut.count():
        hand.follow(shortcut)
    else:
        menu(hand, "Reports")
        hand.follow(hand.link("Last month"))
    hand.find(hand.page.locator("#report-vacancies-sources"))


@task("Read 13 applications with their CVs, and rate them")
def read_and_rate(hand: Hand) -> None:
    """Counted from the page of the vacancy."""
    page = hand.page
    open_vacancy(hand, "Tour applications")
    hand.clicks = hand.keys = hand.pages = 0
    hand.seconds = hand.waited = 0.0
    hand.follow(hand.link("Read applications"))
    for number in range(1, 14):
        hand.find(page.locator(".application-frame"))
        hand.type("4")
        hand.find(page.locator("[data-unsaved-of]", has_text="4/5"))
        if number < 13:
            hand.press("j")
            hand.find(page.get_by_text(f"{number + 1} of 13", exact=True).first)


@task("Create a real vacancy: options, form, closing date, preview, publish")
def create_real(hand: Hand) -> None:
    page = hand.page
    hand.follow(hand.link("New vacancy"))
    hand.type("Tour nurse for the day", page.locator("#id_title"))
    hand.press("Tab")
    hand.press("Enter")  # opens the brands
    hand.find(page.locator(".select2-results__option--highlighted:not(.loading-results)"))
    hand.press("Enter")
    hand.paste(TEXT, page.get_by_role("textbox", name="Description", exact=True))
    hand.click(page.get_by_role("tab", name="Job details"))
    for field in ("functiongroup", "contract_types", "work_regimes", "regions"):
        if page.locator(f"#id_{field}").count():
            first_choice(hand, page.locator(f"#id_{field} + .select2 .select2-selection"))
    hand.click(page.get_by_role("tab", name="People"))
    first_choice(hand, page.locator("#id_head_recruiter + .select2 .select2-selection"))
    hand.click(page.get_by_role("tab", name="Application form"))
    first_choice(hand, page.locator("#id_form + .select2 .select2-selection"))
    hand.click(page.get_by_role("tab", name="Publication"))
    fill_date(hand, page.locator("#id_last_day"), 30)
    hand.follow(page.locator("[name=_continue]"))
    with page.expect_popup() as opened:
        hand.click(hand.link("Preview"))
    opened.value.close()
    hand.follow(hand.link("Publish now"))
    confirm(hand, "Publish now")
    hand.find(hand.text(re.compile("1 vacancy was published")))


def first_choice(hand: Hand, box: Any) -> None:
    """Open a searched select and choose its first row."""
    hand.click(box)
    hand.find(hand.page.locator(".select2-results__option--highlighted:not(.loading-results)"))
    hand.press("Enter")
