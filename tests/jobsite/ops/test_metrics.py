"""What Prometheus is told: by a real gunicorn whose processes come and go, and of every state."""

import json
import os
import re
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

import jobsite.wsgi
from jobsite.api.document import version
from jobsite.ops import health, metrics
from jobsite.ops.logs import Requests
from jobsite.serving import replicas
from tests import servers
from tests.factories import make_vacancy
from tests.wsgi import ask
from vacancies.models import Status, Vacancy

ALERTS = Path("deploy/alerts.yaml")
LONG = 300  # seconds, for processes that start on a machine that does much else


def numbers(text):
    """The samples: their value by name and labels."""
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def site(monkeypatch):
    """The figures that are looked up, of a site that is well."""
    found = {"database": "ok", "migrations": "ok", "cache": "ok", "replicas": {}}
    asked = {"states": {"draft": 2}, "lists": {"hot": 1}, "revision": 7, "overdue": 0}
    standings = [
        replicas.Standing("replica_1", True, 0.5, 1024),
        replicas.Standing("replica_2", False, None, None),
    ]
    monkeypatch.setattr(health, "look", lambda: found)
    monkeypatch.setattr(metrics, "_ask", lambda: asked)
    monkeypatch.setattr(replicas, "report", lambda: standings)

    def read():
        registry = CollectorRegistry()
        registry.register(metrics.Site())
        return numbers(generate_latest(registry).decode())

    return SimpleNamespace(found=found, asked=asked, read=read)


# --- What is counted ---------------------------------------------------------------------------


def test_nothing_is_counted_unless_asked_for():
    assert settings.METRICS_PORT == 0
    assert jobsite.wsgi.count is None


@pytest.mark.parametrize(
    ("path", "method", "counted"),
    [
        ("/v1/vacancies/501", "GET", ("v1:single-vacancy-detail", "GET", "204", "view")),
        ("/v1/vacancies/502", "GET", ("v1:single-vacancy-detail", "GET", "204", "view")),
        ("/nothing/501", "GET", ("other", "GET", "204", "view")),
        ("/wp-login.php", "BREW", ("other", "other", "204", "view")),
    ],
)
def test_labels_are_names_of_ours(path, method, counted):
    seen = []

    def application(environ, start_response):
        start_response("204 No Content", [])
        return []

    ask(Requests(application, lambda *labels: seen.append(labels[:-1])), path, method)
    assert seen == [counted]


