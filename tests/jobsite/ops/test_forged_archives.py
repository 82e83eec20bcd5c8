"""Malicious archives: `restore --check` reports the problem on one line and exits with 1.

`restore` verifies an archive in the same way before it changes anything.
"""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

SLOW = pytest.mark.slow("many archives")

DATABASE = "database.sqlite3.gz"
PARTS = {DATABASE: b"database", "media/attachments/a.pdf": b"%PDF-1", "media/b.png": b"PNG"}


def entries(parts: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    return {
        name: {"size": len(part), "sha256": hashlib.sha256(part).hexdigest()}
        for name, part in parts.items()
    }


MANIFEST: dict[str, Any] = {
    "format": 1,
    "made_at": "2026-11-21T21:50:05.123456+00:00",
    "version": "1.0.0",
    "engine": "sqlite",
    "django": "5.2",
    "server": "3.40.1",
    "migrations": [["jobsite", "0001_tables"]],
    "tables": {"auth_user": 3},
    "missing": [],
    "parts": entries(PARTS),
}


def member(name: str, content: bytes = b"", **values: Any) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    for key, value in ({"size": len(content)} | values).items():
        setattr(made, key, value)
    return made, content


def manifest_of(text: bytes) -> tuple[tarfile.TarInfo, bytes]:
    return member("manifest.json", text, pax_headers={"comment": hashlib.sha256(text).hexdigest()})


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            # Not addfile(): it refuses headers that are forged.
            made.write(info.tobuf(archive.format, archive.encoding, archive.errors))
            made.write(content + bytes(-len(content) % 512))
            archive.offset = made.tell()
    return made.getvalue()


def archive_of(manifest: Any, *more: tuple[tarfile.TarInfo, bytes], **parts: bytes) -> bytes:
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return tar(*(member(*part) for part in (PARTS | parts).items()), *more, manifest_of(text))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged") / "archive.tar"


def report(place: Path, content: bytes) -> str:
    """Return what `restore --check` prints about an archive: a summary or an error."""
    place.write_bytes(content)
    out, refused = io.StringIO(), None
    try:
        call_command("restore", str(place), check=True, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        refused = error
    text = str(refused or out.getvalue().removesuffix("\n"))
    assert not refused or refused.returncode == 1
    assert text.isascii()
    assert text.isprintable()  # one line, without control characters
    assert 0 < len(text) < 1000
    return text


def changed(name: str, value: Any) -> bytes:
    return archive_of(MANIFEST | {name: value})


def test_malformed_manifest_is_refused(place):
    for name in MANIFEST:
        lacking = archive_of({key: value for key, value in MANIFEST.items() if key != name})
        assert (
            report(place, lacking)
            == f"manifest.json is invalid at $: {name!r} is a required property."
        )

    assert report(place, archive_of(MANIFEST)) == (
        "Verified, nothing was restored: 3 rows and 2 files of 2026-11-21T21:50:05.123456+00:00, "
        "not signed."
    )

    for text, expected in (
        (b"", "The archive is truncated, or not a backup"),
        (b"null", "is invalid at $"),
        (b"[]", "is invalid at $"),
        (b"{}", "is invalid at $"),
        (b"\xff\xfe", "The archive is truncated, or not a backup"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"format":' * 100_000, "nested too deeply"),
        (b"9" * 10_000, "The archive is truncated, or not a backup"),
        (b'{"format": NaN}', "The archive has format nan"),
    ):
        assert expected in report(place, archive_of(text)), text[:20]


@SLOW
def test_manifest_with_a_field_of_another_shape_is_refused(place):
    reports = {
        (name, str(value)): report(place, changed(name, value))
        for name in MANIFEST
        for value in (None, True, 1.5, -1, "\x1b[31m\n", {"a": [{}]}, [[]], [1], 10**30, 2**63)
        if not (isinstance(value, str) and name in ("version", "engine", "django", "server"))
    }
    refusals = ("manifest.json is invalid at $", "The archive has format ")
    assert {case: text for case, text in reports.items() if not text.startswith(refusals)} == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4)
    ),
    max_leaves=12,
)


