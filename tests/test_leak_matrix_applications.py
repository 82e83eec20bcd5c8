"""The leak matrix of applications: every route, requested for the applications of five owners by those who
may see some of them.

Each owner has a word that is in everything that the owner sent, and in everything that recruiters wrote about
the owner. No response shows the word, the reference, a link or a file of an owner to a viewer without access,
and no request of such a viewer changes their rows. The recruiter of the brand is the counterexample: who may
see the words finds them.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client, override_settings
from django.utils import timezone

from applications.mail.digest import queue_digest, recipients
from applications.mail.outbox import queue
from applications.models import AccessLog, Application, MailTemplate, Message, Note, SubmissionFile, Token
from applications.operations import claim, move
from applications.operations.notes import add_note
from applications.submissions.links import receipt_path
from applications.tokens import issue
from jobsite.accounts import roles
from jobsite.db.transactions import dry_run
from tests import admin_pages
from tests.applications.makers import make_stage, make_step
from tests.applications.submissions.sending import PDF, VALUES, document, make_form, make_open_vacancy
from tests.factories import make_brand, make_filter

pytestmark = pytest.mark.django_db

WORD = "zyxmatrix"  # "zyxmatrixlink" is in everything of the owner "link"
OWNERS = ("link", "claimed", "account", "stranger", "otherbrand")
OWN_BRAND = frozenset({"link", "claimed", "account", "stranger"})
# By viewer: the owners whose applications it may see.
VIEWERS: dict[str, frozenset[str]] = {
    "receipt link": frozenset({"link"}),  # anonymous, with the link of a receipt
    "claimed": frozenset({"claimed"}),  # signed in; the application was sent without an account
    "other applicant": frozenset({"account"}),  # signed in, and with a token
    "recruiter of another brand": frozenset({"otherbrand"}),
    "filter manager": frozenset(),  # member of the brand, without permissions for applications
    "recruiter": OWN_BRAND,
}
CHANGED = (
    "Application", "StageChange", "HistoryEntry", "Note", "Message", "Submission", "SubmissionFile", "Token",
)  # fmt: skip
SAFE = ("GET", "HEAD", "OPTIONS")
MANY = pytest.mark.slow("requests every page about every application")


def word(owner: str) -> str:
    return f"{WORD}{owner}"


class World:
    def __init__(self) -> None:
        roles.create()
        make_filter("regions")
        days = {"Received": 0, "Talk": 3, "No": 1}
        self.stages = [make_stage(name, embargo_days=embargo) for name, embargo in days.items()]
        self.stages[2].kind = "rejected"
        self.stages[2].save()
        form = make_form()
        texts = {"subject_en": "For {name}", "body_en": "{name}, {reference}, {vacancy}"}
        self.template = MailTemplate.objects.create(name="Hello", **texts)
        self.brands = {name: make_brand(name) for name in ("Ours", "Theirs")}
        self.vacancies = {}
        for name, brand in self.brands.items():
            self.vacancies[name] = make_open_vacancy(form, title=f"Job of {name}", brand=brand)
        self.staff = {
            "recruiter": self._colleague("recruiter", "Recruiter", "Ours"),
            "recruiter of another brand": self._colleague("outsider", "Recruiter", "Theirs"),
            "filter manager": self._colleague("filters", "Filter manager", "Ours"),
        }
        self.users = {}
        for owner in ("claimed", "account"):
            self.users[owner] = User.objects.create_user(word(owner), f"{word(owner)}@account.test")
        self.own = {owner: self._apply(owner) for owner in OWNERS}
        claim(proven=self.own["claimed"], user=self.users["claimed"], at=timezone.now())
        for owner, application in self.own.items():
            application.refresh_from_db()
            self._process(owner, application)
        self.secrets = {text: owner for owner in OWNERS for text in self._secrets(owner)}
        self.before = cache(self.rows)  # the same for each request: the changes of each are undone

    def _colleague(self, name: str, role: str, brand: str) -> User:
        user = User.objects.create_user(name, f"{name}@staff.test", is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        self.brands[brand].members.add(user)
        return user

    def _apply(self, owner: str) -> Application:
        """Apply as `owner`, as browsers do."""
        text = word(owner)
        values = VALUES | {
            "first_name": text, "last_name": text, "email": f"{text}@example.org", "cv": f"{text}.pdf",
            "permit": "no", "permit_from": "2030-01-01", "permit_note": f"<b>{text}</b>",
        }  # fmt: skip
        vacancy = self.vacancies["Theirs" if owner == "otherbrand" else "Ours"]
        parts = {
            "application": json.dumps(document(vacancy, values, source=text)),
            "cv": SimpleUploadedFile(f"{text}.pdf", PDF + text.encode()),
        }
        token = {"Authorization": f"Bearer {self.token(owner)}"} if owner == "account" else {}
        response = Client().post(f"/v1/vacancies/{vacancy.pk}/applications", parts, headers=token)
        assert response.status_code == 201, response.content
        return Application.objects.get(reference=response.json()["data"]["reference"])

    def _process(self, owner: str, application: Application) -> None:
        """Do what recruiters do: move, write a note that mentions everybody, plan a talk, send an email."""
        text, at = word(owner), timezone.now()
        author = self.staff["recruiter of another brand" if owner == "otherbrand" else "recruiter"]
        rows = Application.objects.filter(pk=application.pk)
        move(applications=rows, stage=self.stages[1], author=author, at=at)
        note = f"{text} @recruiter @outsider @filters"
        add_note(application=application, text=note, author=author, base_url="http://testserver", at=at)
        make_step(application, f"{text} talk", result=text)
        queue(
            kind=Message.Kind.TEMPLATE, to=application.address, language="en", subject=text, body=text,
            application=application, author=author, at=at,
        )  # fmt: skip
        AccessLog.objects.create(actor=author, application=application.pk, action="view")

    def token(self, owner: str) -> str:
        return issue(user=self.users[owner], lifetime=timedelta(days=1))[1]

    def _secrets(self, owner: str) -> Iterator[str]:
        """Yield the words that only those may see who may see the application of `owner`."""
        application = self.own[owner]
        yield word(owner)
        yield application.reference or ""
        yield receipt_path(application).rpartition("/")[2].rpartition(":")[2]  # the signature
        for file in SubmissionFile.objects.filter(submission__application=application):
            yield from (file.sha256, file.path)

    # --- Requests ---

    def client(self, viewer: str) -> Client:
        client = Client()
        client.raise_request_exception = False
        users = {"claimed": self.users["claimed"], "other applicant": self.users["account"], **self.staff}
        if viewer in users:
            client.force_login(users[viewer])
        return client

    def found(self, text: str) -> set[str]:
        """The owners of what is in `text`."""
        return {owner for secret, owner in self.secrets.items() if secret.lower() in text.lower()}

    def rows(self, owners: frozenset[str]) -> dict[str, list[Any]]:
        """The rows about the applications of `owners`."""
        pks = [self.own[owner].pk for owner in sorted(owners)]
        users = [self.users[owner].pk for owner in owners if owner in self.users]
        paths = {"Application": "pk", "SubmissionFile": "submission__application"}
        found = {}
        for name in CHANGED:
            model = apps.get_model("applications", name)
            column = paths.get(name, "application")
            wanted = {"user__in": users} if model is Token else {f"{column}__in": pks}
            found[name] = list(model._base_manager.filter(**wanted).order_by("pk").values_list())
        return found


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("private")
    with django_db_blocker.unblock(), override_settings(PRIVATE_ROOT=folder), dry_run(True):
        made = World()
        made.folder = folder
        yield made


@pytest.fixture(autouse=True)
def world_settings(settings, world):
    settings.PRIVATE_ROOT = world.folder
    settings.APPLY_PAGES, settings.RATE_LIMIT = True, "off"


def request(world: World, client: Client, viewer: str, method: str, path: str, *data: Any, **how: Any) -> Any:
    """Request `path`, check that the response shows and changes nothing of others, and undo the changes.

    Only methods that may change something have their rows compared.
    """
    own, others = VIEWERS[viewer], frozenset(OWNERS) - VIEWERS[viewer]
    before, is_safe = (world.before(own), world.before(others)), method in SAFE
    with transaction.atomic():
        response = client.post(path, *data, **how) if data else client.generic(method, path, **how)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        after = before if is_safe else (world.rows(own), world.rows(others))
        transaction.set_rollback(True)
    if body.startswith(b"PK"):  # XLSX
        archive = zipfile.ZipFile(io.BytesIO(body))
        body = b"".join(archive.read(name) for name in archive.namelist())
    shown = f"{[*response.headers.items()]} {response.cookies.output()} {body.decode(errors='replace')}"
    for secret in world.secrets:
        if secret in f"{path} {data}":  # a response may repeat what was sent
            shown = shown.replace(secret, "")
    response.owners, response.is_effective = world.found(shown), after[0] != before[0]
    assert response.status_code < 500, f"{method} {path}"
    assert response.owners <= VIEWERS[viewer], f"{method} {path}"
    assert after[1] == before[1], f"{method} {path}"
    return response


METHODS = (*SAFE, "POST", "PUT", "DELETE")


# --- Applicants ---------------------------------------------------------------------------------


PAGES = ("", "/withdraw", "/delete", "/export", "/account", "/claim")


def paths_of_applicants(world: World, viewer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the paths of the public routes and the methods to request: for each application, with the token
    of an own receipt, and with tokens that `viewer` could make."""
    for path in ("/account/", "/account/export", "/account/delete", "/v1/user/applications"):
        yield path, METHODS
    for vacancy in world.vacancies.values():
        yield f"/v1/vacancies/{vacancy.pk}/applications", METHODS
        yield f"/apply/{vacancy.pk}", METHODS
    for application in world.own.values():
        yield from ((f"/account/applications/{application.pk}{page}", METHODS) for page in PAGES[:4])
    for token in own_tokens(world, viewer):
        yield from ((f"/account/receipt/{token}{page}", METHODS) for page in PAGES)
    for token in made_tokens(world, viewer):
        yield f"/apply/thanks/{token}", ("GET",)
        yield from ((f"/account/receipt/{token}{page}", ("GET", "POST")) for page in PAGES)


