"""Hostile texts in every text column of the site, and the pages that show them."""

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models

from jobsite.text.html import sanitise
from tests.admin_pages import APPS, address, kind_of, routes, version_of
from tests.applications.makers import make_application
from vacancies.access.previews import token_for
from vacancies.fields import HtmlField

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
    "vacancies.RenderedItem": {"version"},
    # A code: checked by its validator.
    "vacancies.Vacancy": {"title_folded", "search_text", "pay_currency"},
    "vacancies.FilterOption": {"value"},  # a slug: checked by its validator
    "vacancies.Brand": {"slug"},
}
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
# Of a form's structure, and checked there.
KEYS_KEPT = {"name", "type", "role", "css", "on_value", "value"}
# Of a stored version; an attachment has either a file or an address.
STATES = {
    "status",
    "audience",
    "brand",
    "publish_from",
    "publish_until",
    "created_at",
    "updated_at",
    "file",
}


# --- what is stored ---


def add_what_shows_more(world: SimpleNamespace) -> None:
    """Add what the world of the other tests has none of: fields with options, recent actions, an
    application of the superuser.
    """
    field = {"label": "x", "required": True, "css": "col-6"}
    fields = [
        {
            **field,
            "name": "one",
            "type": "radio-group",
            "options": [{"value": "a", "label": "A"}],
            "conditional": [{**field, "name": "two", "type": "textarea", "on_value": "a"}],
        },
        {**field, "name": "three", "type": "checkbox"},
        {**field, "name": "four", "type": "email", "role": "email"},
    ]
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
    if row._meta.app_label == "forms_structure" and isinstance(field, models.JSONField):
        form = marked(value, KEYS_KEPT)
        for section in form if isinstance(form, list) else ():
            section["description"] = sanitise(MARKER)  # as every structure that is read and stored
        return json.dumps(form)
    if isinstance(field, models.JSONField):
        return json.dumps(
            marked(value, STATES if row._meta.label == "vacancies.Version" else KEYS_KEPT)
        )
    if not is_text or isinstance(field, models.FileField):
        return None
    text = f"{MARKER if (field.max_length or 1000) > len(MARKER) + 12 else SHORT} {row.pk}"
    if isinstance(field, HtmlField):
        return sanitise(text)  # as every write of the column does
    if isinstance(field, models.URLField) or field.name.endswith("url"):
        return f"https://x.test/{text}"
    return text


def poison() -> int:
    """Set every text of every row, past the checks of models and forms, but sanitised in columns of
    HTML, which pages trust. Returns how many.
    """
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


def urls(world: SimpleNamespace) -> Iterator[str]:
    """Every page of the site; those that delete a row come last, the one that
    signs out not at all.
    """
    yield from (
        "/docs",
        f"/preview/{token_for(world.own.shown.pk)}",
        f"/apply/{world.own.shown.pk}",
    )
    yield from (
        f"/account/{name}" for name in ("login", "password", "reset", "reset/sent", "reset/x/y")
    )
    of_site = (
        route for route in routes() if kind_of(route) is None and not re.search("[<^(]", route)
    )
    yield from (f"/{route}" for route in sorted(set(of_site) - {"admin/logout/"}))
    yield from (f"/admin/{app}/" for app in APPS)
    yield from (f"/admin/{label.replace('.', '/')}/?q=zz" for label in world.spare)
    yield from ("/admin/search/?q=zz", "/admin/search/?q=zz&part=results")
    deleting = []
    for route in sorted(set(routes())):
        label, kind = kind_of(route) or ("", "bare")
        if (label, kind) in NO_PAGES or kind == "bare":  # that one leads to the page of the row
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
