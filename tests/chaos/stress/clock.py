"""The clock of the site under test, which can differ from that of the machine."""

import mmap
import os
import time
from pathlib import Path


class Clock:
    """A clock that is `offset` seconds ahead.
    All processes share the offset through the file `path`.
    """

    def __init__(self, path: Path) -> None:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        os.truncate(file, 8)
        self._offset = memoryview(mmap.mmap(file, 8)).cast("d")
        os.close(file)
        self._machine = time.time

    @property
    def offset(self) -> float:
        return self._offset[0]

    @offset.setter
    def offset(self, seconds: float) -> None:
        self._offset[0] = seconds

    def time(self) -> float:
        return self._machine() + self.offset
