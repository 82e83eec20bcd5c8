"""No text that a user can store runs as code, on any page that a superuser opens.

Every text column of the site is set to a marker that holds markup, event handlers, Alpine directives and
template syntax. The test then opens every page of the admin, the account pages, the preview and the
documentation in Chromium, clicks what opens something, and submits the forms, whose messages and errors
repeat texts.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models

from tests import admin_pages
from tests.admin_pages import APPS, address, kind_of, routes, version_of
from tests.applications.makers import make_application
from tests.browser.admin import serve_static_files
from tests.browser.test_hostile_html import ALARM
from vacancies.previews import token_for

# As markup, in an attribute, in a JavaScript string of either kind, and in a template.
MARKER = (
    """'+pwned()+'${pwned()}"><i zz x-data x-init="pwned()" x-html="pwned()" """
    """@click="pwned()" onclick=pwned()>{{ pwned() }}{% x %}"""
)
SHORT = "<i zz x-init=pwned() @click=pwned()>"  # for columns of 50 characters
# Texts that no form accepts, or without which nothing would work.
UNCHANGED_FIELDS = {
    "auth.Permission": {"name", "codename"},  # of the program
    "auth.User": {"password"},
    "applications.Token": {"digest", "token_key", "password_mark"},
    "vacancies.Filter": {"keyword"},
    "vacancies.ListedVacancy": {"audience"},
    "vacancies.Vacancy": {"title_folded", "search_text"},
    "vacancies.FilterOption": {"value"},  # a slug: checked by its validator
}
# At least how many pages there are, forms that were sent included.
PAGES_OF = {"auth": 12, "forms_structure": 12, "vacancies": 40, "applications": 25}
# Addresses that answer scripts only, without a page.
NO_PAGES = {
    ("forms_structure.form", kind)
    for kind in ("save", "check", "copy", "extend", "sections", "restore", "export")
} | {
    ("vacancies.vacancy", "review"),
    ("vacancies.filter", "option"),
    ("vacancies.filter", "options"),
    ("applications.application", "files"),
    ("applications.application", "emails"),
    ("applications.application", "move"),
}
KEYS_KEPT = {"name", "type", "css", "on_value", "value"}  # of a form's structure, and checked there
STATES = {"status", "audience", "brand", "publish_from", "publish_until", "created_at", "updated_at"}

# Elements made of the marker, in templates that Alpine has not opened too; and attributes that it ended.
FOUND = """() => {
  const roots = [document, ...[...document.querySelectorAll("template")].map((each) => each.content)];
  const broken = roots.flatMap((root) => [...root.querySelectorAll("[zz]")])
    .map((each) => each.cloneNode().outerHTML);
  return [...broken, ...(window.__pwned ? ["a script ran"] : [])];
}"""
# Clicks what opens something, and cancels navigations: the page is examined afterwards.
CLICK = """() => {
  window.navigation.addEventListener("navigate", (event) => {
    if (event.cancelable && !event.hashChange) event.preventDefault();
  });
  const opening = "summary, [role=tab], button, [x-on\\\\:click]";
  for (const each of document.querySelectorAll(opening))
    if (each.type !== "submit" && !each.closest("a[href]:not([href^='#'])")) each.click();
  window.django?.jQuery?.(".select2-hidden-accessible")?.each(function () {
    window.django.jQuery(this).select2("open");
  });
}"""
# The form builder's buttons would lead to a new form.
NO_NEW_FORMS = r"""(() => {
  const send = window.fetch;
  window.fetch = (url, options) =>
    /\/form\/[0-9]+\/(copy|extend)\/$/.test(new URL(url, document.baseURI).pathname)
    ? Promise.reject(new TypeError("not sent")) : send(url, options);
})()"""
# The form of the page, sent as a browser without scripts does; not those that sign out or choose a language.
FORM = """document.querySelector("form[method=post]:not(#logout-form):not([action*=language])")"""
CAN_SUBMIT = f"() => Boolean({FORM})"
SUBMIT = f"""() => {{
  const form = {FORM};
  const button = form.querySelector("[name=_continue]");
  if (button) form.insertAdjacentHTML("beforeend", "<input type=hidden name=_continue value=1>");
  HTMLFormElement.prototype.submit.call(form);
}}"""