def own_tokens(world: World, viewer: str) -> list[str]:
    if viewer in world.staff:
        return []
    return [receipt_path(world.own[owner]).rpartition("/")[2] for owner in VIEWERS[viewer]]


def made_tokens(world: World, viewer: str) -> list[str]:
    """Tokens that are made of the viewer's own one, and of what can be guessed or read elsewhere."""
    made = ["a:b:c"]
    for application in world.own.values():
        made.append(f"{application.reference}:x:y")
        for token in own_tokens(world, viewer):
            reference, at, signature = token.split(":")
            if reference != application.reference:
                made.append(f"{application.reference}:{at}:{signature}")
    return made


@MANY
@pytest.mark.parametrize("viewer", ["receipt link", "claimed", "recruiter"])
def test_public_routes_show_and_change_only_own_applications(world, viewer):
    client, seen = world.client(viewer), set()
    for path, methods in paths_of_applicants(world, viewer):
        for method in methods:
            seen |= request(world, client, viewer, method, path).owners

    assert seen == (VIEWERS[viewer] if viewer not in world.staff else set())


def test_token_of_an_account_shows_only_its_applications(world):
    bearer = {"headers": {"Authorization": f"Bearer {world.token('account')}"}}
    client = Client()
    response = request(world, client, "other applicant", "GET", "/v1/user/applications", **bearer)

    assert response.owners == {"account"}
    for path in ("/account/", f"/account/applications/{world.own['account'].pk}"):  # pages accept sessions
        assert request(world, client, "other applicant", "GET", path, **bearer).status_code == 302


