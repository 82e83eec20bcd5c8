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
MAIN = "postgres://a@main/jobs"


@pytest.mark.parametrize(
    ("variables", "engine"), [({}, POSTGRESQL), ({"JOBSITE_SERVES": "1"}, SERVING)]
)
def test_replica_url_is_a_database(variables, engine):
    with environment(
        DATABASE_URL=MAIN, REPLICA_URL=" postgres://a@one:5433/jobs ", **variables
    ) as found:
        shown = {
            alias: (d["HOST"], d["ENGINE"], d["CONN_MAX_AGE"])
            for alias, d in found.DATABASES.items()
        }

    assert shown == {"default": ("main", engine, None), "replica": ("one", engine, None)}
    assert found.DATABASES["replica"]["TEST"] == {"MIRROR": "default"}
    assert not found.DATABASES["replica"]["CONN_HEALTH_CHECKS"]
    assert found.DATABASE_ROUTERS == ["jobsite.serving.replica.Router"]
    if variables:
        limits = (
            "-c plan_cache_mode=force_generic_plan -c statement_timeout=20000 -c lock_timeout=2000"
        )
        assert [database["OPTIONS"]["options"] for database in found.DATABASES.values()] == [
            limits
        ] * 2


def test_a_list_of_replicas_is_an_error_that_names_the_documentation():
    with pytest.raises(
        ImproperlyConfigured, match=r"several addresses.*docs/operations/cluster\.md"
    ):
        default(REPLICA_URL=f"postgres://a@one/jobs,{MAIN}")

    for variables in ({}, {"DATABASE_URL": MAIN, "REPLICA_URL": ""}):
        with environment(**variables) as found:
            assert list(found.DATABASES) == ["default"]


def default(url=MAIN, **variables):
    with environment(DATABASE_URL=url, **variables) as found:
        return found.DATABASES["default"]


def test_options_of_urls():
    url = f"{MAIN}?connect_timeout=9&sslmode=require&CONN_MAX_AGE=60"
    database = default(url, STATEMENT_TIMEOUT="9")
    assert database["CONN_MAX_AGE"] == 60
    assert database["OPTIONS"] == {
        "connect_timeout": 9,
        "sslmode": "require",
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "prepare_threshold": 2**31,
        "options": (
            "-c plan_cache_mode=force_generic_plan -c statement_timeout=9000 -c lock_timeout=2000"
        ),
    }

    several = default("postgres://a@one:5432,two:5433/jobs?target_session_attrs=read-write")
    assert (several["HOST"], several["PORT"]) == ("one,two", "5432,5433")
    assert several["OPTIONS"]["target_session_attrs"] == "read-write"
    assert several["OPTIONS"]["connect_timeout"] == 2

    pooled = default(DATABASE_POOL="pgbouncer", STATEMENT_TIMEOUT="9")
    assert pooled["DISABLE_SERVER_SIDE_CURSORS"]
    assert not {"options", "prepare_threshold"} & pooled["OPTIONS"].keys()

    for scheme in ("redis", "valkey", "rediss"):
        with environment(CACHE_URL=f"{scheme}://valkey:6379/1") as found:
            cache = found.CACHES["default"]

        assert cache["BACKEND"] == "jobsite.serving.cache.RedisCache"
        assert cache["LOCATION"] == f"{scheme.replace('valkey', 'redis')}://valkey:6379/1"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("DATABASE_POOL", "many", ["E007"]),
        ("DATABASE_POOL", "0", ["E007"]),
        ("DATABASE_POOL", "8", []),
        ("CACHES", {"default": {"BACKEND": "jobsite.serving.cache.RedisCache"}}, []),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.locmem.LocMemCache"}}, []),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.filebased.FileBasedCache"}}, ["E030"]),
        ("CACHES", {"default": {"BACKEND": f"{DJANGO}.redis.RedisCache"}}, ["E030"]),
        (
            "DATABASES",
            {"default": {"ENGINE": SQLITE, "NAME": "x"}, "replica": {"ENGINE": POSTGRESQL}},
            ["E009"],
        ),
        ("DATABASES", {"default": {"ENGINE": POSTGRESQL}, "replica": {"ENGINE": SQLITE}}, ["E009"]),
        ("DATABASES", {"default": {"ENGINE": SERVING}, "replica": {"ENGINE": SERVING}}, []),
    ],
)
def test_invalid_database_and_cache_settings_are_errors(name, value, found):
    with patch.object(settings._wrapped, name, value):
        assert [message.id for message in checks.settings_are_valid()] == [
            f"jobsite.{each}" for each in found
        ]
