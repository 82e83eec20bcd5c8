"""Signatures of archives: verified before anything else is read."""

import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from jobsite.ops import signatures
from tests.jobsite.ops.backups import (
    ARCHIVES,
    modify,
    output,
    rewritten,
    rows,
    run,
    tree,
    with_manifest,
)

pytestmark = ARCHIVES

KEY, EARLIER, OTHER_KEY = (
    "".join(f"{name}{n}" for n in range(20)) for name in ("key", "earlier", "other")
)


def test_signed_archive_is_restored(site, settings, tmp_path, caplog):
    settings.BACKUP_KEY = KEY
    made = run("backup", tmp_path / "backups")
    archive = Path(made["archive"])
    stored = rows()
    modify()
    assert made["signature"] == "verified"
    assert "), signed with BACKUP_KEY." in output("backup", tmp_path / "others")
    assert "+00:00, signed with BACKUP_KEY." in output("restore", archive, check=True)
    listed = subprocess.run(["tar", "tf", archive], capture_output=True, text=True, check=True)
    assert (listed.stdout.splitlines()[-1], listed.stderr) == ("manifest.json", "")

    assert run("restore", archive, force=True)["signature"] == "verified"
    assert rows() == stored
    assert KEY.encode() not in archive.read_bytes()
    assert KEY not in caplog.text


def test_archive_without_a_valid_signature_changes_nothing(site, settings, tmp_path, monkeypatch):
    unsigned = Path(run("backup", tmp_path / "unsigned")["archive"])
    settings.BACKUP_KEY = OTHER_KEY
    otherwise = Path(run("backup", tmp_path / "other")["archive"])
    settings.BACKUP_KEY = KEY
    signed = Path(run("backup", tmp_path / "signed")["archive"])
    whole, to = signed.read_bytes(), tmp_path / "forged.tar"
    modify()
    stored, files = rows(), tree(Path(settings.MEDIA_ROOT))
    line = whole[-signatures.LENGTH :]

    def opened(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("The content was read before the signature was verified.")

    def assert_refused(match: str, archive: Path = to) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(tarfile, "open", opened)
            for options in ({"check": True}, {"force": True}):
                with pytest.raises(CommandError, match=match):
                    run("restore", archive, **options)

    assert_refused("not signed", unsigned)
    assert_refused("signature is invalid", otherwise)
    for content in (
        b"",
        b"x",
        line[:-1],
        whole[:-1],
        whole[: -len(line)],
        whole + b"\n",
        whole[: -len(line)] + line.upper(),
    ):
        to.write_bytes(content)
        assert_refused("not signed")
    middle = len(whole) // 2
    for content in (
        line,
        b"x" + line,
        whole + line,
        unsigned.read_bytes() + line,
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        whole[: -len(line)] + bytes(512) + line,
    ):
        to.write_bytes(content)
        assert_refused("signature is invalid")
    # Another manifest with its own digest.
    rewritten(signed, to, with_manifest(made_at="2026-01-01T00:00:00+00:00"))
    to.write_bytes(to.read_bytes() + line)
    assert_refused("signature is invalid")

    assert (rows(), tree(Path(settings.MEDIA_ROOT))) == (stored, files)


def test_fallback_keys_verify_earlier_archives(site, settings, tmp_path):
    settings.BACKUP_KEY = EARLIER
    archive = run("backup", tmp_path / "backups")["archive"]

    settings.BACKUP_KEY, settings.BACKUP_KEY_FALLBACKS = KEY, [OTHER_KEY, EARLIER]
    assert run("restore", archive, check=True)["signature"] == "verified"
    later = run("backup", tmp_path / "later")["archive"]

    settings.BACKUP_KEY_FALLBACKS = []
    with pytest.raises(CommandError, match="signature is invalid"):
        run("restore", archive, check=True)
    assert run("restore", later, check=True)["signature"] == "verified"

    settings.BACKUP_KEY = ""
    text = output("restore", archive, check=True)
    assert "+00:00, signed, but not verified: BACKUP_KEY is not set." in text
    assert run("restore", archive, force=True)["signature"] == "unverified"
    made = run("backup", tmp_path / "unsigned")
    assert made["signature"] == "absent"
    assert "), not signed." in output("backup", tmp_path / "another")
    assert "+00:00, not signed." in output("restore", made["archive"], check=True)
