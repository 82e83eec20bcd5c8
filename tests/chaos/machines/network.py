"""The machines' network: a namespace for each database machine, so that it can be cut off, or
addresses of loopback where namespaces are not permitted.
"""

import os
import random
import shutil
import subprocess
from contextlib import suppress


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


class Network:
    """Gives out addresses. A machine that `is_apart` has its own namespace,
    if root may create one.
    """

    def __init__(self) -> None:
        self.id = f"{random.randrange(256):02x}{random.randrange(256):02x}"
        self.prefix = f"{int(self.id[:2], 16)}.{int(self.id[2:], 16)}"
        self.bridge = f"chaos-{self.id}"
        self.spaces: dict[str, str] = {}  # by machine
        self.can_cut = self._make_bridge()
        self.base = f"{'10' if self.can_cut else '127'}.{self.prefix}"

    def _make_bridge(self) -> bool:
        if os.geteuid() or not shutil.which("ip"):
            return False
        try:
            _ip("netns", "add", self.bridge)  # whether it is permitted
            _ip("netns", "delete", self.bridge)
            _ip("link", "add", self.bridge, "type", "bridge")
            _ip("address", "add", f"10.{self.prefix}.1/24", "dev", self.bridge)
            _ip("link", "set", self.bridge, "up")
        except subprocess.CalledProcessError:
            return False
        return True

    @property
    def network(self) -> str:
        return f"{self.base}.0/24" if self.can_cut else "127.0.0.0/8"

    def add(self, machine: str, number: int, is_apart: bool) -> str:
        """Return the address of a new machine."""
        address = f"{self.base}.{number}"
        if not self.can_cut:
            return address
        if not is_apart:
            _ip("address", "add", f"{address}/24", "dev", self.bridge)
            return address
        space = self.spaces[machine] = f"{self.bridge}-{machine}"
        link = self.link(machine)
        _ip("netns", "add", space)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", link, "master", self.bridge, "up")
        _ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        _ip("-n", space, "link", "set", "lo", "up")
        return address

    def link(self, machine: str) -> str:
        return f"c{self.id}-{machine}"

    def inside(self, machine: str, user: str | None, *command: str) -> list[str]:
        """The command that runs `command` on `machine` as `user`.
        It keeps the id of the process.
        """
        space = ["ip", "netns", "exec", self.spaces[machine]] if machine in self.spaces else []
        if not user or os.geteuid():
            return [*space, *command]
        return [
            *space,
            "setpriv",
            f"--reuid={user}",
            f"--regid={user}",
            "--init-groups",
            "--",
            *command,
        ]

    def cut(self, machine: str) -> None:
        """Drop all packets from and to `machine`; nobody gets an error."""
        _ip("link", "set", self.link(machine), "nomaster")

    def mend(self, machine: str) -> None:
        _ip("link", "set", self.link(machine), "master", self.bridge)

    def remove(self) -> None:
        for space in self.spaces.values():
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", space)
        if self.can_cut:
            with suppress(subprocess.CalledProcessError):
                _ip("link", "delete", self.bridge)