MANY_APPLICANTS = [pytest.param(viewer, marks=MANY) for viewer in ("claimed", "other applicant")]


@pytest.mark.parametrize("viewer", ["receipt link", *MANY_APPLICANTS])
def test_applying_with_the_address_of_somebody_else_reveals_nothing(world, viewer):
    """The response is that to an address that nobody used."""
    client = world.client(viewer)

    def sent(vacancy: Any, address: str) -> tuple[Any, ...]:
        values, path = {**VALUES, "email": address}, f"/v1/vacancies/{vacancy.pk}/applications"
        body = json.dumps(document(vacancy, values))
        answer = request(world, client, viewer, "POST", path, body, content_type="application/json")
        page = request(world, client, viewer, "POST", f"/apply/{vacancy.pk}", values | {"_version": "x"})
        data = {key: len(value) for key, value in answer.json()["data"].items()}
        text = re.sub(r'nobody@|zyx\w+@|value="[^"]*"|\w{64}', "", page.content.decode())
        return answer.status_code, data, page.status_code, text

    unused = {name: sent(vacancy, "nobody@example.org") for name, vacancy in world.vacancies.items()}
    assert [shape[0] for shape in unused.values()] == [201, 201]
    for owner in sorted(set(OWNERS) - VIEWERS[viewer]):
        name = "Theirs" if owner == "otherbrand" else "Ours"
        assert sent(world.vacancies[name], f"{word(owner)}@example.org") == unused[name], owner


