"""Metrics: of a real gunicorn while its processes are replaced, and of every state."""

import json
import os
import re
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

import applications.metrics
import jobsite.wsgi
from jobsite.models import JobRun
from jobsite.ops import health, metrics
from jobsite.ops.logs import Requests
from jobsite.serving import replica
from jobsite.serving.revision import read_state
from tests import servers
from tests.factories import make_vacancy
from tests.vacancies.api.site import ON_POSTGRESQL
from tests.wsgi import ask
from vacancies.choices import VacancyStatus
from vacancies.metrics import collect

ALERTS = Path("deploy/alerts.yaml")
LONG = 300  # seconds, for processes that start on a busy machine


def numbers(text):
    """Return the samples: value by name and labels."""
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def site(monkeypatch):
    """The gauges of a healthy site."""
    gauges = [metrics.gauge("revision", "", (), {(): 7})]
    monkeypatch.setattr(
        health, "cached_report", lambda: {"database": "ok", "migrations": "ok", "cache": "ok"}
    )
    monkeypatch.setattr(health, "on_dedicated_connection", lambda query: query())
    monkeypatch.setattr(replica, "is_configured", lambda: True)
    monkeypatch.setattr(health, "replica_responds", lambda: True)

    def read():
        registry = CollectorRegistry()
        registry.register(metrics.GaugeCollector(lambda: gauges))
        return numbers(generate_latest(registry).decode())

    return SimpleNamespace(gauges=gauges, read=read)


def test_labels_of_counters_contain_no_input_of_clients():
    def application(environ, start_response):
        start_response("204 No Content", [])
        return []

    count, single = Mock(), "v1:single-vacancy-detail"
    for path, method, *counted in (
        ("/v1/vacancies/501", "GET", single, "GET"),
        ("/v1/vacancies/502", "GET", single, "GET"),
        ("/nothing/501", "GET", "other", "GET"),
        ("/wp-login.php", "BREW", "other", "other"),
    ):
        ask(Requests(application, count), path, method)
        assert count.call_args.args[:-1] == (*counted, "204", "view")

    assert settings.METRICS_PORT == 0
    assert jobsite.wsgi.count is None


