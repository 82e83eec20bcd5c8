"""The permissions of each role, page by page (docs/decisions.md #58). No user can extend their own
permissions."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db import connection
from django.test import Client, RequestFactory

from jobsite.accounts import roles
from jobsite.admin.checks import roles_have_their_permissions
from jobsite.db.transactions import dry_run
from jobsite.models import GivenPermissions
from tests import admin_pages
from tests.admin_pages import address, build, kind_of, posted, routes, signed_in, stored
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db

# The permissions per model and role: view, add, change, delete. Not derived from
# `jobsite.accounts.roles`.
R, P, E, V, A, D = "Recruiter", "Approver", "Editor", "Filter manager", "Auditor", "Administrator"
B, H, C = "Brand administrator", "Hiring manager", "Client"
MAY = {
    "vacancies.vacancy": {R: "vacd", E: "vacd", A: "v", D: "vacd"},
    # Added on the page of a vacancy.
    "vacancies.vacancytemplate": {R: "vcd", E: "vcd", A: "v", D: "vcd"},
    "vacancies.brand": {R: "v", E: "vac", A: "v", D: "vacd"},
    "vacancies.brandlink": {E: "vacd", A: "v", D: "vacd"},
    "vacancies.integration": {A: "v", D: "vac"},
    "vacancies.recruiter": {R: "vac", E: "vacd", A: "v", D: "vacd"},
    "vacancies.filter": {R: "v", E: "v", V: "vc", A: "v", D: "vc"},
    "vacancies.filteroption": {R: "v", E: "va", V: "vacd", A: "v", D: "vacd"},
    "forms_structure.form": {R: "vacd", E: "vacd", A: "v", D: "vacd"},
    "forms_structure.consenttext": {R: "v", E: "v", A: "v", D: "va"},
    "applications.application": {R: "vac", E: "vac", A: "v", D: "vac", H: "v"},
    "applications.historyentry": {R: "v", E: "v", A: "v", D: "v", H: "v"},
    "applications.mailtemplate": {R: "v", E: "vacd", A: "v", D: "vacd"},
    "applications.message": {R: "v", E: "v", A: "v", D: "v"},
    "applications.stage": {R: "v", E: "v", A: "v", D: "vacd"},
    "applications.reason": {R: "v", E: "v", A: "v", D: "vacd"},
    "applications.status": {R: "v", E: "v", A: "v", D: "vacd"},
    "vacancies.webhook": {A: "v", D: "vacd"},
    "applications.token": {A: "v", D: "vd"},
    "applications.accesslog": {B: "v", A: "v", D: "v"},
    "auth.user": {B: "vac", A: "v", D: "vacd"},
    "auth.group": {A: "v", D: "vacd"},
}
for _roles in MAY.values():  # a brand administrator is a recruiter who also manages users
    if R in _roles:
        _roles[B] = _roles[R]
MAY["vacancies.brand"][B], MAY["vacancies.brandlink"][B] = "vc", "vacd"
MAY["applications.mailtemplate"][B] = "va"  # and those of the brand; see test_mail_template.py
# Rows that are added on the page of an application.
PARTS = {
    "note": {R: "va", B: "va", E: "va", A: "v", D: "vacd", H: "va"},
    "email": {R: "va", B: "va", E: "va", A: "v", D: "vacd"},
    "template": {R: "va", B: "va", E: "va", A: "v", D: "va"},
    "person": {D: "d"},
    "scorecard": {R: "va", B: "va", E: "va", A: "v", D: "va", H: "va"},
    "requisition": {R: "vc", B: "vc", E: "vc", A: "v", D: "vc"},
}
for permissions in (*MAY.values(), *PARTS.values()):  # an approver has the pages of a recruiter
    if R in permissions:
        permissions[P] = permissions[R]
    if H in permissions:
        permissions[C] = permissions[H]
NEITHER = ""
# The permissions for GET and POST of each page; NEITHER for an unsupported method.
ASKS = {
    "list": "vd",
    "add": "aa",
    "change": "vc",
    "history": "vv",
    "delete": "dd",
    "auth.user password": (NEITHER, NEITHER),  # for superusers
    "auth.user invitations/send-again": (NEITHER, "a"),
    "auth.user invitations/withdraw": (NEITHER, "a"),
    "forms_structure.form change": "vv",
    "forms_structure.form save": (NEITHER, "c"),
    "forms_structure.form check": (NEITHER, "v"),
    "forms_structure.form copy": (NEITHER, "a"),
    "forms_structure.form extend": (NEITHER, "a"),
    "forms_structure.form sections": "vv",
    "forms_structure.form export": "vv",
    "forms_structure.form restore": (NEITHER, "c"),
    "applications.application board": "vv",
    "applications.application yours": "vv",
    "applications.application candidates": "vv",
    "applications.application move": (NEITHER, "c"),
    "applications.application undo-moves": ("c", NEITHER),  # undoes only what the same user moved
    "applications.application emails": (NEITHER, "email a"),
    # Those that the same user queued.
    "applications.application emails/cancel": ("email a", NEITHER),
    # Of a vacancy; see test_filling.py.
    "applications.application emails/others": (NEITHER, NEITHER),
    "applications.application cancel-email": (NEITHER, NEITHER),  # one that waits
    "applications.application erase": ("person d", "person d"),
    "applications.application files": ("v", NEITHER),
    "applications.application email-files": ("email v", NEITHER),
    "applications.application files/shown": ("v", NEITHER),
    "applications.application viewer": ("v", NEITHER),
    "applications.application note": (NEITHER, "note a"),
    "applications.application delete-note": (NEITHER, NEITHER),  # for its author only
    "applications.application email": ("email a", "email a"),
    "applications.application contact": "cc",
    "applications.application informed": (NEITHER, "c"),
    "applications.application interview": "cc",
    "applications.application cancel-interview": (NEITHER, NEITHER),  # of the parameter `entry`
    "applications.application reply-interview": (NEITHER, NEITHER),  # for who takes part
    "applications.application owner": (NEITHER, "c"),
    "applications.application tag": (NEITHER, "c"),
    "applications.application choose-times": (NEITHER, "c"),
    "applications.application withdraw-offer": (NEITHER, NEITHER),  # of an application that has one
    "applications.application undo": (NEITHER, "c"),
    "applications.application unread": (NEITHER, "c"),
    "applications.application scorecard": ("scorecard a", "scorecard a"),
    "applications.application consider": ("c", NEITHER),  # of an open one; see test_considering.py
    "applications.application vacancy": ("c", NEITHER),  # to an open one; see test_considering.py
    "applications.application undo-vacancy": (NEITHER, NEITHER),  # of a moved one
    "applications.application candidate": ("v", NEITHER),
    "applications.application pool": "cc",
    "applications.application join": (NEITHER, NEITHER),  # with another; see test_candidate.py
    "applications.application separate": (NEITHER, NEITHER),
    "applications.application undo-join": (NEITHER, NEITHER),
    "applications.application rate": (NEITHER, "c"),
    "applications.application read": (NEITHER, "c"),
    "applications.application change": ("v", NEITHER),
    "applications.application summary": ("v", NEITHER),
    "applications.application task": "cc",
    "applications.application views/add": (NEITHER, "v"),
    "applications.application views/delete": (NEITHER, NEITHER),
    "applications.message digest": (NEITHER, NEITHER),  # redirects to the next one
    "applications.message mine": ("applications.application v", "applications.application v"),
    "vacancies.brand emails": "vc",
    "vacancies.integration token": "cc",
    "vacancies.filter option": (NEITHER, "vacancies.filteroption a"),
    "vacancies.filter options": ("v", NEITHER),
    "vacancies.filter translate": "vc",
    "forms_structure.form translate": "vc",
    "vacancies.vacancy preview": "vv",
    "vacancies.vacancy application-form": "vv",
    "vacancies.vacancy reports": ("v", NEITHER),
    "vacancies.vacancy internal": ("requisition v", "requisition c"),
    "vacancies.vacancy review": (NEITHER, "c"),
    "vacancies.vacancy team": ("c", NEITHER),  # for members and addresses; see test_team.py
    "vacancies.vacancy deleted": "vv",
    "vacancies.vacancy autosave": (NEITHER, "c"),
    "vacancies.vacancy discard": (NEITHER, "c"),
    "vacancies.vacancy export-csv": "vv",
    "vacancies.vacancy export-xlsx": "vv",
    "vacancies.vacancy import": "cc",
    "vacancies.vacancy import-template": "cc",
    "vacancies.vacancy versions": "cc",
    "vacancies.vacancy duplicate": "aa",
    "vacancies.vacancy approval": "vc",  # POST withdraws the request
    "vacancies.vacancy submit": "cc",
    "vacancies.vacancy template": ("template a", "template a"),
    "vacancies.vacancy list-preference": (NEITHER, "v"),
    "vacancies.vacancy views/add": "vv",
    "vacancies.vacancy views": (NEITHER, NEITHER),  # for its owner only
    "vacancies.vacancy views/delete": (NEITHER, NEITHER),
    "vacancies.webhook test": (NEITHER, "c"),
    "vacancies.webhook new-secret": (NEITHER, "c"),
    "vacancies.webhook resume": (NEITHER, "c"),
    "vacancies.vacancy publish": "cc",
    "vacancies.vacancy schedule": "cc",
    "vacancies.vacancy unpublish": "cc",
    "vacancies.vacancy extend": "cc",
    "vacancies.vacancy archive": "cc",
    "vacancies.vacancy feature": "cc",
    "vacancies.vacancy unfeature": "cc",
    **{
        f"vacancies.vacancy bulk/{name}": (NEITHER, "c")
        for name in (
            "publish",
            "schedule",
            "submit",
            "unpublish",
            "extend",
            "archive",
            "feature",
            "unfeature",
        )
    },
    "vacancies.vacancy bulk/duplicate": (NEITHER, "a"),
    "vacancies.vacancy bulk/delete": (NEITHER, "d"),
    "vacancies.vacancy undo": (NEITHER, NEITHER),  # for the user who did it; see test_undo.py
}
CHANGES_NOTHING = {
    "history",
    "check",
    "sections",
    "export",
    "review",
    "preview",
    "application-form",
    "deleted",
    "board",
    "yours",
    "candidates",
    "export-csv",
    "export-xlsx",
    "import-template",
    "import",
    "emails",  # ask for a confirmation first
    "contact",  # of an applicant with an account
    "read",  # the row is read already
}
PAGES = [route for route in routes() if kind_of(route) and kind_of(route)[1] != "bare"]


@pytest.fixture(autouse=True)
def translated(settings):
    """Let labels have translations, so that there are pages for them."""
    settings.TEXT_LANGUAGES = ["fr"]


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), dry_run(True):
        yield build()


def requested(route: str) -> list[tuple[str, str]]:
    """Return the model and the permissions of GET and POST of `route`."""
    model, kind = kind_of(route)
    verbs = [verb.rpartition(" ") for verb in ASKS.get(f"{model} {kind}") or ASKS[kind]]
    return [(other or model, of_other) for other, _, of_other in verbs]


def target(world: Any, route: str) -> Any:
    """Return the row to open a page of."""
    model, kind = kind_of(route)
    if model == "vacancies.vacancy" and kind in ("submit", "bulk/submit", "approval"):
        return world.own.waiting.pk if kind == "approval" else world.own.strict.pk
    if model == "vacancies.vacancy":
        action = kind.rpartition("/")[2]
        name = {"unpublish": "shown", "extend": "shown", "unfeature": "archived"}.get(
            action, "draft"
        )
        return getattr(world.own, name).pk
    return world.invitation.pk if kind.startswith("invitations/") else world.spare[model].pk


def answers(client: Client, world: Any, route: str, method: str) -> Any:
    model, kind = kind_of(route)
    pk = target(world, route)
    if kind in ("delete", "list", "bulk/delete") and model == "vacancies.vacancy":
        pk = world.own.spare.pk
    if kind in ("files", "email-files"):
        admin_pages.place_file(pk)
    url = address(route, pk, admin_pages.version_of(pk) if kind == "versions" else 0)
    if method == "get":
        return client.get(url)
    return client.post(url, **posted(world, model, kind, pk))


def is_refused(response: Any) -> bool:
    return response.status_code in (403, 404) or response.get("Location") == "/admin/"


def test_every_route_has_its_permissions():
    for route in PAGES:
        assert len(requested(route)) == 2
    assert {kind_of(route)[0] for route in PAGES} == set(MAY)


@contextmanager
def statements() -> Iterator[list[str]]:
    """Yield the statements that may change rows. `stored` is needed only after one of them."""
    found: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if re.search("INSERT|UPDATE|DELETE", sql):
            found.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield found


CASES = [(role, model) for role in (R, A) for model in MAY]
NO_PERMISSION = pytest.param(V, "applications.application", marks=pytest.mark.smoke)


@pytest.mark.slow("opens every page of the admin")
@pytest.mark.parametrize(("role", "model"), [*CASES, NO_PERMISSION])
def test_role_has_exactly_its_permissions(world, role, model):
    """By requests, as somebody who may write, somebody who may only read, and somebody who may do
    neither.
    """
    everything, wrong = stored(), []
    for route in (route for route in PAGES if kind_of(route)[0] == model):
        kind = kind_of(route)[1]
        for method, (of_model, verb) in zip(("get", "post"), requested(route), strict=True):
            if not verb:
                continue
            may = verb in (MAY | PARTS)[of_model].get(role, "")
            with dry_run(True), statements() as executed:
                # a new session: rolling back a password change ends the session
                response = answers(signed_in(world, role), world, route, method)
                changed = method == "post" and bool(executed) and stored() != everything
            reported = [
                str(message) for message in response.wsgi_request._messages._queued_messages
            ]
            # an action without permission is not offered, on a visible page
            shows = "v" in MAY[model].get(role, "") if kind == "list" else may
            is_reading = kind in CHANGES_NOTHING or (model, kind) in (
                ("forms_structure.form", "change"),
                ("vacancies.vacancy", "list"),  # its actions ask first
            )
            if (
                (is_refused(response) and not changed) == shows
                or (shows and response.status_code not in (200, 302))
                or changed != (method == "post" and may and not is_reading)
            ):
                wrong.append(
                    f"{method} {route}: {response.status_code}, {may=}, {changed=}, {reported}"
                )
    assert wrong == []
    assert stored() == everything


def test_every_role_has_exactly_its_permissions(world):
    """By the methods that the pages call: how they use the answers is tested for two roles."""
    pages = {model._meta.label_lower: page for model, page in admin.site._registry.items()}
    wrong = []
    for role in (*roles.NAMES, "Nobody"):
        request = RequestFactory().get("/admin/")
        request.user = User.objects.get(pk=world.staff[role].pk)
        for model, letters in MAY.items():
            may = ""
            for verb in ("view", "add", "change", "delete"):
                row = [] if verb == "add" else [world.spare[model]]
                may += (
                    verb[0]
                    if getattr(pages[model], f"has_{verb}_permission")(request, *row)
                    else ""
                )
            if may != "".join(letter for letter in "vacd" if letter in letters.get(role, "")):
                wrong.append(f"{role}, {model}: {may}")
    assert wrong == []


@pytest.mark.slow("opens every page of the site")
def test_pages_of_the_site_change_nothing(world):
    everything = stored()
    for role in (D, R, A, "Nobody"):
        client = signed_in(world, role)
        for route in routes():
            if (
                not kind_of(route)
                and "<" not in route
                and "(" not in route
                and "logout" not in route
            ):
                assert client.get(f"/{route}").status_code < 500, (role, route)
                posted = client.post(f"/{route}", {"s": "x", "language": "nl"})
                assert posted.status_code < 500, (role, route)
        assert stored() == everything, role


@pytest.mark.slow("runs every action")
def test_auditor_cannot_run_changelist_actions(world):
    """Every action that a superuser has."""
    everything = stored()
    times = {"day": "2100-01-01", "publish_from_0": "2100-01-01", "publish_from_1": "10:00"}
    for model, row in world.spare.items():
        url = f"/admin/{model.replace('.', '/')}/"
        form = signed_in(world, "root").get(url).context.get("action_form")
        for name in [name for name, _ in form.fields["action"].choices if name] if form else []:
            data = {
                "action": name,
                "_selected_action": [row.pk],
                "post": "yes",
                "confirmed": "1",
                "into": row.pk,
            }
            assert signed_in(world, A).post(url, data | times).status_code in (200, 302, 403)
        rows = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": row.pk, "_save": "1"}
        signed_in(world, A).post(url, rows | {"form-0-is_active": "", "form-0-position": 9})
    assert stored() == everything


def test_vocabulary_manager_sees_numbers_and_no_vacancy(world):
    client = signed_in(world, V)
    option = world.own.draft.choices.get().option
    page = f"filteroption/{option.pk}"
    for url in (
        "",
        "vacancies/filter/",
        "vacancies/filteroption/",
        "vacancies/",
        f"vacancies/{page}/change/",
        f"vacancies/{page}/delete/",
        f"vacancies/filter/{option.filter_id}/change/",
        "search/?q=qqsecret",
    ):
        response = client.get(f"/admin/{url}")
        assert response.status_code == 200, url
        assert not any(text in response.text for text in ("zzown", "zzforeign")), url
    data = {"action": "delete_selected", "_selected_action": [option.pk], "post": "yes"}
    assert "zzown" not in client.post("/admin/vacancies/filteroption/", data, follow=True).text
    where = {"app_label": "vacancies", "model_name": "vacancyoption", "field_name": "vacancy"}
    assert client.get("/admin/autocomplete/", where).status_code == 403


def user_form(user: User, **values: Any) -> dict[str, Any]:
    joined = {"date_joined_0": "2020-01-01", "date_joined_1": "10:00:00"}
    rows = {name: [row.pk for row in getattr(user, name).all()] for name in ("groups", "brands")}
    return {
        "username": user.username,
        "is_active": "on",
        "is_staff": "on",
        **rows,
        **joined,
        **values,
    }


def test_administrator_cannot_change_a_superuser(world):
    client, root, everything = signed_in(world, D), world.root, stored()
    words = dict.fromkeys(("password1", "password2"), "correct horse battery") | {
        "usable_password": "true"
    }
    changed = user_form(root, email="mine@example.org")
    for page, data in (("change", changed), ("password", words), ("delete", {"post": "yes"})):
        for extra in ({}, {"action": "delete_selected"}):
            status = client.post(f"/admin/auth/user/{root.pk}/{page}/", data | extra).status_code
            assert status == 403 or (extra and status in (302, 404))
    both = [root.pk, world.spare["auth.user"].pk]
    for across in ("0", "1"):
        data = {"action": "delete_selected", "_selected_action": both, "select_across": across}
        assert f'value="{root.pk}"' not in client.post("/admin/auth/user/", data).text
    assert stored() == everything

    client.post("/admin/auth/user/", data | {"post": "yes", "select_across": "0"})
    assert list(User.objects.filter(pk__in=both)) == [root]


def test_only_administrators_choose_the_members_of_a_brand(world):
    """They see its applicants."""
    brand = world.foreign.brand
    for role in (R, E):
        url = f"/admin/vacancies/brand/{brand.pk}/change/"
        signed_in(world, role).post(url, {"name": brand.name, "members": [world.staff[role].pk]})
        assert list(brand.members.all()) == [world.foreign.colleague]


def test_roles_of_every_brand_and_their_permissions_after_a_reset(world):
    for role in (E, A, D):
        found = (
            signed_in(world, role)
            .get("/admin/vacancies/vacancy/?state=all")
            .context["cl"]
            .result_list
        )
        assert {row.pk for row in found} == set(Vacancy.objects.values_list("pk", flat=True))

    assert roles.create() == {}
    other = Group.objects.create(name="Ours")
    Group.objects.get(name=V).delete()
    assert [*roles.create()] == [V]
    assert other.permissions.count() == 0


def test_roles_get_what_is_new_and_keep_what_the_site_changed(db, monkeypatch):
    """An upgrade adds the permissions of its release, also to a role of a site that never recorded
    any.
    """
    monkeypatch.setattr(roles, "NAMES", (R,))
    before_release = roles.RECRUITER
    roles.create()
    group = Group.objects.get(name=R)

    def change(verb, *codenames):
        getattr(group.permissions, verb)(*Permission.objects.filter(codename__in=codenames))

    def stored():
        return {
            f"{each.content_type.app_label}.{each.codename}" for each in group.permissions.all()
        }

    before = stored()
    change("remove", "export_application")  # by the site
    change("add", "add_brand")
    of_the_site = stored()
    assert (roles.lacking(), roles.create(), stored()) == ({}, {}, of_the_site)

    release = roles.RECRUITER | {
        "vacancies.brand": "view delete",
        "vacancies.vacancytemplate": "view",
    }
    monkeypatch.setitem(roles.ROLES, R, (release, {}))
    gone = [f"vacancies.{verb}_vacancytemplate" for verb in ("add", "change", "delete")]
    assert roles.lacking() == {R: ["vacancies.delete_brand"]}
    [warning] = roles_have_their_permissions()
    assert (warning.id, warning.msg) == (
        "jobsite.W045",
        "Roles lack permissions of this release: Recruiter (1).",
    )
    call_command("create_roles", "--dry-run", "--format", "json", stdout=(out := StringIO()))
    shown = json.loads(out.getvalue())
    changes = ["+vacancies.delete_brand", *(f"-{name}" for name in gone)]
    assert (shown["summary"], shown["changed"]) == ("Would set Recruiter.", {R: changes})
    assert stored() == of_the_site
    call_command("create_roles", stdout=(out := StringIO()), stderr=(errors := StringIO()))
    assert out.getvalue() == "Set Recruiter.\n"
    assert errors.getvalue().splitlines()[0] == "Recruiter: +vacancies.delete_brand"
    assert stored() == of_the_site - set(gone) | {"vacancies.delete_brand"}
    assert roles_have_their_permissions() == []

    GivenPermissions.objects.all().delete()  # the first run on a site of an earlier release
    monkeypatch.setitem(roles.ROLES, R, (before_release, {}))
    assert roles.lacking() == {R: ["applications.export_application", *gone]}
    roles.create()
    assert stored() >= before
