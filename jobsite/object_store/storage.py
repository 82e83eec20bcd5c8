"""Django's storage of files in a bucket. Errors are OSErrors, as those of files, and no call takes
much longer than DEADLINE in a process that serves.
"""

import errno
import hashlib
import math
import os
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files.base import File
from django.utils.encoding import filepath_to_uri
from storages.backends.s3 import S3Storage
from urllib3.exceptions import HTTPError

from jobsite.object_store.circuit_breaker import CircuitBreaker, UnavailableError

CONNECT, READ = 2, 5  # seconds
DEADLINE = 20.0  # seconds that a file may take
CHUNK = 1 << 16  # bytes
MISSING = ("404", "NoSuchKey")


class StoredObject(NamedTuple):
    name: str
    size: int
    modified_at: datetime


@cache
def _circuit_breaker(slots: int) -> CircuitBreaker:
    return CircuitBreaker(slots)


def _end() -> float:
    """Return the time at which a transfer has to be over: none in commands."""
    return time.monotonic() + DEADLINE if settings.FILES_THREADS else math.inf


class _Timed:
    """A file that can be read until the time `until`. It is the body of a request."""

    def __init__(self, file: IO[bytes], until: float) -> None:
        self.file, self.until = file, until
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if time.monotonic() > self.until:
            raise UnavailableError("The object store takes too long to receive a file.")
        return self.file.read(size)


class ObjectStorage(S3Storage):
    """The files of FILES_URL below the prefix `location`.
    Their names are random, so none is replaced.
    """

    def __init__(self, **options: Any) -> None:
        is_serving = bool(settings.FILES_THREADS)
        connect, read, attempts = (CONNECT, READ, 1) if is_serving else (5, 20, 3)
        config = Config(
            connect_timeout=connect,
            read_timeout=read,
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=max(10, settings.FILES_THREADS),
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            # Content-MD5 has the same purpose, and every store knows it.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(client_config=config, querystring_auth=False, **options)

    @cached_property
    def connection(self) -> Any:
        """One for all threads: its client is safe for threads, and takes 0.1 s to make."""
        return self._create_session().resource(
            "s3",
            region_name=self.region_name,
            endpoint_url=self.endpoint_url,
            config=self.client_config,
        )

    @contextmanager
    def _request(self, name: str = "") -> Iterator[dict[str, str]]:
        """Yield the arguments that name an object. Raise OSError for an error of the store."""
        with _circuit_breaker(settings.FILES_THREADS).request():
            try:
                yield {"Bucket": self.bucket_name, "Key": f"{self.location}/{name}"}
            except ClientError as error:
                code = error.response.get("Error", {}).get("Code", "")
                if code in MISSING:
                    raise FileNotFoundError(errno.ENOENT, "not in the bucket", name) from None
                raise UnavailableError(f"The object store refuses: {code}.") from error
            except (BotoCoreError, HTTPError) as error:
                raise UnavailableError(
                    f"The object store does not respond: {type(error).__name__}."
                ) from error

    def exists(self, name: str) -> bool:
        with self._request():
            return super().exists(name)

    def size(self, name: str) -> int:
        with self._request():
            return super().size(name)

    def get_modified_time(self, name: str) -> datetime:
        with self._request():
            return super().get_modified_time(name)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with self._request():
            return super().listdir(path)

    def delete(self, name: str) -> None:
        """Delete the file, if it exists."""
        with self._request():
            super().delete(name)

    def url(self, name: str, *args: object, **kwargs: object) -> str:
        """Return the URL of the site, which checks who may see the file."""
        return settings.MEDIA_URL + filepath_to_uri(name)

    def _open(self, name: str, mode: str = "rb") -> File:
        return File(self.fetch(name), name)

    def _save(self, name: str, content: File) -> str:
        self.put(name, content)
        return name

    def put(self, name: str, file: IO[bytes]) -> None:
        """Store the content of `file`. The store compares it with its MD5. Raise OSError."""
        file.seek(0)
        md5 = hashlib.md5(usedforsecurity=False)
        while chunk := file.read(CHUNK):
            md5.update(chunk)
        file.seek(0)
        with self._request(name) as target:
            self.connection.meta.client.put_object(
                **target,
                Body=_Timed(file, _end()),
                ContentMD5=b64encode(md5.digest()).decode(),
                ContentType="application/octet-stream",  # nobody gets it from the store
            )

    def fetch(self, name: str) -> BinaryIO:
        """Return a temporary copy of the file, with its modification time. Raise OSError.

        The copy has no name, so that a process that is killed leaves none.
        """
        until = _end()
        copy: Any = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            with self._request(name) as target:
                found = self.connection.meta.client.get_object(**target)
                for chunk in found["Body"].iter_chunks(CHUNK):
                    copy.write(chunk)
                    if time.monotonic() > until:
                        found["Body"].close()
                        raise UnavailableError("The object store takes too long to send a file.")
            copy.flush()
            modified = found["LastModified"].timestamp()
            os.utime(copy.fileno(), (modified, modified))
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return copy

    @contextmanager
    def copy(self, name: str) -> Iterator[Path]:
        """The path of a temporary copy of the file."""
        with self.fetch(name) as file:
            yield Path(f"/dev/fd/{file.fileno()}")

    def is_public(self, name: str) -> bool:
        """Whether others than the owner of the bucket may read the file, or an
        access list says so.
        """
        with self._request(name) as target:
            with suppress(ClientError):  # refused
                self.unsigned_connection.meta.client.get_object(**target)
                return True
            with suppress(ClientError):  # many stores have no access lists
                grants = self.connection.meta.client.get_bucket_acl(Bucket=self.bucket_name)[
                    "Grants"
                ]
                return any("groups/global" in each["Grantee"].get("URI", "") for each in grants)
            return False

    def entries(self, folder: str = "") -> Iterator[StoredObject]:
        """Yield all files whose names begin with `folder`. Raise OSError."""
        with self._request(folder) as target:
            pages = self.connection.meta.client.get_paginator("list_objects_v2").paginate(
                Bucket=target["Bucket"], Prefix=target["Key"]
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    name = each["Key"].removeprefix(f"{self.location}/")
                    yield StoredObject(name, each["Size"], each["LastModified"])