@pytest.mark.django_db(transaction=True)
def test_processes_count_for_each_other(tmp_path):
    """Two processes, of which one is killed and both are replaced: nothing is counted twice or forgotten."""
    make_vacancy(pk=501)
    User.objects.create_user("mia", password="een-oud-geheim-7")
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        url = "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(database)
    port = servers.free_port()
    environment = {
        "SECRET_KEY": "a-key-of-tests-that-nobody-may-use-0123456789-abcdefghij",
        "ALLOWED_HOSTS": "127.0.0.1",
        "DATABASE_URL": url,
        "STATIC_ROOT": str(tmp_path),
        "METRICS_PORT": str(port),
        "WEB_CONCURRENCY": "2",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    server = servers.Gunicorn(tmp_path / "gunicorn", environment)

    def told():
        """By one of them, who asks for all."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=LONG) as answer:
            return numbers(answer.read().decode())

    def read(times):
        for _ in range(times):
            assert servers.get(server.port, "/v1/vacancies/501")[0] == 200

    def answered():
        labels = ("GET", "v1:single-vacancy-detail", "200")
        found = told()
        return {
            source: found.get(("jobsite_requests_total", *sorted((*labels, source))), 0)
            for source in ("cache", "fast_path", "view")
        }

    try:
        server.start()
        read(10)
        seen = answered()
        assert sum(seen.values()) == 10
        assert 0 < seen["view"] < seen["cache"]  # each process asks a view once
        assert {json.dumps(answered()) for _ in range(6)} == {json.dumps(seen)}  # whoever answers

        for path in health.PATHS:
            servers.until(lambda path=path: servers.get(server.port, path)[0] == 200, LONG)
        body = json.dumps({"username": "mia", "password": "falsch"}).encode()
        post = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/auth/token", body)
        post.add_header("Content-Type", "application/json")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(post, timeout=LONG)

        first = set(server.workers())
        os.kill(min(first), 9)
        servers.until(lambda: len(set(server.workers()) - first) == 1, LONG)
        server.reload()
        servers.until(lambda: len(server.workers()) == 2 and not first & set(server.workers()), LONG)
        read(10)
        servers.until(lambda: sum(answered().values()) == 20, LONG)

        found = {}
        known = {("jobsite_migrated",), ("jobsite_listed", "external")}  # the database is not waited for
        servers.until(lambda: found.update(told()) or known <= found.keys(), LONG)
        assert found["jobsite_sign_ins_total", "refused"] == 1
        assert found["jobsite_request_seconds_count", "v1:single-vacancy-detail"] == 20
        assert (found["jobsite_database_up",], found["jobsite_migrated",]) == (1, 1)
        assert (found["jobsite_listed", "external"], found["jobsite_vacancies", "published"]) == (1, 1)

        mapped = Path(f"/proc/{server.workers()[0]}/maps").read_text()
        [folder] = {Path(path).parent for path in re.findall(r"\S+/counter_\d+\.db", mapped)}
        # two processes, and while they are replaced their successors
        assert len(list(folder.glob("counter_*.db"))) <= 4
    finally:
        server.stop()
    assert not folder.exists()
    with pytest.raises(urllib.error.URLError, match="refused"):
        told()

    lines = [json.loads(line) for line in Path(f"{server.folder}.log").read_text().splitlines()]
    loggers = {line["logger"] for line in lines} - {"jobsite.ops.health"}  # which may have been impatient
    assert loggers == {"gunicorn.error", "jobsite.requests", "axes.handlers.database"}
    requests = [line for line in lines if line["logger"] == "jobsite.requests"]
    assert [line["path"] for line in requests if "vacancies" not in line["path"]] == ["/v1/auth/token"]
    assert len({line["request_id"] for line in requests}) == len(requests) >= 20


# --- What is looked up -------------------------------------------------------------------------


def test_site_that_is_well(site):
    assert {key: value for key, value in site.read().items() if key[0] != "jobsite_build_info"} == {
        ("jobsite_database_up",): 1,
        ("jobsite_migrated",): 1,
        ("jobsite_cache_up",): 1,
        ("jobsite_replica_up", "replica_1"): 1,
        ("jobsite_replica_up", "replica_2"): 0,
        ("jobsite_replica_lag_seconds", "replica_1"): 0.5,
        ("jobsite_replica_lag_bytes", "replica_1"): 1024,
        ("jobsite_vacancies", "draft"): 2,
        ("jobsite_listed", "hot"): 1,
        ("jobsite_revision",): 7,
        ("jobsite_overdue_seconds",): 0,
    }
    assert any(key[0] == "jobsite_build_info" and version() in key for key in site.read())


def test_what_is_not_known_is_not_said(site, monkeypatch):
    monkeypatch.setattr(health, "look", lambda: None)
    monkeypatch.setattr(metrics, "_ask", lambda: None)

    assert {key: value for key, value in site.read().items() if key[0] != "jobsite_build_info"} == {
        ("jobsite_database_up",): 0,
        ("jobsite_replica_up", "replica_1"): 1,
        ("jobsite_replica_up", "replica_2"): 0,
        ("jobsite_replica_lag_seconds", "replica_1"): 0.5,
        ("jobsite_replica_lag_bytes", "replica_1"): 1024,
    }


@pytest.mark.django_db
def test_every_state_is_told(at, django_assert_num_queries):
    day = timedelta(days=1)
    make_vacancy(audience="internal")
    make_vacancy(audience="both", is_hot=True)
    make_vacancy(publish_from=at + day)
    make_vacancy(publish_from=at - 2 * day, publish_until=at - day)
    for status in (Status.DRAFT, Status.WITHDRAWN, Status.ARCHIVED):
        make_vacancy(status=status)

    with django_assert_num_queries(9):
        before = metrics._asked()
    assert (before["overdue"] > 0, before["lists"]["external"]) == (True, 0)  # nobody has read them yet

    from vacancies.readmodel.changes import apply_due_changes

    apply_due_changes(at=at)
    told = metrics._asked()
    assert told["states"] == dict.fromkeys(("draft", "scheduled", "expired", "withdrawn", "archived"), 1) | {
        "published": 2
    }
    assert told["lists"] == {"external": 1, "hot": 1, "internal": 2, "hot_internal": 1}
    assert told["overdue"] == 0
    assert Vacancy.objects.count() == 7


# --- Alerts ------------------------------------------------------------------------------------


def test_alerts_ask_for_figures_that_there_are(site):
    ours = {key[0] for key in site.read()}
    ours |= {f"{each._name}{end}" for each in (metrics.REQUESTS, metrics.SIGN_INS) for end in ("_total",)}
    ours |= {f"{metrics.SECONDS._name}{end}" for end in ("_bucket", "_count", "_sum")}

    asked = set(re.findall(r"\bjobsite_[a-z_]+", ALERTS.read_text()))
    assert asked - ours == set()


def test_every_alert_says_what_and_how_bad():
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "runbook"}
    assert len({rule["alert"] for rule in rules}) == len(rules)
