"""Brand scoping (docs/decisions.md #56):
no route, filter or autocomplete shows rows of another brand.
"""

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType

from tests import admin_pages
from tests.admin_pages import FOREIGN, OWN, WORD, address, kind_of, posted, signed_in, version_of
from tests.vacancies.admin.brand_access import FORMS, LIST, assert_clean, follow, output
from vacancies.admin.publication.actions import ACTIONS
from vacancies.models import Vacancy, Version

pytestmark = [
    pytest.mark.slow("many pages of two brands"),
    pytest.mark.django_db,
    pytest.mark.usefixtures("nothing_foreign_changes"),
]
MODELS = {
    *(
        "auth.user",
        "auth.group",
        "forms_structure.consenttext",
        "forms_structure.form",
        "vacancies.brand",
    ),
    *("vacancies.filter", "vacancies.filteroption", "vacancies.recruiter", "vacancies.vacancy"),
    *("vacancies.vacancytemplate", "vacancies.brandlink"),
    *("vacancies.integration", "vacancies.webhook"),
    *(
        "applications.token",
        "applications.accesslog",
        "applications.application",
        "applications.stage",
    ),
    *("applications.status", "applications.historyentry", "applications.message"),
    "applications.mailtemplate",
    "applications.reason",
}
NOBODYS = {
    *("auth.user", "auth.group", "vacancies.filter", "applications.status"),
    "applications.mailtemplate",
    "applications.reason",
}
CONSENTS = "/admin/forms_structure/consenttext/"
EVERY = ("list", "add", "bare", "change", "history", "delete")
SPECIAL = {
    "applications.message": ("mine",),
    "applications.application": (
        *("files", "files/shown", "email-files", "pool"),
        *("viewer", "note", "delete-note", "email", "undo", "unread"),
        *(
            "consider",
            "vacancy",
            "undo-vacancy",
            "scorecard",
            "contact",
            "informed",
            "owner",
            "tag",
            "views/add",
            "views/delete",
        ),
        *(
            "board",
            "move",
            "undo-moves",
            "emails",
            "emails/cancel",
            "emails/others",
            "cancel-email",
            "erase",
        ),
        *("interview", "cancel-interview", "reply-interview", "withdraw-offer", "choose-times"),
        *("summary", "task", "rate", "read"),
        *("candidates", "candidate", "join", "separate", "undo-join", "yours"),
    ),
    "auth.user": ("password", "invitations/send-again", "invitations/withdraw"),
    "forms_structure.form": (
        *("save", "check", "copy", "extend", "sections", "export", "restore"),
        "translate",
    ),
    "vacancies.brand": ("emails",),
    "vacancies.filter": ("option", "options", "translate"),
    "vacancies.integration": ("token",),
    "vacancies.webhook": ("test", "new-secret", "resume"),
    "vacancies.vacancy": (
        *("preview", "application-form", "review", "deleted", "versions", "internal"),
        *("export-csv", "export-xlsx", "import", "import-template"),
        *("publish", "schedule", "unpublish", "extend", "archive", "duplicate"),
        *("autosave", "discard", "team"),
        *("list-preference", "views", "views/add", "views/delete"),
        *("submit", "approval", "template"),
        *("feature", "unfeature", "delete", "undo", "reports"),
        *(f"bulk/{action.name}" for action in ACTIONS),
    ),
}
OF_THE_SITE = {  # with their queries
    "admin": [""],
    "admin/": [""],
    "admin/search/": ["?q=vacan", f"?q={WORD}&part=results", f"?q={WORD}"],
    "admin/login/": [""],
    "admin/logout/": [""],
    "admin/password_change/": [""],
    "admin/password_change/done/": [""],
    "admin/autocomplete/": [""],  # tested below, with every relation
    "admin/jsi18n/": [""],
    "admin/language": [""],
    "admin/texts.js": [""],
    "admin/r/<path:content_type_id>/<path:object_id>/": [""],  # below
    "admin/^(?P<app_label>auth|vacancies|applications|forms_structure)/$": [""],  # below
    "admin/(?P<url>.*)$": [""],
}
PAGES = [route for route in admin_pages.routes() if kind_of(route)]