@SLOW
@given(manifest=JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(MANIFEST, JSON)))
def test_arbitrary_manifest_causes_no_traceback(place, manifest):
    changed = MANIFEST | manifest if isinstance(manifest, dict) else manifest
    assert not report(place, archive_of(changed)).endswith("Traceback")


FOREIGN = "Not part of a backup"
TRUNCATED = "The archive is truncated"
TWICE = "The archive is damaged: a part occurs twice"


def test_member_with_another_name_kind_or_forged_headers_is_refused(place):
    names = (
        "media/../outside",
        "media/../../outside",
        "../outside",
        "/outside",
        "/etc/passwd",
        "outside",
        "media",
        "media/",
        "media//b.png",
        "media/./b.png",
        "media/a/../b.png",
        "./media/b.png",
        "media/a/.",
        "Media/x",
        "manifest.json/",
        "\x1b[2Jmedia/x",
        "media/\udcff/../../x",
        "private",
        "private/",
        "private/x",
        "private/../outside",
        f"private/{'F' * 32}",
        f"private/.{'f' * 32}.part",
        f"private/a/{'0' * 32}",
    )
    reports = {name: report(place, archive_of(MANIFEST, member(name, b"x"))) for name in names}
    assert {
        n: text for n, text in reports.items() if not text.startswith((FOREIGN, TWICE, TRUNCATED))
    } == {}

    kinds = (
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.DIRTYPE,
        tarfile.FIFOTYPE,
        tarfile.CONTTYPE,
        tarfile.GNUTYPE_SPARSE,
        b"Z",
    )
    for kind in kinds:
        for name in ("media/link", "manifest.json", DATABASE):
            text = report(place, tar(member(name, type=kind, linkname="/etc/passwd")))
            assert text.startswith((FOREIGN, TRUNCATED)), (kind, name, text)

    # A sparse file of a few bytes would be read as a file of terabytes.
    for headers in (
        {"size": "-1024"},
        {"size": "9" * 40},
        {"size": "8" + "0" * 18},
        {"mtime": "nan"},
        {"mtime": "inf"},
        {"mtime": "1e400"},
        {"mtime": "-1"},
        {"mtime": "99999999999"},
        {"path": "media/../../x"},
        {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "media/x",
            "GNU.sparse.realsize": "9" * 18,
        },
        {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9" * 18},
        {"GNU.sparse.size": "9" * 18, "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "1"},
    ):
        text = report(place, tar(member("media/x", b"2\n0\n1\n" + bytes(505), pax_headers=headers)))
        assert text.startswith((FOREIGN, TRUNCATED, "[Errno")), (headers, text)


def test_parts_that_do_not_fit_are_refused(place):
    again = member("media/more", b"x")
    late = tar(
        *(member(*part) for part in PARTS.items()),
        manifest_of(json.dumps(MANIFEST).encode()),
        again,
    )
    twice = {"media/b.png/c": b"x"}
    both = archive_of(MANIFEST | {"parts": entries(PARTS | twice)}, **twice)
    [other] = entries({"other": b"something else of another size"}).values()
    known = MANIFEST["parts"]
    differing = (
        known | {"media/b.png": known["media/b.png"] | {key: value}} for key, value in other.items()
    )
    for content, expected in (
        (late, "a part occurs twice, or after the manifest"),
        (archive_of(MANIFEST, member("database.dump", b"another")), "it contains two databases."),
        (changed("engine", "postgresql"), "it contains no database.dump."),
        (both, "media/b.png is a file and a folder."),
        *((changed("parts", parts), "media/b.png differs.") for parts in differing),
    ):
        assert report(place, content).startswith(f"The archive is damaged: {expected}")

    for again in (*(member(*part) for part in PARTS.items()), manifest_of(b"{}")):
        text = report(place, archive_of(MANIFEST, again))
        assert text.startswith((TWICE, "The archive is of", "manifest.json is invalid")), again[
            0
        ].name


@SLOW
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=8
    ),
    length=st.integers(0, 30_000),
)
def test_arbitrary_damage_causes_no_traceback(place, changes, length):
    content = bytearray(archive_of(MANIFEST))
    for position, value in changes:
        content[position % len(content)] = value

    report(place, bytes(content[:length]))
