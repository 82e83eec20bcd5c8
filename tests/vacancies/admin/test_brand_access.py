"""Brand scoping (docs/decisions.md #56): no route, filter, autocomplete, action or posted id shows or changes
rows of another brand."""

import json
import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType

from forms_structure.models import Form
from jobsite.ops.commands import dry_run
from tests.admin_pages import (
    FOREIGN,
    NO_ROWS,
    OWN,
    WORD,
    address,
    build,
    kind_of,
    posted,
    routes,
    signed_in,
    stored_of,
    structure,
    version_of,
)
from tests.factories import make_recruiter
from vacancies.models import Attachment, Vacancy, VacancyRecruiter, Version

pytestmark = pytest.mark.django_db
WALLED = ("Recruiter", "Handy")
LIST = "/admin/vacancies/vacancy/"
FORMS = "/admin/forms_structure/form/"
MODELS = {
    *("auth.user", "auth.group", "forms_structure.consenttext", "forms_structure.form", "vacancies.brand"),
    *("vacancies.filter", "vacancies.filteroption", "vacancies.recruiter", "vacancies.vacancy"),
    *("applications.token", "applications.accesslog", "applications.application", "applications.stage"),
    *("applications.status", "applications.historyentry"),
}
NOBODYS = {
    "auth.user",
    "auth.group",
    "forms_structure.consenttext",
    "vacancies.filter",
    "applications.status",
}
EVERY = ("list", "add", "bare", "change", "history", "delete")
SPECIAL = {
    "auth.user": ("password",),
    "forms_structure.form": ("save", "check", "copy", "extend", "sections", "export", "restore"),
    "vacancies.filter": ("option", "options"),
    "vacancies.vacancy": (
        *("preview", "application-form", "review", "deleted", "versions"),
        *("publish", "schedule", "unpublish", "extend", "archive", "duplicate"),
    ),
}
OF_THE_SITE = {  # with their queries
    "admin": [""],
    "admin/": [""],
    "admin/search/": ["?s=vacan", f"?s={WORD}&extended", f"?s={WORD}"],
    "admin/login/": [""],
    "admin/logout/": [""],
    "admin/password_change/": [""],
    "admin/password_change/done/": [""],
    "admin/autocomplete/": [""],  # tested below, with every relation
    "admin/jsi18n/": [""],
    "admin/language": [""],
    "admin/texts.js": [""],
    "admin/r/<path:content_type_id>/<path:object_id>/": [""],  # below
    "admin/^(?P<app_label>auth|forms_structure|vacancies|applications)/$": [""],  # below
    "admin/(?P<url>.*)$": [""],
}
PAGES = [route for route in routes() if kind_of(route)]
SAME = (
    "vacancies.vacancy",
    "forms_structure.form",
)  # recruiters and superusers have the same rights to these


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    """Created once. Each test rolls its changes back."""
    with django_db_blocker.unblock(), dry_run(True):
        yield build()


@pytest.fixture(scope="module")
def foreign_rows(world):
    return stored_of(world)


@pytest.fixture(autouse=True)
def nothing_foreign_changes(world, foreign_rows):
    yield
    assert stored_of(world) == foreign_rows