# --- The admin ------------------------------------------------------------------------------------


def rows_of(world: World, model: str) -> list[Any]:
    """The ids of the rows of `model` about an application."""
    pks = [application.pk for application in world.own.values()]
    if model == "application":
        return pks
    if model not in ("accesslog", "token", "historyentry", "message", "note"):
        return []
    rows = apps.get_model("applications", model).objects.all()
    of_others = model in ("accesslog", "token")
    return list((rows if of_others else rows.filter(application__in=pks)).values_list("pk", flat=True))


def admin_paths(world: World) -> Iterator[str]:
    yield from ("/admin/", "/admin/search/?q=zyx", "/admin/vacancies/vacancy/")
    for route in sorted(set(admin_pages.routes())):
        found = re.match(r"admin/(?:applications/(\w+)|auth/user|vacancies/vacancy)/", route)
        if not found:
            continue
        if "<int:pk>" in route:
            pks = SubmissionFile.objects.values_list("pk", flat=True)
            yield from (f"/{route.replace('<int:pk>', str(pk))}" for pk in pks)
        elif "<path:object_id>" in route or "<id>" in route:
            rows = rows_of(world, found[1]) if found[1] else [user.pk for user in world.users.values()]
            rows = [vacancy.pk for vacancy in world.vacancies.values()] if "vacancies/" in route else rows
            yield from (f"/{re.sub('<(path:object_id|id)>', str(pk), route)}" for pk in rows)
        elif "<" not in route:
            yield f"/{route}"
    for vacancy in world.vacancies.values():
        for page in ("", "board/"):
            yield f"/admin/applications/application/{page}?vacancy__id__exact={vacancy.pk}"
    for query in ("q=zyxmatrix", "is_repeated__exact=0", "e=1", "_facets=1", "o=1", "all=", "stage=1", "p=0"):
        yield f"/admin/applications/application/?{query}"
    for model, field in (("historyentry", "application"), ("application", "vacancy")):
        query = f"app_label=applications&model_name={model}&field_name={field}"
        yield f"/admin/autocomplete/?{query}&term=zyx"


