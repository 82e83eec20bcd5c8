"""A site with content to back up, and ways to compare it and to forge its archives."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from applications.models import Token
from jobsite.ops.backups.archive import DATABASE
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests.applications.makers import MINE, make_token
from tests.factories import make_brand, make_vacancy
from tests.jobsite.api.paths import PATHS
from tests.wsgi import ask
from vacancies.models import Attachment, Vacancy

ARCHIVES = [
    pytest.mark.slow("writes and restores archives"),
    pytest.mark.each_database,
    pytest.mark.django_db(transaction=True),
]
# Tables that a restore changes on purpose.
ADAPTED = {
    "django_session",
    "applications_token",
    "vacancies_integrationtoken",
    "jobsite_revision",
    # Clients of the feed begin anew. The other machine may have other settings, so another format.
    "jobsite_commit",
    "jobsite_cursorgap",
    "vacancies_feedformat",
    "vacancies_feedtouch",
}


def run(*words: Any, **options: Any) -> dict[str, Any]:
    """Run a command; return its JSON report."""
    out = io.StringIO()
    call_command(*map(str, words), format="json", stdout=out, stderr=io.StringIO(), **options)
    return json.loads(out.getvalue())


def output(*words: Any, **options: Any) -> str:
    """Run a command; return its output."""
    err = io.StringIO()
    call_command(*map(str, words), stdout=err, stderr=err, **options)
    return err.getvalue()


def rows() -> dict[str, str]:
    """Return a digest of all rows of each table."""
    digests = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table not in ADAPTED:
                cursor.execute(f'SELECT * FROM "{table}"')
                content = sorted(
                    repr([bytes(v) if isinstance(v, memoryview) else v for v in row])
                    for row in cursor.fetchall()
                )
                digests[table] = hashlib.md5(repr(content).encode()).hexdigest()
    return digests


def media(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in `folder`, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def tree(folder: Path) -> set[str]:
    """Return the paths of all files and folders in `folder`."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Site:
    """A server process with a response cache, which runs while its database is replaced."""

    def __init__(self, application: Any, user: Any) -> None:
        self.application = ResponseCache(application, read_state)
        self.user = user
        self.paths = [
            *PATHS,
            "/v1/vacancies?page[size]=3&page[number]=2",
            "/v1/vacancies?sort=title",
        ]
        for pk in Vacancy.objects.values_list("pk", flat=True):
            self.paths += [f"/v1/vacancies/{pk}{what}" for what in ("", "/form", "/form/schema")]

    def bodies(self) -> dict[str, Any]:
        token = make_token(self.user)
        found = {path: ask(self.application, path) for path in self.paths}
        found[MINE] = ask(self.application, MINE, HTTP_AUTHORIZATION=f"Bearer {token}")
        Token.objects.all().delete()
        return {path: (status, body) for path, (status, _, body) in found.items()}

    def tags(self) -> set[str]:
        return {ask(self.application, path)[1].get("ETag", "") for path in self.paths[:5]} - {""}


def modify() -> None:
    """Change, delete and add content."""
    Vacancy.objects.update(title="Nothing to see")
    Attachment.objects.first().delete()
    make_vacancy(title="Later", brand=make_brand("Later"))


def rewritten(
    archive: Path, to: Path, change: Callable[[str, bytes], Any], *, also: tuple = ()
) -> Path:
    """Write a copy of `archive` with `change` applied to each part, and the members `also`; return
    its path.
    """
    with tarfile.open(archive) as source, tarfile.open(to, "w") as target:
        for member in source:
            content = change(member.name, source.extractfile(member).read())
            if content is not None:
                if member.name == "manifest.json":
                    member.pax_headers = {"comment": hashlib.sha256(content).hexdigest()}
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
        for member in also:
            target.addfile(member, io.BytesIO(b"x" * member.size))
    return to


def member(name: str, **values: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in ({"size": 1} | values).items():
        setattr(made, key, value)
    return made


def with_manifest(**values: Any) -> Callable[[str, bytes], bytes]:
    """Return a change that replaces fields of the manifest."""

    def edit(name: str, content: bytes) -> bytes:
        return (
            json.dumps(json.loads(content) | values).encode()
            if name == "manifest.json"
            else content
        )

    return edit


def with_database(content: bytes) -> Callable[[str, bytes], bytes]:
    """Return a change that replaces the database, and its digest in the manifest."""
    name = DATABASE[connection.vendor]

    def change(part: str, old: bytes) -> bytes:
        if part == "manifest.json":
            manifest = json.loads(old)
            digest = hashlib.sha256(content).hexdigest()
            manifest["parts"][name] = {"size": len(content), "sha256": digest}
            return json.dumps(manifest).encode()
        return content if part == name else old

    return change
