"""OpenStack Swift as a server of the S3 protocol:
a proxy and the three servers behind it, with one disk.
"""

import getpass
import http.client
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.servers.process import Server, free_port
from tests.servers.web import get

SWIFT = all(
    shutil.which(f"swift-{part}-server") for part in ("proxy", "account", "container", "object")
)
_PARTS = ("account", "container", "object")
_BACKEND = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
swift_dir = {folder}
devices = {disks}
mount_check = false
workers = 0
fallocate_reserve = 0
[pipeline:main]
pipeline = healthcheck {part}-server
[filter:healthcheck]
use = egg:swift#healthcheck
[app:{part}-server]
use = egg:swift#{part}
"""
_PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
swift_dir = {folder}
workers = 0
[pipeline:main]
pipeline = catch_errors healthcheck cache s3api tempauth copy slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_interval = 1
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_site_owner = {secret} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
"""


class Swift(Server):
    """`disks` is the folder of the stored files; it may be on a file system that fills up."""

    key, secret = "site:owner", "secret/of+tests"

    def __init__(self, folder: Path, disks: Path | None = None) -> None:
        super().__init__(folder)
        disks = disks or folder / "disks"
        (disks / "disk").mkdir(parents=True)
        folder.mkdir(exist_ok=True)
        self.port, self.ports = free_port(), {part: free_port() for part in _PARTS}
        values = {
            "user": getpass.getuser(),
            "folder": folder,
            "disks": disks,
            "secret": self.secret,
        }
        (folder / "proxy.conf").write_text(_PROXY.format(port=self.port, **values))
        for part, port in self.ports.items():
            (folder / f"{part}.conf").write_text(_BACKEND.format(part=part, port=port, **values))
        program = Path(__file__).with_name("swift_servers.py")
        words = [f"{part}={port}" for part, port in self.ports.items()]
        self.command = ["/usr/bin/python3", "-I", str(program), str(folder), *words]

    def files_url(self, bucket: str) -> str:
        """The value of FILES_URL."""
        key, secret = (quote(text, safe="") for text in (self.key, self.secret))
        return f"s3://{key}:{secret}@127.0.0.1:{self.port}/{bucket}?tls=off"

    def client(self) -> Any:
        import boto3  # of the extra s3

        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            region_name="us-east-1",
        )

    def create_bucket(self, name: str) -> None:
        self.client().create_bucket(Bucket=name)

    def contents(self, bucket: str) -> dict[str, bytes]:
        """Return all objects by key."""
        client = self.client()
        listed = client.list_objects_v2(Bucket=bucket).get("Contents", ())
        keys = [each["Key"] for each in listed]
        return {key: client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    def is_up(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            ports = (self.port, *self.ports.values())
            return all(get(port, "/healthcheck", timeout=5)[0] == 200 for port in ports)
        return False

    def stop(self) -> None:
        self.crash()
