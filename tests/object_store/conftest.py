"""Files in a bucket of Swift, an object store with the S3 protocol."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from typing import Any

import pytest

from jobsite.object_store.url import parse
from tests import servers

_numbers = count(1)


@pytest.fixture(scope="session")
def swift(tmp_path_factory: Any) -> Iterator[servers.Swift]:
    if not (servers.SWIFT and find_spec("storages")):
        reason = (
            "there is no Swift (swift-proxy, -account, -container, -object), or no django-storages"
        )
        assert os.environ.get("SWIFT_TESTS") != "required", reason
        pytest.skip(reason)
    with servers.Swift(tmp_path_factory.mktemp("store") / "swift") as server:
        yield server


@pytest.fixture
def url(swift: servers.Swift) -> str:
    """The FILES_URL of a new bucket."""
    name = f"bucket-{next(_numbers)}"
    swift.create_bucket(name)
    return swift.files_url(name)


@pytest.fixture
def bucket(url: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site with its files in the bucket, as in a process that serves.
    A slow machine opens no circuit.
    """
    monkeypatch.setattr("jobsite.object_store.circuit_breaker.SLOW", 60)
    use(settings, url)


def use(settings: Any, url: str) -> None:
    from jobsite.object_store import storage  # needs django-storages

    storage._circuit_breaker.cache_clear()  # of another test
    settings.FILES_IN_BUCKET, settings.FILES_THREADS = True, 2
    backend = "jobsite.object_store.storage.ObjectStorage"
    settings.STORAGES = settings.STORAGES | {
        alias: {"BACKEND": backend, "OPTIONS": {**parse(url), "location": folder}}
        for alias, folder in (("default", "media"), ("private", "private"))
    }