@pytest.mark.slow("starts gunicorn")
@pytest.mark.django_db(transaction=True)
def test_counters_are_exact_while_processes_are_replaced(tmp_path):
    """One of two processes is killed, then both are replaced:
    no request is lost or counted twice.
    """
    make_vacancy(pk=501)
    User.objects.create_user("mia", password="een-oud-geheim-7")
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        url = "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(database)
    port = servers.free_port()
    secret = "a-key-of-tests-that-nobody-may-use-0123456789-abcdefghij"
    environment = {"SECRET_KEY": secret, "ALLOWED_HOSTS": "127.0.0.1", "DATABASE_URL": url}
    environment |= {"STATIC_ROOT": str(tmp_path), "METRICS_PORT": str(port), "WEB_CONCURRENCY": "2"}
    server = servers.Gunicorn(tmp_path / "gunicorn", environment | {"PYTHONDONTWRITEBYTECODE": "1"})

    def scrape():
        """Return the metrics; any process reports those of all."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=LONG) as answer:
            return numbers(answer.read().decode())

    def read(times):
        for _ in range(times):
            assert servers.get(server.port, "/v1/vacancies/501")[0] == 200

    def answered():
        labels, found = ("GET", "v1:single-vacancy-detail", "200"), scrape()
        names = {each: sorted((*labels, each)) for each in ("cache", "view")}
        return {
            source: found.get(("jobsite_requests_total", *name), 0)
            for source, name in names.items()
        }

    try:
        server.start()
        read(10)
        seen = answered()
        assert sum(seen.values()) == 10
        assert 0 < seen["view"] < seen["cache"]  # each process runs the view once
        assert {json.dumps(answered()) for _ in range(6)} == {json.dumps(seen)}  # from any process

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
        servers.until(
            lambda: len(server.workers()) == 2 and not first & set(server.workers()), LONG
        )
        read(10)
        servers.until(lambda: sum(answered().values()) == 20, LONG)

        found = {}
        # A slow database leaves them out.
        known = {("jobsite_migrated",), ("jobsite_listed", "external")}
        servers.until(lambda: found.update(scrape()) or known <= found.keys(), LONG)
        assert found["jobsite_sign_ins_total", "refused"] == 1
        assert found["jobsite_request_seconds_count", "v1:single-vacancy-detail"] == 20
        assert (found["jobsite_database_up",], found["jobsite_migrated",]) == (1, 1)
        assert (found["jobsite_listed", "external"], found["jobsite_vacancies", "published"]) == (
            1,
            1,
        )

        mapped = Path(f"/proc/{server.workers()[0]}/maps").read_text()
        [folder] = {Path(path).parent for path in re.findall(r"\S+/counter_\d+\.db", mapped)}
        # two processes, and while they are replaced their successors
        assert len(list(folder.glob("counter_*.db"))) <= 4
    finally:
        server.stop()
    assert not folder.exists()
    with pytest.raises(urllib.error.URLError, match="refused"):
        scrape()

    lines = [json.loads(line) for line in Path(f"{server.folder}.log").read_text().splitlines()]
    # A probe may have timed out.
    loggers = {line["logger"] for line in lines} - {"jobsite.ops.health"}
    assert loggers == {"gunicorn.error", "jobsite.requests", "axes.handlers.database"}
    requests = [line for line in lines if line["logger"] == "jobsite.requests"]
    assert [line["path"] for line in requests if "vacancies" not in line["path"]] == [
        "/v1/auth/token"
    ]
    assert len({line["request_id"] for line in requests}) == len(requests) >= 20


def test_gauges_of_a_healthy_site(site, monkeypatch, settings):
    settings.VERSION, settings.COMMIT = "1.2.3", "00ab"
    found = site.read()
    [build] = [key for key in found if key[0] == "jobsite_build_info"]
    assert build[1:3] == ("00ab", "1.2.3")  # sorted; then Django and Python
    assert len(build) == 5
    up = dict.fromkeys(("database_up", "migrated", "cache_up", "replica_up"), 1) | {"revision": 7}
    assert found == {(f"jobsite_{name}",): value for name, value in up.items()} | {build: 1}

    lost = Mock(side_effect=OperationalError)
    monkeypatch.setattr(health, "cached_report", lambda: None)
    monkeypatch.setattr(health, "replica_responds", lost)
    monkeypatch.setattr(health, "on_dedicated_connection", lost)

    found = {key: value for key, value in site.read().items() if key[0] != "jobsite_build_info"}
    assert found == {("jobsite_database_up",): 0, ("jobsite_replica_up",): 0}


@pytest.mark.django_db
def test_gauges_of_vacancies_cover_every_state_and_alerts_use_existing_metrics(
    time_machine, django_assert_max_num_queries, site
):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    day = timedelta(days=1)
    make_vacancy(audience="internal")
    make_vacancy(audience="both", is_hot=True)
    make_vacancy(publish_from=now + day)
    make_vacancy(publish_from=now - 2 * day, publish_until=now - day)  # marked as expired
    make_vacancy(publish_from=now - day, publish_until=now - timedelta(minutes=1))  # not marked yet
    for status in (VacancyStatus.DRAFT, VacancyStatus.UNPUBLISHED, VacancyStatus.ARCHIVED):
        make_vacancy(status=status)

    with django_assert_max_num_queries(11):
        families = list(collect())
    states = {
        "draft": 1,
        "scheduled": 1,
        "expired": 2,
        "unpublished": 1,
        "archived": 1,
        "published": 2,
    }
    lists = {"external": 1, "hot": 1, "internal": 2, "hot_internal": 1}
    assert {
        " ".join([sample.name.removeprefix("jobsite_"), *sample.labels.values()]): sample.value
        for family in families
        for sample in family.samples
    } == {f"vacancies {state}": count for state, count in states.items()} | {
        f"listed {name}": count for name, count in lists.items()
    } | {"revision": read_state().number, "overdue_seconds": 60 if ON_POSTGRESQL else 0}

    JobRun.objects.create(name="MailDelivery")
    site.gauges += [*collect(), *applications.metrics.collect()]
    ours = {key[0] for key in site.read()}
    ours |= {f"{each._name}_total" for each in (metrics.REQUESTS, metrics.SIGN_INS)}
    ours |= {f"{metrics.SECONDS._name}{end}" for end in ("_bucket", "_count", "_sum")}

    text = ALERTS.read_text()
    assert set(re.findall(r"\bjobsite_[a-z_]+", text)) - ours == set()
    rules = [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(rule["annotations"]) == {"summary", "runbook"}
    assert len({rule["alert"] for rule in rules}) == len(rules)
