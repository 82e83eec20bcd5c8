"""Settings of databases, replicas and the cache, from the environment variables."""

from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from jobsite.ops import checks
from tests.jobsite.serving.databases import environment

DJANGO = "django.core.cache.backends"
SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"
SERVING = "jobsite.serving.postgresql"


def test_without_variables_there_are_no_replicas():
    with environment() as found:
        assert list(found.DATABASES) == ["default"]


@pytest.mark.parametrize(
    ("variables", "engine"),
    [({}, "django.db.backends.postgresql"), ({"JOBSITE_SERVES": "1"}, "jobsite.serving.postgresql")],
)
def test_replica_url_is_a_database(variables, engine):
    urls = {"DATABASE_URL": "postgres://a@main/jobs", "REPLICA_URL": " postgres://a@one:5433/jobs "}
    with environment(**urls, **variables) as found:
        shown = {alias: (d["HOST"], d["ENGINE"], d["CONN_MAX_AGE"]) for alias, d in found.DATABASES.items()}

    assert shown == {"default": ("main", engine, None), "replica": ("one", engine, None)}
    assert found.DATABASES["replica"]["TEST"] == {"MIRROR": "default"}
    assert not found.DATABASES["replica"]["CONN_HEALTH_CHECKS"]
    assert found.DATABASE_ROUTERS == ["jobsite.serving.replica.Router"]


def test_both_databases_have_a_statement_timeout():
    urls = {"DATABASE_URL": "postgres://a@main/jobs", "REPLICA_URL": "postgres://a@one/jobs"}
    with environment(**urls, JOBSITE_SERVES="1") as found:
        options = [database["OPTIONS"]["options"] for database in found.DATABASES.values()]

    expected = "-c plan_cache_mode=force_generic_plan -c statement_timeout=20000 -c lock_timeout=2000"
    assert options == [expected, expected]


@pytest.mark.parametrize(
    "variables",
    [
        {"REPLICA_URLS": "postgres://a@one/jobs"},
        {"REPLICA_URLS": "postgres://a@one/jobs", "REPLICA_URL": "postgres://a@one/jobs"},
        {"REPLICA_URL": "postgres://a@one/jobs,postgres://a@two/jobs"},
    ],
)
def test_a_list_of_replicas_is_an_error_that_names_the_documentation(variables):
    with (
        pytest.raises(ImproperlyConfigured, match=r"replaced by REPLICA_URL.*docs/operations/cluster\.md"),
        environment(DATABASE_URL="postgres://a@main/jobs", **variables),
    ):
        pass


def test_empty_variables_are_no_replica():
    with environment(DATABASE_URL="postgres://a@main/jobs", REPLICA_URLS="", REPLICA_URL="") as found:
        assert list(found.DATABASES) == ["default"]


def test_options_of_a_url_take_precedence():
    url = "postgres://a@main/jobs?connect_timeout=9&sslmode=require&CONN_MAX_AGE=60"
    with environment(DATABASE_URL=url, STATEMENT_TIMEOUT="9") as found:
        default = found.DATABASES["default"]

    assert default["CONN_MAX_AGE"] == 60
    assert default["OPTIONS"] == {
        "connect_timeout": 9,
        "sslmode": "require",
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "prepare_threshold": 2**31,
        "options": "-c plan_cache_mode=force_generic_plan -c statement_timeout=9000 -c lock_timeout=2000",
    }


def test_several_hosts_in_a_url():
    url = "postgres://a@one:5432,two:5433/jobs?target_session_attrs=read-write"
    with environment(DATABASE_URL=url) as found:
        default = found.DATABASES["default"]

    assert (default["HOST"], default["PORT"]) == ("one,two", "5432,5433")
    assert default["OPTIONS"]["target_session_attrs"] == "read-write"
    assert default["OPTIONS"]["connect_timeout"] == 2


def test_pgbouncer_gets_no_session_settings():
    with environment(
        DATABASE_URL="postgres://a@main/jobs", DATABASE_POOL="pgbouncer", STATEMENT_TIMEOUT="9"
    ) as found:
        default = found.DATABASES["default"]

    assert default["DISABLE_SERVER_SIDE_CURSORS"]
    assert "options" not in default["OPTIONS"]
    assert "prepare_threshold" not in default["OPTIONS"]


@pytest.mark.parametrize("scheme", ["redis", "valkey", "rediss"])
def test_redis_urls_use_our_cache(scheme):
    with environment(CACHE_URL=f"{scheme}://valkey:6379/1") as found:
        cache = found.CACHES["default"]

    assert cache["BACKEND"] == "jobsite.serving.cache.RedisCache"
    assert cache["VERSION"] == 2  # keys of version 1 are pickles of older releases
    assert cache["LOCATION"] == f"{scheme.replace('valkey', 'redis')}://valkey:6379/1"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("DATABASE_POOL", "many", ["jobsite.E007"]),
        ("DATABASE_POOL", "0", ["jobsite.E007"]),
        ("DATABASE_POOL", "8", []),
        ("CACHES", {"default": {"BACKEND": "jobsite.serving.cache.RedisCache"}}, []),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.locmem.LocMemCache"}}, []),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.filebased.FileBasedCache"}}, ["jobsite.E030"]),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.redis.RedisCache"}}, ["jobsite.E030"]),
        (
            "DATABASES",
            {"default": {"ENGINE": SQLITE, "NAME": "x"}, "replica": {"ENGINE": POSTGRESQL}},
            ["jobsite.E009"],
        ),
        ("DATABASES", {"default": {"ENGINE": POSTGRESQL}, "replica": {"ENGINE": SQLITE}}, ["jobsite.E009"]),
        ("DATABASES", {"default": {"ENGINE": SERVING}, "replica": {"ENGINE": SERVING}}, []),
    ],
)
def test_invalid_database_and_cache_settings_are_errors(name, value, found):
    with patch.object(settings._wrapped, name, value):
        assert [message.id for message in checks.settings_are_valid()] == found