# --- every route ---


@pytest.mark.smoke
def test_every_admin_route_is_covered():
    """A new route must be added here, with its queries and what it may show."""
    known = {(model, kind) for model in MODELS for kind in (*EVERY, *SPECIAL.get(model, ()))}
    found = [kind_of(route) for route in PAGES]
    assert set(found) == known
    # The publication action "Delete" replaces Django's page.
    assert [each for each in known if found.count(each) > 1] == [("vacancies.vacancy", "delete")]
    assert {route for route in admin_pages.routes() if not kind_of(route)} == set(OF_THE_SITE)
    assert {model._meta.label_lower for model in admin.site._registry} == MODELS


@pytest.mark.parametrize("route", PAGES)
def test_no_page_shows_or_touches_another_brand(world, route):
    """For a user with all rights of a recruiter, and more."""
    model, kind = kind_of(route)
    client = signed_in(world, "Handy")
    foreign, own = (pks.get(model, []) for pks in (world.foreign_pks, world.own_pks))
    if model == "vacancies.vacancy":  # one of each kind
        foreign = [world.foreign.draft.pk, world.foreign.gone, world.given_away.pk, world.lost]
        own = [world.own.draft.pk, world.taken_over.pk]
    for pk in [*foreign, *own] if "<" in route else [0]:
        if "files" in kind:
            admin_pages.place_file(pk)
        numbers = (
            [version_of(pk), version_of(world.foreign.draft.pk)]
            if kind in ("versions", "undo")
            else [0]
        )
        for number in numbers:
            url = address(route, pk, number)
            assert_clean(client, client.get(url), f"GET {url}")
            post = posted(world, model, kind, pk or next(iter([*foreign, *own])))
            assert_clean(client, client.post(url, **post), f"POST {url}")
    if kind in ("list", "change", "add"):
        url += "?_popup=1&_to_field=id&_facets=1"
        assert_clean(client, client.get(url), f"GET {url}")


@pytest.mark.parametrize("model", ["auth.user", "applications.accesslog"])
def test_brand_administrator_reaches_no_user_of_another_brand(world, model):
    client = signed_in(world, "Brand administrator")
    for route in PAGES:
        if kind_of(route)[0] != model:
            continue
        for pk in world.foreign_pks[model] if "<" in route else [0]:
            url = address(route, pk)
            assert_clean(client, client.get(url), f"GET {url}")
            post = posted(world, model, kind_of(route)[1], pk)
            if kind_of(route)[1] != "add":  # invites somebody
                assert_clean(client, client.post(url, **post), f"POST {url}")
    queries = ("kind=all", "kind=applicants", f"q={WORD}", "q=zz", "all=", "_facets=1", "actor=1")
    for query in queries:
        url = f"/admin/{model.replace('.', '/')}/?{query}"
        assert_clean(client, client.get(url), f"GET {url}")


@pytest.mark.smoke
def test_no_page_of_the_site_shows_another_brand(world):
    client = signed_in(world, "Handy")
    shown = {route: requested for route, requested in OF_THE_SITE.items() if "<" not in route}
    urls = [f"/{route}{suffix}" for route, requested in shown.items() for suffix in requested]
    urls += [f"/admin/{app}/" for app in ("auth", "forms_structure", "vacancies", "applications")]
    urls += [
        f"/admin/r/{ContentType.objects.get_by_natural_key(*model.split('.')).pk}/{pk}/"
        for model, pks in world.foreign_pks.items()
        for pk in pks
        if pk != world.foreign.shown.pk and pk != world.given_away.pk  # public
    ]
    for url in urls:
        if "logout" not in url:
            assert_clean(client, client.get(url), url)
            assert_clean(client, client.post(url), f"POST {url}")


