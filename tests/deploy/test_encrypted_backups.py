"""deploy/encrypt-backups.sh, with age."""

import shutil
import subprocess

import pytest

from tests.servers import ROOT

pytestmark = [
    pytest.mark.slow("runs age"),
    pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed"),
]


def test_only_the_secret_key_reads_the_copies(tmp_path):
    folder, copies, key = tmp_path / "backups", tmp_path / "copies", tmp_path / "key.txt"
    folder.mkdir()
    copies.mkdir()
    made = subprocess.run(["age-keygen", "-o", key], check=True, capture_output=True, text=True)
    public = made.stderr.split()[-1]

    def encrypt() -> None:
        subprocess.run([ROOT / "deploy/encrypt-backups.sh", folder, copies, public], check=True)

    encrypt()
    assert list(copies.iterdir()) == []  # no archive yet
    archive = folder / "jobsite-20261121T215005Z.tar"
    archive.write_bytes(b"data of applicants" * 1000)
    (folder / "erased").write_text("2026-11-21T21:50:05Z 12ab\n")
    encrypt()
    copy = copies / f"{archive.name}.age"
    before = copy.read_bytes()
    encrypt()

    assert sorted(each.name for each in copies.iterdir()) == ["erased", copy.name]
    assert (b"applicants" in before, copy.read_bytes()) == (False, before)
    back = subprocess.run(
        ["age", "--decrypt", "-i", key, copy], check=True, capture_output=True
    ).stdout
    assert back == archive.read_bytes()
