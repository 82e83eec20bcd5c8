"""A small file system that can fill up."""

import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path


class Disk:
    """A folder on a tmpfs; without the permission to mount one, a folder that becomes unwritable
    instead.
    """

    def __init__(self, folder: Path, stack: ExitStack, megabytes: int) -> None:
        self.root, self.ballast = folder / "private", folder / "ballast"
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)]
        self.is_tmpfs = not subprocess.run(mount, capture_output=True).returncode
        if self.is_tmpfs:
            stack.callback(subprocess.run, ["umount", "-l", str(folder)])
        self.root.mkdir(mode=0o700)

    def fill(self) -> None:
        if not self.is_tmpfs:
            self.root.chmod(0o500)
            return
        with suppress(OSError), self.ballast.open("wb", buffering=0) as file:
            while file.write(b"\0" * 4096):
                pass

    def free(self) -> None:
        self.root.chmod(0o700)
        self.ballast.unlink(missing_ok=True)