def output(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    reported = [
        str(message) for message in response.wsgi_request._messages._queued_messages
    ]  # or in a cookie
    return f"{[*response.headers.items()]} {reported} {body.decode()}"


def follow(client: Any, response: Any) -> str:
    """Return the texts of a response and of its redirects."""
    texts, been = [output(response)], client.__dict__.setdefault("been", set())
    while response.status_code in (301, 302) and response["Location"] not in been:
        been.add(response["Location"])
        response = client.get(response["Location"])
        texts.append(output(response))
    assert response.status_code < 500
    return "\n".join(texts)


def assert_clean(client: Any, response: Any, where: str) -> str:
    text = follow(client, response)
    at = text.lower().find(FOREIGN)
    assert at < 0, f"{where}: ...{text[max(0, at - 200) : at + 100]}"
    return text


# --- every route -------------------------------------------------------------------------------


def test_every_admin_route_is_covered():
    """A new route must be added here, with its queries and what it may show."""
    known = {(model, kind) for model in MODELS for kind in (*EVERY, *SPECIAL.get(model, ()))}
    found = [kind_of(route) for route in PAGES]
    assert set(found) == known
    assert len(found) == len(known)
    assert {route for route in routes() if not kind_of(route)} == set(OF_THE_SITE)
    assert {model._meta.label_lower for model in admin.site._registry} == MODELS


@pytest.mark.parametrize(
    ("route", "who"),
    [
        pytest.param(route, who, marks=[] if who == "Recruiter" else pytest.mark.slow)
        for route in PAGES
        for who in WALLED
        if who == "Handy" or (kind_of(route) or ("",))[0] not in SAME
    ],
)
def test_no_page_shows_or_touches_another_brand(world, who, route):
    model, kind = kind_of(route)
    client = signed_in(world, who)
    foreign, own = (pks.get(model, []) for pks in (world.foreign_pks, world.own_pks))
    if model == "vacancies.vacancy":  # one of each kind
        foreign = [world.foreign.draft.pk, world.foreign.gone, world.given_away.pk, world.lost]
        own = [world.own.draft.pk, world.taken_over.pk]
    for pk in [*foreign, *own] if "<" in route else [0]:
        numbers = [version_of(pk), version_of(world.foreign.draft.pk)] if kind == "versions" else [0]
        for number in numbers:
            url = address(route, pk, number)
            assert_clean(client, client.get(url), f"GET {url}")
            post = posted(world, model, kind, pk or next(iter([*foreign, *own])))
            assert_clean(client, client.post(url, **post), f"POST {url}")
    if kind in ("list", "change", "add"):
        url += "?_popup=1&_to_field=id&_facets=1"
        assert_clean(client, client.get(url), f"GET {url}")


@pytest.mark.parametrize("who", WALLED)
def test_no_page_of_the_site_shows_another_brand(world, who):
    client = signed_in(world, who)
    urls = [
        f"/{route}{suffix}"
        for route, requested in OF_THE_SITE.items()
        if "<" not in route
        for suffix in requested
    ]
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


@pytest.mark.parametrize("who", WALLED)
def test_own_rows_are_reachable_by_the_same_routes(world, who):
    """Otherwise the tests above would pass without any access."""
    client = signed_in(world, who)
    pk, form = world.own.draft.pk, world.own.form.pk
    for url in (
        LIST, f"{LIST}?q={WORD}", f"{LIST}?brand__id__exact={world.own.brand.pk}", f"{LIST}{pk}/change/",
        f"{LIST}{pk}/history/", f"{LIST}{pk}/delete/", f"{LIST}{pk}/publish/", f"{LIST}{pk}/preview/",
        f"{LIST}{pk}/versions/{version_of(pk)}/", f"{LIST}deleted/", f"{LIST}{world.own.gone}/history/",
        f"{LIST}{world.own.gone}/versions/{version_of(world.own.gone)}/", f"{LIST}{pk}/application-form/",
        "/admin/", FORMS, f"{FORMS}{form}/change/", f"{FORMS}{form}/history/", f"{FORMS}{form}/sections/",
        f"{FORMS}{form}/export/", "/admin/vacancies/brand/", "/admin/applications/application/",
        f"/admin/applications/application/{world.own.application.pk}/change/",
        "/admin/applications/historyentry/",
    ):  # fmt: skip
        assert OWN in assert_clean(client, client.get(url), url), url


# --- lists -------------------------------------------------------------------------------------


def asked_of_list(world: Any, model: str) -> list[str]:
    """Return queries: filters by foreign rows, orders by each column, searches."""
    brand, form, vacancy = world.foreign.brand.pk, world.foreign.form.pk, world.foreign.draft.pk
    fields = {field.name for field in apps.get_model(model)._meta.get_fields()}
    lookups = [f"{name}{how}={pk}" for name, pk in (
        ("brand", brand), ("form", form), ("vacancy", vacancy), ("extends", form), ("vacancies", vacancy),
        ("brands", brand), ("extensions", form), ("id", vacancy),
        ("application", world.foreign.application.pk),
        ("user", world.foreign.applicant.pk), ("members", world.foreign.colleague.pk), ("pk", vacancy),
        ("head_recruiter", world.foreign.contact.pk),
    ) for how in ("", "__id__exact") if name == "pk" or name in fields]  # fmt: skip
    orders = [f"o={n}" for n in (1, "-2.3", "4.5.6", "7.8", 99)]
    searches = [f"q={word}" for word in (WORD, vacancy, form, "")]
    others = [f"state={state}" for state in ("all", "draft", "archived")]
    others += [
        "e=1",
        "all=",
        "p=99",
        "_facets=1",
        f"stage={world.foreign.application.changes.last().stage_id}",
    ]
    others += ["attention=ending", "when=all", "filter__id__exact=1", "action=view"]
    return [*lookups, *orders, *searches, *others]


@pytest.mark.parametrize(
    ("model", "who"),
    [(model, "Handy") for model in sorted(MODELS - NOBODYS)]
    + [("vacancies.vacancy", "Recruiter"), ("forms_structure.form", "Recruiter")],
)
def test_list_filters_and_orders_reveal_no_other_brand(world, who, model):
    client = signed_in(world, who)
    url = f"/admin/{model.replace('.', '/')}/"
    for query in asked_of_list(world, model):
        assert_clean(client, client.get(f"{url}?{query}"), f"{url}?{query}")


@pytest.mark.parametrize(
    ("noun", "query"),
    [
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
    ],
)
def test_list_refuses_lookups_of_related_rows(world, noun, query):
    response = signed_in(world, "Recruiter").get(f"/admin/{noun}/?{query}")
    assert response.status_code in (302, 400), query
    assert response.status_code == 400 or response["Location"].endswith("?e=1")


@pytest.mark.parametrize("who", WALLED)
def test_autocomplete_suggests_no_foreign_row(world, who):
    """Autocomplete uses the admin of the related model, for any field of any model."""
    client = signed_in(world, who)
    requested = 0
    for model in apps.get_models():
        for field in model._meta.get_fields():
            if not field.is_relation or field.auto_created:
                continue
            for term in ("", WORD, FOREIGN[:4]):
                where = {
                    "app_label": model._meta.app_label, "model_name": model._meta.model_name,
                    "field_name": field.name, "term": term,
                }  # fmt: skip
                assert_clean(client, client.get("/admin/autocomplete/", where), str(where))
                requested += 1
    assert requested > 90
    for model, field in (("vacancy", "brand"), ("vacancy", "form"), ("attachment", "vacancy")):
        where = {"app_label": "vacancies", "model_name": model, "field_name": field, "term": OWN}
        assert OWN in client.get("/admin/autocomplete/", where).content.decode()


def test_counts_include_visible_rows_only(world):
    """Of forms, brands and the vacancies of a form. Public vacancies are counted for every user."""
    client = signed_in(world, "Recruiter")
    rows = {form.pk: form for form in client.get(FORMS).context["cl"].result_list}
    assert set(rows) == set(world.own_pks["forms_structure.form"])
    assert (rows[world.shared.pk].vacancy_count, rows[world.default.pk].vacancy_count) == (1, 0)
    data = client.get(f"{FORMS}{world.default.pk}/change/").context["data"]
    seen = Vacancy.objects.with_form().filter(served_form_id=world.default.pk, brand=world.own.brand)
    assert data["use"]["total"] == seen.count()
    assert {form["id"] for form in data["other_forms"]} <= set(rows)


# --- actions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("who", WALLED)
@pytest.mark.parametrize("noun", ["vacancies/vacancy", "forms_structure/form", "vacancies/recruiter",
                                  "vacancies/brand", "applications/application"])  # fmt: skip
def test_no_action_reaches_foreign_rows(world, who, noun):
    client, model = signed_in(world, who), noun.replace("/", ".")
    url = f"/admin/{noun}/"
    query = "?state=all" if model == "vacancies.vacancy" else ""
    context = client.get(url + query).context
    form = context["action_form"] if context else None
    names = [name for name, _ in form.fields["action"].choices if name] if form else []
    assert names or model in ("vacancies.brand", "vacancies.recruiter")
    before = stored_of(world)
    foreign, own = world.foreign_pks[model], world.own_pks[model]
    extra = {
        "day": "2100-01-01",
        "publish_from_0": "2100-01-01",
        "publish_from_1": "10:00",
        "confirmed": "1",
        "post": "yes",
    }
    for name in names:
        for pks, across, more in (
            (foreign, 0, extra),
            ([*own, *foreign], 0, {}),
            ([*own, *foreign], 1, extra),
        ):
            data = {"action": name, "_selected_action": pks, "select_across": across, "index": 0}
            with dry_run(True):
                assert_clean(client, client.post(url + query, data | more), f"{name} {pks} {more}")
                assert stored_of(world) == before


def test_action_changes_own_rows_among_foreign_ones(world):
    client = signed_in(world, "Recruiter")
    pks = [world.own.draft.pk, world.foreign.draft.pk]
    client.post(LIST, {"action": "publish_selected", "_selected_action": pks})
    states = Vacancy.objects.in_bulk(pks)
    assert [states[pk].status for pk in pks] == ["published", "draft"]


def test_setting_the_site_form_needs_access_to_every_brand(world):
    data = {"action": "make_default", "_selected_action": [world.own.form.pk]}
    signed_in(world, "Recruiter").post(FORMS, data)
    assert Form.objects.default().get() == world.default

    with dry_run(True):
        signed_in(world, "Editor").post(FORMS, data)
        assert Form.objects.default().get() == world.own.form


@pytest.mark.parametrize("pk", ["default", "shared"])
def test_form_deletion_page_names_visible_vacancies_only(world, pk):
    """A visible form that another brand uses: Django lists all rows that protect it."""
    form = getattr(world, pk)
    data = {"action": "delete_selected", "_selected_action": [form.pk]}
    client = signed_in(world, "Recruiter")
    assert_clean(client, client.post(FORMS, data), "delete_selected")
    assert Form.objects.filter(pk=form.pk).exists()
    assert FOREIGN in output(signed_in(world, "Editor").post(FORMS, data))


# --- posted ids --------------------------------------------------------------------------------


def vacancy_form(world: Any, **values: Any) -> dict[str, Any]:
    return posted(world, "vacancies.vacancy", "change", world.own.draft.pk)["data"] | values


def rows(prefix: str, *, initial: int, **fields: Any) -> dict[str, Any]:
    counts = {f"{prefix}-TOTAL_FORMS": 1, f"{prefix}-INITIAL_FORMS": initial}
    return NO_ROWS | counts | {f"{prefix}-0-{name}": value for name, value in fields.items()}


@pytest.mark.parametrize("initial", [0, 1])
@pytest.mark.parametrize("page", ["change", "review", "add"])
@pytest.mark.parametrize("prefix", ["attachments", "recruiter_links"])
def test_rows_of_a_foreign_vacancy_are_not_edited_with_an_own_one(world, prefix, page, initial):
    model = {"attachments": Attachment, "recruiter_links": VacancyRecruiter}[prefix]
    theirs = model.objects.filter(vacancy=world.foreign.draft).first()
    client = signed_in(world, "Recruiter")
    url = f"{LIST}add/" if page == "add" else f"{LIST}{world.own.draft.pk}/{page}/"
    own, foreign = world.own.draft.pk, world.foreign.draft.pk
    for vacancy, delete in ((own, {}), (foreign, {}), (foreign, {"DELETE": "on"})):
        fresh = make_recruiter(f"Fresh {vacancy} {delete}")
        fields = {
            "id": theirs.pk, "vacancy": vacancy, "name": "Taken", "url": "https://taken.test/x.pdf",
            "recruiter": fresh.pk, "position": 7, **delete,
        }  # fmt: skip
        data = vacancy_form(world) | rows(prefix, initial=initial, **fields)
        assert_clean(client, client.post(url, data), f"{url} {fields}")


def test_steps_of_a_foreign_application_are_not_edited_with_an_own_one(world):
    client, own = signed_in(world, "Recruiter"), world.own.application
    url = f"/admin/applications/application/{own.pk}/change/"
    data = posted(world, "applications.application", "change", own.pk)["data"]
    for application in (own.pk, world.foreign.application.pk):
        fields = {
            "id": world.foreign.step.pk, "application": application, "name": "Taken",
            "planned_at_0": "2100-01-01", "planned_at_1": "10:00:00", "DELETE": "on",
        }  # fmt: skip
        assert_clean(client, client.post(url, data | rows("history", initial=1, **fields)), url)


@pytest.mark.parametrize("page", ["add", "change", "review"])
@pytest.mark.parametrize("field", ["brand", "form"])
def test_vacancy_points_to_nothing_foreign(world, page, field):
    client = signed_in(world, "Recruiter")
    url = f"{LIST}add/" if page == "add" else f"{LIST}{world.own.draft.pk}/{page}/"
    for pk in [getattr(world.foreign, field).pk, world.extension.pk if field == "form" else 0]:
        assert_clean(client, client.post(url, vacancy_form(world, **{field: pk})), url)
        assert_clean(client, client.get(f"{LIST}add/?{field}={pk}"), "initial")
        own = Vacancy.objects.exclude(pk__in=world.foreign_pks["vacancies.vacancy"])
        assert not own.filter(**{field: pk}).exists()


@pytest.mark.parametrize("name", ["foreign.form", "extension", "free_extension"])
def test_form_extends_nothing_foreign(world, name):
    theirs = world.foreign.form if name == "foreign.form" else getattr(world, name)
    client = signed_in(world, "Recruiter")
    data = {"name": "Mine", "language": "en", "extends": theirs.pk}
    assert_clean(client, client.post(f"{FORMS}add/", data), "extends")
    assert not Form.objects.filter(name="Mine").exists()

    client.post(f"{FORMS}add/", data | {"extends": world.own.form.pk})
    assert Form.objects.get(name="Mine").extends == world.own.form


@pytest.mark.parametrize("view", ["copy", "extend"])
def test_no_form_is_made_for_a_foreign_vacancy(world, view):
    client = signed_in(world, "Recruiter")
    url = f"{FORMS}{world.own.form.pk}/{view}/"
    for pk in world.foreign_pks["vacancies.vacancy"]:
        requested = json.dumps({"for": pk, "structure": structure("mine")})
        response = client.post(url, requested, content_type="application/json")
        assert response.status_code == 400
        assert_clean(client, response, url)
        assert_clean(client, client.get(f"{FORMS}{world.own.form.pk}/change/?for={pk}"), "for")


@pytest.mark.parametrize("form", ["default", "shared"])
@pytest.mark.parametrize("view", ["save", "restore", "delete"])
def test_form_shared_with_another_brand_is_read_only(world, form, view):
    client, form = signed_in(world, "Recruiter"), getattr(world, form)
    assert client.get(f"{FORMS}{form.pk}/change/").status_code == 200
    post = posted(world, "forms_structure.form", view, form.pk)
    assert client.post(f"{FORMS}{form.pk}/{view}/", **post).status_code == 403


def test_own_form_is_saved_and_restored(world):
    client, form = signed_in(world, "Recruiter"), world.own.form
    for view in ("save", "restore"):
        before = Form.objects.get(pk=form.pk).revision
        response = client.post(
            f"{FORMS}{form.pk}/{view}/", **posted(world, "forms_structure.form", view, form.pk)
        )
        # public names must be listed as lost
        assert response.status_code in (200, 409), view
        assert Form.objects.get(pk=form.pk).revision == before
        free = world.spare["forms_structure.form"].pk
        client.post(f"{FORMS}{free}/{view}/", **posted(world, "forms_structure.form", view, free))
    assert Form.objects.get(pk=free).revision == 4


def test_changing_a_shared_recruiter_needs_access_to_every_brand(world):
    url = f"/admin/vacancies/recruiter/{world.foreign.contact.pk}"
    for who in WALLED:
        for page in ("change", "delete"):
            assert (
                signed_in(world, who).post(f"{url}/{page}/", {"name": "Taken", "post": "yes"}).status_code
                == 403
            )
    own = f"/admin/vacancies/recruiter/{world.own.contact.pk}/change/"
    assert signed_in(world, "Recruiter").post(own, {"name": "Renamed"}).status_code == 302


# --- versions ----------------------------------------------------------------------------------


def test_versions_from_another_brand_are_hidden(world):
    client, pk = signed_in(world, "Recruiter"), world.taken_over.pk
    first, last = Version.objects.filter(vacancy=pk).order_by("pk")
    text = assert_clean(client, client.get(f"{LIST}{pk}/history/"), "history")
    assert f"versions/{first.pk}/" not in text
    assert client.get(f"{LIST}{pk}/versions/{first.pk}/").status_code == 404
    assert client.post(f"{LIST}{pk}/versions/{first.pk}/").status_code == 404
    assert client.get(f"{LIST}{pk}/versions/{last.pk}/").status_code == 200
    for decision in ("publish", "schedule"):
        assert_clean(client, client.get(f"{LIST}{pk}/{decision}/"), decision)


@pytest.mark.parametrize("seen", ["", "never", "2000-01-01T00:00:00+00:00"])
def test_conflict_names_no_user_of_another_brand(world, seen):
    client, pk = signed_in(world, "Recruiter"), world.taken_over.pk
    response = client.post(f"{LIST}{pk}/change/", vacancy_form(world, version=seen))
    assert "Not saved: editor changed" in assert_clean(client, response, "conflict")


def test_vacancy_deleted_by_another_brand_cannot_be_restored(world):
    client = signed_in(world, "Recruiter")
    for version in Version.objects.filter(vacancy=world.lost):
        assert client.get(f"{LIST}{world.lost}/versions/{version.pk}/").status_code == 404
        assert client.post(f"{LIST}{world.lost}/versions/{version.pk}/").status_code == 404
    assert client.get(f"{LIST}{world.lost}/history/").status_code == 404

    url = f"{LIST}{world.own.gone}/versions/{version_of(world.own.gone)}/"
    assert client.post(url).status_code == 302
    assert Vacancy.objects.get(pk=world.own.gone).brand == world.own.brand


def test_restore_sets_no_inaccessible_brand_or_form(world):
    """A user of two brands cannot move vacancies between them: other users would see the applicants."""
    anna, second = world.staff["Recruiter"], world.spare["vacancies.brand"]
    vacancy = world.own.draft
    Vacancy.objects.filter(pk=vacancy.pk).update(brand=second)
    version = Version.objects.filter(vacancy=vacancy.pk).order_by("pk").first()
    version.content |= {"form": [world.foreign.form.pk, "once ours"]}
    version.save()
    assert anna.brands.count() == 2

    url = f"{LIST}{vacancy.pk}/versions/{version.pk}/"
    client = signed_in(world, "Recruiter")
    assert_clean(client, client.get(url), url)
    assert client.post(url).status_code == 302
    vacancy.refresh_from_db()
    assert (vacancy.brand, vacancy.form, vacancy.location) == (second, None, f"{OWN} location {WORD}")


# --- previews, other ways of working -----------------------------------------------------------


def test_preview_needs_access_to_the_vacancy(world):
    client = signed_in(world, "Recruiter")
    for pk in world.foreign_pks["vacancies.vacancy"]:
        assert client.get(f"{LIST}{pk}/preview/").status_code == 404
    for who in ("Nobody", "Filter manager"):
        assert signed_in(world, who).get(f"{LIST}{world.own.draft.pk}/preview/").status_code in (403, 404)
    link = client.get(f"{LIST}{world.own.draft.pk}/preview/")["Location"]
    assert OWN in output(client.get(link))


def listed(world: Any, who: str, url: str = f"{LIST}?state=all") -> set[int]:
    return {row.pk for row in signed_in(world, who).get(url).context["cl"].result_list}


def test_recruiter_without_a_brand_sees_nothing(world):
    assert listed(world, "Homeless") == set()
    text = "".join(
        follow(signed_in(world, "Homeless"), signed_in(world, "Homeless").get(url))
        for url in (LIST, "/admin/", f"{LIST}deleted/", FORMS, "/admin/vacancies/brand/",
                    f"{LIST}{world.own.draft.pk}/change/", f"{LIST}{world.own.draft.pk}/history/")
    )  # fmt: skip
    assert FOREIGN not in text
    assert not re.search(rf"{OWN} (draft|gone|shown|brand|form)", text)


def test_recruiter_of_two_brands_sees_both(world):
    world.foreign.brand.members.add(world.staff["Homeless"])
    world.own.brand.members.add(world.staff["Homeless"])
    found = listed(world, "Homeless")
    assert {world.own.draft.pk, world.foreign.draft.pk, world.taken_over.pk, world.given_away.pk} <= found
    client = signed_in(world, "Homeless")
    assert FOREIGN in output(client.get(f"{FORMS}{world.foreign.form.pk}/change/"))
    world.foreign.brand.members.remove(world.staff["Homeless"])
    assert_clean(client, client.get(f"{LIST}?state=all"), "afterwards")


def test_without_multi_branding_vacancies_without_a_brand_are_shared(world, settings):
    Vacancy.objects.filter(pk=world.own.spare.pk).update(brand=None)
    Version.objects.filter(vacancy=world.own.spare.pk).update(brand=None)
    for who in ("Recruiter", "Homeless"):
        assert world.own.spare.pk not in listed(world, who)
        assert signed_in(world, who).get(f"{LIST}{world.own.spare.pk}/history/").status_code == 404

    settings.MULTI_BRANDING = False
    assert listed(world, "Homeless") == {world.own.spare.pk}
    assert world.own.spare.pk in listed(world, "Recruiter")
    for who in ("Recruiter", "Homeless"):
        client = signed_in(world, who)
        url = f"{LIST}{world.own.spare.pk}/"
        assert "elsewhere" in output(client.get(f"{url}history/"))
        assert client.post(f"{url}versions/{version_of(world.own.spare.pk)}/").status_code == 302
        for pk in world.foreign_pks["vacancies.vacancy"]:
            assert_clean(client, client.get(f"{LIST}{pk}/change/"), "change")
            assert client.get(f"{LIST}{pk}/history/").status_code == 404
        assert_clean(client, client.get(f"{LIST}?state=all"), "list")
