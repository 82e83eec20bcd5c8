"""Write the configuration of one machine of a cluster (docs/operations/cluster.md).

    python3 deploy/cluster/render.py cluster.ini MACHINE [--root FOLDER] [--joins]

Needs Debian's Python only. Without --root, the files go to /etc. --joins: the machine joins an etcd
cluster that exists. Redis and Sentinel rewrite their own files; those are written once, delete them
to start anew.
"""

import argparse
import configparser
import ipaddress
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
MARK = "# jobsite cluster"  # the first line of files that their server rewrites
PARTS = ("application", "etcd", "postgresql", "redis", "sentinel")


@dataclass(frozen=True)
class Machine:
    name: str
    address: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Cluster:
    values: dict[str, str]  # of [cluster] and [passwords]
    machines: tuple[Machine, ...]

    @classmethod
    def read(cls, path: Path) -> "Cluster":
        """Raises ValueError, KeyError or configparser.Error for a file that cannot be used."""
        parser = configparser.ConfigParser(interpolation=None)
        with path.open() as file:
            parser.read_file(file)
        values = dict(parser["cluster"])
        for name, password in parser["passwords"].items():
            if not re.fullmatch(r"[A-Za-z0-9]{12,}", password):
                raise ValueError(
                    f"the password {name} needs 12 letters and digits or more, and nothing else"
                )
            values[f"{name}_password"] = password
        network = ipaddress.ip_network(values["network"])
        machines = []
        for name, line in parser["machines"].items():
            address, *parts = line.split()
            if ipaddress.ip_address(address) not in network:
                raise ValueError(f"{name}: {address} is not in the network {network}")
            if unknown := set(parts) - set(PARTS):
                raise ValueError(f"{name}: no such part: {', '.join(unknown)}")
            machines.append(Machine(name, address, tuple(parts)))
        cluster = cls(values, tuple(machines))
        for part in ("etcd", "sentinel"):
            if len(cluster.having(part)) % 2 == 0:
                raise ValueError(
                    f"{part} needs an odd number of machines, or a split leaves no majority"
                )
        return cluster

    def having(self, part: str) -> list[Machine]:
        return [machine for machine in self.machines if part in machine.parts]

    def machine(self, name: str) -> Machine:
        found = [machine for machine in self.machines if machine.name == name]
        if not found:
            raise ValueError(f"cluster.ini has no machine {name}")
        return found[0]

    def each(self, part: str, line: Callable[[Machine], str], separator: str) -> str:
        return separator.join(line(machine) for machine in self.having(part))

    def substitutes(self, machine: Machine, joins: bool) -> dict[str, str]:
        """The values of the templates' variables."""
        databases = self.having("postgresql")
        redis = self.having("redis")
        master = redis[0].address if redis else ""

        def servers(line: str) -> str:
            return "\n".join(f"    server {line}".format(m=m) for m in databases)

        return {
            **self.values,
            "machine": machine.name,
            "address": machine.address,
            "etcd_members": self.each("etcd", lambda m: f"{m.name}=http://{m.address}:2380", ","),
            "etcd_hosts": self.each("etcd", lambda m: f'"{m.address}:2379"', ", "),
            "etcd_state": "existing" if joins else "new",
            "primary_servers": servers("{m.name} {m.address}:5432 check"),
            "replica_servers": servers(
                "{m.name} {m.address}:5432 check on-marked-up shutdown-backup-sessions"
            ),
            "backup_servers": servers(
                "{m.name}-primary {m.address}:5432 backup track primary/{m.name}"
            ),
            "redis_servers": self.each(
                "redis", lambda m: f"    server {m.name} {m.address}:6379 check", "\n"
            ),
            "redis_master": master,
            "replicaof": "" if machine.address == master else f"replicaof {master} 6379",
            "sentinel_quorum": str(len(self.having("sentinel")) // 2 + 1),
        }

    def settings(self, machine: Machine) -> dict[str, str]:
        """The variables of /etc/jobsite/env on an application machine. Its own HAProxy is first;
        libpq connects to the next one if that one does not run.
        """
        addresses = dict.fromkeys(
            [machine.address, *(each.address for each in self.having("application"))]
        )

        def url(port: int) -> str:
            hosts = ",".join(f"{address}:{port}" for address in addresses)
            return f"postgres://jobsite:{self.values['site_password']}@{hosts}/jobsite"

        return {
            # for a second, HAProxy may still connect to a primary that has become a replica
            "DATABASE_URL": f"{url(5000)}?target_session_attrs=read-write",
            "REPLICA_URL": url(5001),
            "CACHE_URL": f"redis://:{self.values['redis_password']}@{machine.address}:6380/0",
            "BIND": f"{machine.address}:8000",
            "TRUSTED_PROXIES": ",".join(
                f"{each.address}/32" for each in self.having("application")
            ),
        }

    def files(self, machine: Machine, joins: bool = False) -> dict[str, str]:
        """The contents by path."""
        substitutes, found = self.substitutes(machine, joins), {}
        for part, path, template in (
            ("etcd", "/etc/default/etcd", "etcd.conf"),
            ("postgresql", "/etc/patroni/config.yml", "patroni.yml"),
            ("application", "/etc/haproxy/haproxy.cfg", "haproxy.cfg"),
            ("redis", "/etc/redis/redis.conf", "redis.conf"),
            ("sentinel", "/etc/redis/sentinel.conf", "sentinel.conf"),
        ):
            if part in machine.parts:
                found[path] = Template((HERE / template).read_text()).substitute(substitutes)
        if "application" in machine.parts:
            found["/etc/nginx/nginx.conf"] = self.nginx()
        return found

    def nginx(self) -> str:
        """deploy/nginx.conf with all application machines as nodes."""
        text = (HERE.parent / "nginx.conf").read_text()
        node = re.search(r"( *server )127\.0\.0\.1:8000( [^;]*;)\n", text)
        assert node, "deploy/nginx.conf names no node"
        nodes = self.each("application", lambda m: f"{node[1]}{m.address}:8000{node[2]}\n", "")
        return text.replace(node[0], nodes).replace("jobs.example.com", self.values["domain"])


def with_settings(text: str, settings: dict[str, str]) -> str:
    """The text of an environment file with these variables changed or added."""
    for name, value in settings.items():
        found = re.search(rf"^#? ?{name}=.*$", text, re.M)
        start, end = found.span() if found else (len(text), len(text))
        text = f"{text[:start]}{name}={value}{text[end:] if found else chr(10)}"
    return text


# The group that may read the file; it contains passwords.
GROUPS = {
    "/etc/patroni/config.yml": "postgres",
    "/etc/redis/redis.conf": "redis",
    "/etc/redis/sentinel.conf": "redis",
}


def write(path: Path, text: str, group: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    path.chmod(0o640)
    path.write_text(text)
    if group == "redis":  # rewritten by the server
        shutil.chown(path, "redis", "redis")
    elif group:
        shutil.chown(path, group=group)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("machine")
    parser.add_argument("--root", type=Path, help="write below this folder, and change no owners")
    parser.add_argument("--joins", action="store_true")
    options = parser.parse_args()
    try:
        cluster = Cluster.read(options.file)
        machine = cluster.machine(options.machine)
    except (OSError, ValueError, KeyError, configparser.Error) as error:
        sys.exit(f"{options.file}: {error}")
    root = options.root or Path("/")
    for name, text in cluster.files(machine, options.joins).items():
        path = root / name[1:]
        if text.startswith(MARK) and path.exists() and path.read_text().startswith(MARK):
            print(f"{path}: left as it is, because its server rewrites it")
            continue
        write(path, text, None if options.root else GROUPS.get(name))
        print(path)
    if "application" in machine.parts:
        env = root / "etc/jobsite/env"
        old = env.read_text() if env.exists() else ""
        env.parent.mkdir(parents=True, exist_ok=True)
        env.write_text(with_settings(old, cluster.settings(machine)))
        print(env)


if __name__ == "__main__":
    main()