def posts(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield posts about all applications at once, and about each: the actions of the list, and its pages."""
    url, pks = "/admin/applications/application/", [application.pk for application in world.own.values()]
    actions = ["email_selected", "export_csv", "export_xlsx", "mark_read", "mark_unread", "delete_selected"]
    for name in (*actions, *(f"move_to_{stage.pk}" for stage in world.stages)):
        data = {"action": name, "post": "yes"}
        yield url, data | {"_selected_action": pks}
        everything = {"select_across": "1", "index": "0", "confirmed": "1"}
        yield url, data | {"_selected_action": pks[:1]} | everything
    changes = {pk: world.own[owner].changes.last().pk for owner, pk in zip(OWNERS, pks, strict=True)}
    each = [f"{pk}:{change}" for pk, change in changes.items()]
    for sent in (",".join(each), *each):
        for stage in world.stages:
            yield f"{url}move/", {"applications": sent, "stage": stage.pk, "confirmed": "yes", "back": url}
            yield f"{url}move/", {"applications": sent, "stage": stage.pk}
        for more in ({}, {"confirmed": "yes"}):
            yield f"{url}emails/", {"applications": sent, "template": world.template.pk, **more}
    for pk in pks:
        note = Note.objects.filter(application=pk).first()
        for page in ("note", "delete-note", "email", "undo", "unread", "change", "delete"):
            for step in ("preview", "send") if page == "email" else ("",):
                yield f"{url}{pk}/{page}/", {
                    "text": "@recruiter", "note": note.pk, "subject": "{name}", "body": "{name} {link}",
                    "step": step, "change": changes[pk], "stage": world.stages[0].pk, "seen": changes[pk],
                    "rating": "5", "post": "yes", **admin_pages.NO_ROWS,
                }  # fmt: skip


@MANY
@pytest.mark.parametrize("viewer", ["recruiter of another brand", "filter manager", "recruiter"])
def test_admin_shows_and_changes_only_applications_of_own_brands(world, viewer):
    client, seen, statuses, effective = world.client(viewer), {}, {}, set()
    for path in admin_paths(world):
        for method in ("GET", "POST"):
            response = request(world, client, viewer, method, path)
            statuses[method, path] = response.status_code
            seen[path] = seen.get(path, set()) | response.owners
    for path, data in posts(world):
        response = request(world, client, viewer, "POST", path, data)
        if response.is_effective:
            effective.add(data.get("action") or path.rstrip("/").rpartition("/")[2])
        seen[path] = seen.get(path, set()) | response.owners

    allowed = VIEWERS[viewer] if viewer in world.staff else set()
    if allowed:  # the posts would change something: not refused for another reason
        assert effective >= {"mark_read", "move", "emails", "note", "delete-note", "email", "undo", "change"}
    else:
        assert effective == set()
    assert set().union(*seen.values()) == allowed
    for owner, application in world.own.items():
        page = f"/admin/applications/application/{application.pk}/change/"
        [file] = SubmissionFile.objects.filter(submission__application=application)
        for one in (page, f"/admin/applications/application/files/{file.pk}/"):
            assert seen[one] == ({owner} if owner in allowed else set()), one
            if owner not in allowed:
                assert statuses["GET", one] in (302, 403, 404), one


def test_emails_go_only_to_those_who_may_read_them(world):
    with transaction.atomic():
        at = timezone.now()
        for user in User.objects.filter(pk__in=recipients(at)):
            queue_digest(user, at=at)
        by_address: dict[str, set[str]] = {}
        for message in Message.objects.all():
            text = f"{message.subject} {message.body}"
            by_address.setdefault(message.to, set()).update(world.found(text))
        transaction.set_rollback(True)

    expected = {f"{word(owner)}@example.org": {owner} for owner in OWNERS}
    expected |= {"recruiter@staff.test": OWN_BRAND, "outsider@staff.test": {"otherbrand"}}
    assert set(by_address) == set(expected)
    assert {address for address, found in by_address.items() if not found <= expected[address]} == set()
