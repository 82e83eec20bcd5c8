"""`mirror`: a copy in a file or a folder, always that of one moment."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing

import pytest
from django.core.management import CommandError

from tests.servers import NGINX, ROOT, Instance, stub_server, until
from tests.servers.nginx import Nginx
from tests.vacancies.commands import run as run_command

SETUP = """
from tests.factories import make_brand, make_vacancy
from vacancies.models import Vacancy
for number in range(30):
    make_vacancy(reference=f"n{number}", audience="both" if number % 2 else "public")
make_vacancy(audience="internal")
make_vacancy(brand=make_brand("Beta", slug="beta"))
"""
IMPORTS = "from vacancies.models import *;"


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    instance = Instance(tmp_path_factory.mktemp("mirrored"))
    instance.manage("shell", "-v0", "-c", SETUP)
    return instance


@pytest.fixture(scope="module")
def base(instance):
    with instance.serve() as base:
        yield base


def change(instance, statement):
    instance.manage("shell", "-v0", "-c", IMPORTS + statement)


def mirror(*words):
    """Return the exit code of the command."""
    return run_command("mirror", *words)[0]


def get_json(base, path):
    with urllib.request.urlopen(f"{base}{path}") as answer:
        return json.load(answer)


def listed(base, path="/v1/vacancies", query=""):
    return {item["id"]: item for item in get_json(base, f"{path}?page[size]=100{query}")["data"]}


def in_file(path):
    with closing(sqlite3.connect(path)) as rows:
        return {pk: json.loads(item) for pk, item in rows.execute("SELECT * FROM vacancy")}


def in_folder(folder):
    index = json.loads((folder / "index.json").read_text())
    items = [json.loads((folder / f"{pk}.json").read_text()) for pk in index["ids"]]
    return {item["id"]: item for item in items}


@pytest.mark.slow("a service in processes of its own")
@pytest.mark.django_db
def test_copy_equals_the_list_and_the_exit_code_says_whether_it_changed(instance, base, tmp_path):
    file, folder = tmp_path / "copy.sqlite3", tmp_path / "copy"
    of_brand, internal = tmp_path / "beta", tmp_path / "internal.db"
    copies = (
        (file, in_file, (), "/v1/vacancies", ""),
        (folder, in_folder, (), "/v1/vacancies", ""),
        (of_brand, in_folder, ("--brand", "beta"), "/v1/vacancies", "&filter[brand]=beta"),
        (internal, in_file, ("--internal",), "/v1/vacancies/internal", ""),
    )
    for target, read, words, path, query in copies:
        assert mirror(base, target, "--check", *words) == 3
        assert mirror(base, target, "--check", *words) == 0
        assert read(target) == listed(base, path, query)
    assert [*in_folder(folder)] == [*listed(base)]  # in its order
    index = json.loads((folder / "index.json").read_text())
    assert index["cursor"] in index["next"]

    change(instance, "Vacancy.objects.filter(reference='n3').update(title='Other')")
    change(instance, "Vacancy.objects.filter(reference__in=['n4', 'n5']).delete()")
    change(instance, "Vacancy.objects.filter(brand__slug='beta').update(status='draft')")
    for target, read, words, path, query in copies:
        assert mirror(base, target, *words, "--check") == 3
        assert read(target) == listed(base, path, query)
    assert {path.name for path in folder.iterdir()} == {
        "index.json",
        *(f"{pk}.json" for pk in in_folder(folder)),
    }

    # All cursors expire: the brand is not known any more, so that it has no vacancies.
    change(
        instance,
        "from vacancies.feed.maintenance import *; import datetime as d;"
        "delete_old(d.datetime(9999, 1, 1, tzinfo=d.UTC))",
    )
    change(
        instance,
        "Vacancy.objects.filter(reference='n7').delete();"
        "from jobsite.models import *; "
        "CursorGap.objects.create(after=-1, before=Revision.objects.get().number)",
    )
    for target, read, words, path, query in copies:
        mirror(base, target, *words)
        assert read(target) == listed(base, path, query)


@pytest.mark.slow("a service in processes of its own")
@pytest.mark.django_db
def test_check_finds_what_differs(base, tmp_path):
    file = tmp_path / "copy.sqlite3"
    mirror(base, file)
    with closing(sqlite3.connect(file)) as rows:
        rows.execute("UPDATE vacancy SET item = json_set(item, '$.title', 'x') WHERE id = 3")
        rows.commit()
    assert mirror(base, file, "--check") == 1


FOLLOW = """
import sys
from django.core.management import execute_from_command_line
from vacancies.management.commands import mirror
mirror.POLL_SECONDS = 0.2
execute_from_command_line(["manage.py", "mirror", *sys.argv[1:], "--follow"])
"""


@pytest.mark.slow("a service in processes of its own")
def test_it_follows_until_it_is_interrupted(instance, tmp_path):
    folder = tmp_path / "copy"
    with instance.serve() as base:
        words = [sys.executable, "-c", FOLLOW, base, str(folder)]
        process = subprocess.Popen(
            words, cwd=ROOT, env=instance.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

        def is_title(title):
            items = in_folder(folder) if (folder / "index.json").exists() else {}
            return title in {item["title"] for item in items.values()}

        for title in ("First", "Second"):
            change(instance, f"Vacancy.objects.filter(reference='n1').update(title='{title}')")
            until(lambda title=title: is_title(title))
    # The service has stopped: the copy stays, and the process goes on.
    time.sleep(1)
    assert process.poll() is None
    assert is_title("Second")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode not in (0, 3)
    assert b"Traceback" not in output


KILLED = int(os.environ.get("MIRROR_KILLS", "3"))  # MIRROR_KILLS=100 takes some minutes


def kill_often(base, instance, folder, times):
    """Change, mirror and kill it at a random moment. What the index names always is there."""
    words = [sys.executable, "manage.py", "mirror", base, str(folder)]
    for number in range(times):
        change(instance, f"Vacancy.objects.filter(audience='both').update(title='T{number}')")
        process = subprocess.Popen(
            words, cwd=ROOT, env=instance.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + random.uniform(0.3, 3)
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
            if (folder / "index.json").exists():
                in_folder(folder)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (folder / "index.json").exists():
            in_folder(folder)
    subprocess.run(words, cwd=ROOT, env=instance.env, check=False, capture_output=True)
    assert in_folder(folder) == listed(base)


@pytest.mark.slow("a service in processes of its own")
def test_index_names_no_missing_file_if_it_is_killed(instance, base, tmp_path):
    kill_often(base, instance, tmp_path / "copy", KILLED)


@pytest.mark.slow("a service in processes of its own")
@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
@pytest.mark.django_db
def test_nginx_serves_the_folder_while_the_service_is_stopped(tmp_path):
    instance, folder = Instance(tmp_path / "site"), tmp_path / "copy"
    instance.manage("shell", "-v0", "-c", SETUP)
    with instance.serve() as base:
        mirror(base, folder)
        expected = listed(base)
    with pytest.raises(CommandError):
        run_command("mirror", base, folder)
    types = "types { application/json json; }"
    server = f"server {{ listen 127.0.0.1:PORT; root {folder}; }}"
    for path in (tmp_path, *folder.iterdir(), folder):
        path.chmod(0o755)
    nginx = Nginx(tmp_path / "nginx", f"{types} {server}")
    nginx.probe = "/index.json"
    with nginx:
        address = f"http://127.0.0.1:{nginx.port}"
        ids = get_json(address, "/index.json")["ids"]
        assert {pk: get_json(address, f"/{pk}.json") for pk in ids} == expected


REMOVAL, FOREIGN = {"id": "../x", "change": "remove"}, {"id": 1, "change": "upsert"}
NEXT = {"links": {"next": "/v1/vacancies/changes?since=a"}, "meta": {"more": False}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [REMOVAL], **NEXT},
        {"data": [FOREIGN | {"vacancy": {"id": 2}}], **NEXT},
        [],
    ],
)
def test_answer_that_is_no_feed_changes_nothing(tmp_path, body):
    routes = {"/v1/vacancies/changes?page%5Bsize%5D=1000": (200, {}, json.dumps(body).encode())}
    with (
        stub_server(routes) as (base, _),
        pytest.raises(CommandError, match="not a page of changes"),
    ):
        run_command("mirror", base, tmp_path / "copy")
    assert list((tmp_path / "copy").iterdir()) == []


@pytest.mark.django_db
def test_usage_errors(tmp_path):
    (tmp_path / "index.json").write_text(json.dumps({"source": "x", "next": "/y", "ids": []}))
    for words, text in (
        (("ftp://x", tmp_path), "The base URL must be"),
        (("http://127.0.0.1:1", tmp_path), "is a copy of x, not of"),
    ):
        with pytest.raises(CommandError, match=text) as caught:
            run_command("mirror", *words)
        assert caught.value.returncode == 2
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(CommandError, match="cannot be read as a copy"):
        run_command("mirror", "http://127.0.0.1:1", tmp_path)
