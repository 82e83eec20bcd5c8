"""The admin as a whole: brand scoping, options and filters, languages, accessibility."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from applications.models import AccessLog, Stage, Status
from applications.operations import create_application
from forms_structure.models import Form
from jobsite.accounts import roles
from tests.browser.accessibility import both_findings
from tests.browser.admin import (
    ADMIN,
    PASSWORD,
    QUESTIONS,
    follow,
    log_in,
    make_office,
    run_action,
    save,
    served,
    tab,
    visit,
)
from tests.factories import make_brand, make_option, make_vacancy
from vacancies.history.versions import record
from vacancies.models import Brand, Change, FilterOption, Vacancy, Version
from vacancies.operations import publication

office = pytest.fixture(make_office)


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
        publication.unpublish(vacancies=chosen, at=now, author=office)
        publication.publish(vacancies=chosen, at=now, author=office)
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


# --- accessibility ---


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
    for act in (publication.unpublish, publication.publish):
        act(vacancies=Vacancy.objects.filter(pk=vacancy.pk), at=now, author=office)
    status = Status.objects.create(label_en="Received")
    Stage.objects.all().delete()
    Stage.objects.create(name="Inbox", status=status)
    mia = User.objects.create_user("mia", first_name="Mia", last_name="Maes")
    application = create_application(user=mia, vacancy=vacancy, at=now)
    application.history.create(name="Talk", planned_at=now)
    AccessLog.objects.create(actor=office, application=application.pk, action="viewed")
    return vacancy


def test_what_opens_on_pages_is_accessible(live_server: Any, browser_page: Any, full_office: Vacancy) -> None:
    """Tabs, rows, dialogs, filters, errors and confirmations; test_accessibility.py opens all pages."""
    page, site, vacancy = browser_page, live_server.url, full_office
    log_in(page, site)
    found = []
    for address in (f"{ADMIN}add/", f"{ADMIN}{vacancy.pk}/change/"):
        visit(page, f"{site}{address}")
        for each in page.get_by_role("tab").all():
            each.click()
            found += both_findings(page, f"{address} {each.inner_text()}")
    page.get_by_role("tab", name="People").click()
    page.get_by_role("link", name="Add recruiter").first.click()
    found += both_findings(page, "an empty row")
    page.get_by_role("tab", name="Texts").click()
    page.fill("#id_title", "Night nurse")
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("dialog").wait_for()
    found += both_findings(page, "review")
    page.get_by_role("button", name="Keep editing").click()
    page.fill("#id_title", "")
    page.evaluate("document.querySelector('#id_title').required = false")
    save(page)
    found += both_findings(page, "refused")

    visit(page, f"{site}{ADMIN}")
    page.get_by_role("button", name="Filters").click()
    page.locator("#changelist-filter").wait_for()
    found += both_findings(page, "filters of the list")
    visit(page, f"{site}{ADMIN}")
    page.locator("input[name=_selected_action]").first.check()
    found += both_findings(page, "actions of the list")
    run_action(page, "Schedule…")
    found += both_findings(page, "many")
    visit(page, f"{site}/admin/vacancies/filteroption/")
    for option in FilterOption.objects.filter(label__in=("Ghent", "Leuven")):
        page.locator(f"input[name=_selected_action][value='{option.pk}']").check()
    run_action(page, "Merge…")
    found += both_findings(page, "merging")
    assert found == []