def test_own_rows_are_reachable_by_the_same_routes(world):
    """Otherwise the tests above would pass without any access."""
    client = signed_in(world, "Handy")
    pk, form = world.own.draft.pk, world.own.form.pk
    for url in (
        LIST,
        f"{LIST}?q={WORD}",
        f"{LIST}?brand__id__exact={world.own.brand.pk}",
        f"{LIST}{pk}/change/",
        f"{LIST}{pk}/history/",
        f"{LIST}{pk}/delete/",
        f"{LIST}{pk}/publish/",
        f"{LIST}{pk}/preview/",
        f"{LIST}{pk}/versions/{version_of(pk)}/",
        f"{LIST}deleted/",
        f"{LIST}{world.own.gone}/history/",
        f"{LIST}{world.own.gone}/versions/{version_of(world.own.gone)}/",
        f"{LIST}{pk}/application-form/",
        "/admin/",
        FORMS,
        f"{FORMS}{form}/change/",
        f"{FORMS}{form}/history/",
        f"{FORMS}{form}/sections/",
        f"{FORMS}{form}/export/",
        "/admin/vacancies/brand/",
        "/admin/applications/application/",
        f"/admin/applications/application/{world.own.application.pk}/change/",
        "/admin/applications/historyentry/",
        CONSENTS,
        f"{CONSENTS}?brand={world.own.brand.pk}",
    ):
        assert OWN in assert_clean(client, client.get(url), url), url


# --- lists ---


def asked_of_list(world: Any, model: str) -> list[str]:
    """Return queries: filters by foreign rows, orders by each column, searches."""
    brand, form, vacancy = world.foreign.brand.pk, world.foreign.form.pk, world.foreign.draft.pk
    fields = {field.name for field in apps.get_model(model)._meta.get_fields()}
    lookups = [
        f"{name}{how}={pk}"
        for name, pk in (
            ("brand", brand),
            ("form", form),
            ("vacancy", vacancy),
            ("extends", form),
            ("vacancies", vacancy),
            ("brands", brand),
            ("extensions", form),
            ("id", vacancy),
            ("application", world.foreign.application.pk),
            ("user", world.foreign.applicant.pk),
            ("members", world.foreign.colleague.pk),
            ("pk", vacancy),
            ("head_recruiter", world.foreign.contact.pk),
        )
        for how in ("", "__id__exact")
        if name == "pk" or name in fields
    ]
    orders = [f"o={n}" for n in (1, "-2.3", "4.5.6", "7.8", 99)]
    searches = [f"q={word}" for word in (WORD, vacancy, form, "")]
    others = [f"state={state}" for state in ("all", "draft", "archived")]
    others += ["e=1", "all=", "p=99", "_facets=1"]
    others.append(f"stage={world.foreign.application.changes.last().stage_id}")
    others += [
        "mine=1",
        "option=1",
        f"recruiter={world.foreign.contact.pk}",
        "o=-last_day",
        "edit=1",
    ]
    others += ["view=1", "attention=ending", "when=all", "filter__id__exact=1", "action=view"]
    return [*lookups, *orders, *searches, *others]


@pytest.mark.parametrize("model", sorted(MODELS - NOBODYS))
def test_list_filters_and_orders_reveal_no_other_brand(world, model):
    client = signed_in(world, "Handy")
    url = f"/admin/{model.replace('.', '/')}/"
    for query in asked_of_list(world, model):
        assert_clean(client, client.get(f"{url}?{query}"), f"{url}?{query}")


LOOKUPS = (
    ("vacancies/vacancy", "head_recruiter__headed_vacancies__title__contains=zz"),
    ("vacancies/vacancy", "form__vacancies__title__startswith=zz"),
    ("vacancies/vacancy", "brand__members__password__startswith=p"),
    ("vacancies/recruiter", "headed_vacancies__title__contains=zz"),
    ("vacancies/recruiter", "email__startswith=a"),
    ("vacancies/filteroption", "vacancies__title__contains=zz"),
    ("vacancies/filteroption", "choices__vacancy__title__contains=zz"),
    ("forms_structure/form", "vacancies__title__contains=zz"),
    ("forms_structure/form", "brands__name__contains=zz"),
    ("forms_structure/form", "extensions__name__contains=zz"),
    ("forms_structure/form", "snapshots__author__password__startswith=p"),
    ("applications/application", "user__applications__vacancy__title__contains=zz"),
    ("applications/application", "user__password__startswith=p"),
    ("applications/stage", "changes__application__vacancy__title__contains=zz"),
)