@pytest.fixture
def visit(browser_page: Any, settings: Any) -> Iterator[Any]:
    """A function that opens a URL in a tab of its own, and yields the tab and the response: what a click left
    unsaved on one page cannot stop the navigation to the next one. Dialogs are answered, popups are closed. A
    script error in a tab fails the test. Routes of Playwright would disable the browser's cache."""
    serve_static_files(settings)
    context, errors = browser_page.context, []
    context.add_init_script(ALARM)
    context.add_init_script(NO_NEW_FORMS)
    # Otherwise, a page with input that only the browser has is loaded twice, perhaps while it is examined.
    context.add_init_script("localStorage.clear()")

    @contextmanager
    def open_tab(url: str) -> Iterator[tuple[Any, Any]]:
        tab = context.new_page()
        tab.set_default_timeout(30_000)  # shared machines
        tab.on("pageerror", lambda error: errors.append(f"{url}: {error}"))
        tab.on("dialog", answer_dialog)
        tab.on("popup", lambda other: other.close())
        try:
            yield tab, tab.goto(url, wait_until="load")
        finally:
            tab.close()

    yield open_tab
    assert errors == []


def answer_dialog(dialog: Any) -> None:
    dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss()


@pytest.mark.parametrize(("group", "pages"), [("site", 15), *PAGES_OF.items()])
def test_no_stored_text_runs_on_any_page(
    live_server: Any, browser_page: Any, visit: Any, filters: Any, group: str, pages: int
) -> None:
    site = live_server.url
    world = admin_pages.build()
    add_what_shows_more(world)
    assert poison() > 300
    cookie = {"name": "sessionid", "value": world.sessions["root"], "url": site}
    browser_page.context.add_cookies([cookie])
    found: dict[str, list[str]] = {}
    shown = []

    for url in urls(world, group):
        # For Chromium, a response without a body is an error, and so is a download.
        answer = browser_page.request.get(f"{site}{url}", max_redirects=0)
        if answer.status == 405 or "attachment" in answer.headers.get("content-disposition", ""):
            continue
        with visit(f"{site}{url}") as (page, answer):
            assert answer.status < 500, url
            if "html" not in answer.headers.get("content-type", ""):
                continue
            text = page.evaluate("document.documentElement.textContent")
            if answer.status == 200 and "{{ pwned() }}" in text:
                shown.append(url)
            has_form = page.evaluate(CAN_SUBMIT)
            page.evaluate(CLICK)
            page.wait_for_timeout(100)  # Alpine evaluates what a click added
            found[url] = page.evaluate(FOUND)
        if has_form:
            with visit(f"{site}{url}") as (page, _):
                with page.expect_navigation(wait_until="load"):
                    page.evaluate(SUBMIT)
                found[f"{url} submitted"] = page.evaluate(FOUND)

    assert {url: faults for url, faults in found.items() if faults} == {}
    assert len(found) > pages
    assert len(shown) > pages / 3


# --- what is stored ---


def add_what_shows_more(world: SimpleNamespace) -> None:
    """Add what the world of the other tests has none of: fields with options, recent actions, an application
    of the superuser."""
    field = {"label": "x", "required": True, "css": "col-6"}
    fields = [
        {**field, "name": "one", "type": "radio-group", "options": [{"value": "a", "label": "A"}],
         "conditional": [{**field, "name": "two", "type": "textarea", "on_value": "a"}]},
        {**field, "name": "three", "type": "checkbox"},
    ]  # fmt: skip
    world.own.form.structure = [{"title": "x", "description": "<p>x</p>", "fields": fields}]
    world.own.form.save()
    make_application(user=world.root, vacancy=world.own.shown, stage=world.other_stage)
    for row in (world.own.shown, world.own.form, world.own.brand):
        LogEntry.objects.create(
            user=world.root,
            action_flag=CHANGE,
            content_type=ContentType.objects.get_for_model(row),
            object_id=row.pk,
            object_repr=MARKER,
            change_message=MARKER,
        )


