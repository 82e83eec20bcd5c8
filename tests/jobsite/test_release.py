"""The commit of a checkout, and the version that the documents name."""

import re
import subprocess
from pathlib import Path

from django.conf import settings

from jobsite.release import UNKNOWN, commit_in


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_commit_is_that_of_the_checkout(tmp_path: Path) -> None:
    assert commit_in(tmp_path) == UNKNOWN
    git(tmp_path, "init", "-q", "-b", "releases/1")
    assert commit_in(tmp_path) == UNKNOWN  # there is no commit
    for text in ("first", "second"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", text)
        assert commit_in(tmp_path) == git(tmp_path, "rev-parse", "HEAD")
    last = git(tmp_path, "rev-parse", "HEAD")
    git(tmp_path, "pack-refs", "--all")
    assert commit_in(tmp_path) == last
    git(tmp_path, "tag", "-a", "v1.0.0", "-m", "1.0.0")
    git(tmp_path, "checkout", "-q", "v1.0.0")  # a release, as operators check it out
    assert commit_in(tmp_path) == last


def test_changelog_has_the_version() -> None:
    changelog = Path(settings.BASE_DIR, "CHANGELOG.md").read_text()
    versions = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert settings.VERSION in versions[:2]  # the first may be the next one