def test_list_refuses_lookups_of_related_rows(world):
    client, allowed = signed_in(world, "Recruiter"), []
    for noun, query in LOOKUPS:
        response = client.get(f"/admin/{noun}/?{query}")
        if response.status_code != 400 and not response.get("Location", "").endswith("?e=1"):
            allowed.append((noun, query, response.status_code))
    assert allowed == []


def test_autocomplete_suggests_no_foreign_row(world):
    """Autocomplete uses the admin of the related model, for any field of any model."""
    client = signed_in(world, "Handy")
    requested = 0
    for model in apps.get_models():
        for field in model._meta.get_fields():
            if not field.is_relation or field.auto_created:
                continue
            for term in ("", WORD, FOREIGN[:4]):
                where = {
                    "app_label": model._meta.app_label,
                    "model_name": model._meta.model_name,
                    "field_name": field.name,
                    "term": term,
                }
                assert_clean(client, client.get("/admin/autocomplete/", where), str(where))
                requested += 1
    assert requested > 90
    for model, field in (("vacancy", "brand"), ("vacancy", "form"), ("attachment", "vacancy")):
        where = {"app_label": "vacancies", "model_name": model, "field_name": field, "term": OWN}
        assert OWN in client.get("/admin/autocomplete/", where).content.decode()


@pytest.mark.smoke
def test_counts_include_visible_rows_only(world):
    """Of forms, brands and the vacancies of a form. Public vacancies are counted for every user."""
    client = signed_in(world, "Recruiter")
    rows = {form.pk: form for form in client.get(FORMS).context["cl"].result_list}
    assert set(rows) == set(world.own_pks["forms_structure.form"])
    assert (rows[world.shared.pk].vacancy_count, rows[world.default.pk].vacancy_count) == (1, 0)
    data = client.get(f"{FORMS}{world.default.pk}/change/").context["data"]
    seen = Vacancy.objects.with_form().filter(
        served_form_id=world.default.pk, brand=world.own.brand
    )
    assert data["use"]["total"] == seen.count()
    assert {form["id"] for form in data["other_forms"]} <= set(rows)


# --- previews, other ways of working ---


def listed(world: Any, who: str, url: str = f"{LIST}?state=all") -> set[int]:
    return {row.pk for row in signed_in(world, who).get(url).context["cl"].result_list}


@pytest.mark.smoke
def test_recruiter_without_a_brand_sees_nothing(world):
    assert listed(world, "Homeless") == set()
    text = "".join(
        follow(signed_in(world, "Homeless"), signed_in(world, "Homeless").get(url))
        for url in (
            LIST,
            "/admin/",
            f"{LIST}deleted/",
            FORMS,
            "/admin/vacancies/brand/",
            f"{LIST}{world.own.draft.pk}/change/",
            f"{LIST}{world.own.draft.pk}/history/",
        )
    )
    assert FOREIGN not in text
    assert not re.search(rf"{OWN} (draft|gone|shown|brand|form)", text)


@pytest.mark.smoke
def test_recruiter_of_two_brands_sees_both(world):
    world.foreign.brand.members.add(world.staff["Homeless"])
    world.own.brand.members.add(world.staff["Homeless"])
    found = listed(world, "Homeless")
    assert {
        world.own.draft.pk,
        world.foreign.draft.pk,
        world.taken_over.pk,
        world.given_away.pk,
    } <= found
    client = signed_in(world, "Homeless")
    assert FOREIGN in output(client.get(f"{FORMS}{world.foreign.form.pk}/change/"))
    world.foreign.brand.members.remove(world.staff["Homeless"])
    assert_clean(client, client.get(f"{LIST}?state=all"), "afterwards")


def test_vacancies_without_a_brand_are_for_those_of_every_brand(world, settings):
    Vacancy.objects.filter(pk=world.own.spare.pk).update(brand=None)
    Version.objects.filter(vacancy=world.own.spare.pk).update(brand=None)
    for settings.MULTI_BRANDING in (True, False):
        for who in ("Recruiter", "Homeless"):
            assert world.own.spare.pk not in listed(world, who)
            url = f"{LIST}{world.own.spare.pk}/history/"
            assert signed_in(world, who).get(url).status_code == 404