def marked(value: Any, kept: set[str]) -> Any:
    """`value` of a JSON column with the marker in its texts."""
    if isinstance(value, dict):
        return {key: each if key in kept else marked(each, kept) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, kept) for each in value]
    return MARKER if isinstance(value, str) else value


def new_value(field: models.Field, row: models.Model) -> Any:
    """The text for the column `field` of `row`, None for one that stays."""
    value = field.value_from_object(row)
    is_text = isinstance(field, models.CharField | models.TextField)
    if field.choices or field.name in UNCHANGED_FIELDS.get(row._meta.label, ()):
        return None
    if isinstance(field, models.JSONField):
        return json.dumps(marked(value, STATES if row._meta.label == "vacancies.Version" else KEYS_KEPT))
    if not is_text or isinstance(field, models.FileField):
        return None
    text = f"{MARKER if (field.max_length or 1000) > len(MARKER) + 12 else SHORT} {row.pk}"
    if isinstance(field, models.URLField) or field.name.endswith("url"):
        return f"https://x.test/{text}"
    return text


def poison() -> int:
    """Set every text of every row, past the checks of models and forms. Returns how many."""
    count = 0
    quote = connection.ops.quote_name
    for app in APPS:
        for model in apps.get_app_config(app).get_models(include_auto_created=True):
            for row in model._base_manager.all():
                new = {f.column: new_value(f, row) for f in model._meta.concrete_fields}
                new = {column: value for column, value in new.items() if value is not None}
                if not new:
                    continue
                columns = ", ".join(f"{quote(column)} = %s" for column in new)
                key = quote(model._meta.pk.column)
                with connection.cursor() as cursor:
                    cursor.execute(
                        f"UPDATE {quote(model._meta.db_table)} SET {columns} WHERE {key} = %s",
                        [*new.values(), row.pk],
                    )
                count += len(new)
    return count


# --- where it shows ---


def urls(world: SimpleNamespace, group: str) -> Iterator[str]:
    """The pages of an app in the admin, or those of the site; those that delete a row come last, the one that
    signs out not at all."""
    if group == "site":
        yield from ("/docs", f"/preview/{token_for(world.own.shown.pk)}")
        yield from (f"/account/{name}" for name in ("login", "password", "reset", "reset/sent", "reset/x/y"))
        of_site = (route for route in routes() if kind_of(route) is None and not re.search("[<^(]", route))
        yield from (f"/{route}" for route in sorted(set(of_site) - {"admin/logout/"}))
        yield from (f"/admin/{app}/" for app in APPS)
        yield from (f"/admin/{label.replace('.', '/')}/?q=zz" for label in world.spare)
        yield "/admin/search/?q=zz"
        return
    deleting = []
    for route in sorted(set(routes())):
        label, kind = kind_of(route) or ("", "")
        is_page = (label, kind) not in NO_PAGES and kind != "bare"  # that one leads to the page of the row
        if not label.startswith(f"{group}.") or not is_page:
            continue
        for pk in rows_of(world, label, kind):
            url = address(route, pk, version_of(pk) if "versions" in route else 0)
            if kind == "delete":
                deleting.append(url)
            else:
                yield url
    yield from deleting


def rows_of(world: SimpleNamespace, label: str, kind: str) -> list[Any]:
    """The rows to open a page of."""
    own = {
        "vacancies.vacancy": world.own.shown,
        "forms_structure.form": world.own.form,
        "vacancies.brand": world.own.brand,
        "vacancies.recruiter": world.own.contact,
    }
    rows = [world.spare[label], *([own[label]] if label in own else [])]
    return [0] if kind in ("list", "add", "deleted") else [row.pk for row in rows]
