"""The browser of the tests."""

import shutil

# The headless shell needs 0.6 of the CPU.
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def browser_path() -> str | None:
    """Return the path of a Chromium on this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
