"""Archives that somebody made to do harm: `restore --check` says what is wrong, on one line, and ends with 1.

`restore` reads an archive in the same way before it does anything else.
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

DATABASE = "database.sqlite3.gz"
PARTS = {DATABASE: b"database", "media/attachments/a.pdf": b"%PDF-1", "media/b.png": b"PNG"}


def entry(content: bytes) -> dict[str, Any]:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


MANIFEST: dict[str, Any] = {
    "format": 1,
    "made_at": "2026-11-21T21:50:05.123456+00:00",
    "version": "1.0.0",
    "engine": "sqlite",
    "django": "5.2",
    "server": "3.40.1",
    "migrations": [["jobsite", "0001_initial"]],
    "tables": {"auth_user": 3},
    "missing": [],
    "parts": {name: entry(content) for name, content in PARTS.items()},
}


def member(name: str, content: bytes = b"", **values: Any) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for key, value in values.items():
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


def told(place: Path, content: bytes) -> str:
    """What `restore --check` says of an archive: its summary, or why it is refused."""
    place.write_bytes(content)
    out, refused = io.StringIO(), None
    try:
        call_command("restore", str(place), check=True, stdout=out, stderr=io.StringIO())
    except CommandError as error:
        refused = error
    text = str(refused or out.getvalue().removesuffix("\n"))
    assert not refused or refused.returncode == 1
    assert text.isascii()
    assert text.isprintable()  # on one line, and without commands for the terminal
    assert 0 < len(text) < 1000
    return text


def test_archive_as_a_backup_writes_it_is_whole(place):
    assert told(place, archive_of(MANIFEST)) == (
        "Whole, nothing was restored: 3 rows and 2 files of 2026-11-21T21:50:05.123456+00:00, not signed."
    )


# --- The manifest --------------------------------------------------------------------------------------


def changed(name: str, value: Any) -> bytes:
    return archive_of(MANIFEST | {name: value})


def without(name: str) -> bytes:
    return archive_of({key: value for key, value in MANIFEST.items() if key != name})


@pytest.mark.parametrize("name", MANIFEST)
def test_manifest_that_lacks_a_field_is_refused(place, name):
    assert told(place, without(name)) == (
        f"manifest.json is not as a backup has it, at $: {name!r} is a required property."
    )


@pytest.mark.parametrize("name", MANIFEST)
@pytest.mark.parametrize("value", [None, True, 1.5, -1, "\x1b[31m\n", {"a": [{}]}, [[]], [1], 10**30, 2**63])
def test_manifest_with_a_field_of_another_shape_is_refused(place, name, value):
    assert told(place, changed(name, value)).startswith(
        ("manifest.json is not as a backup has it, at $", "It is of format ")
    ) or (name, type(value)) in {(each, str) for each in ("version", "engine", "django", "server")}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"", "It was cut off, or is no backup"),
        (b"null", "is not as a backup has it, at \\$"),
        (b"[]", "is not as a backup has it, at \\$"),
        (b"{}", "is not as a backup has it, at \\$"),
        (b"\xff\xfe", "It was cut off, or is no backup"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"format":' * 100_000, "nested too deeply"),
        (b"9" * 10_000, "It was cut off, or is no backup"),
        (b'{"format": NaN}', "It is of format nan"),
    ],
)
def test_manifest_that_is_none_is_refused(place, text, match):
    with pytest.raises(AssertionError, match=match):
        raise AssertionError(told(place, archive_of(text)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=12,
)


@given(manifest=JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(MANIFEST, JSON)))
def test_no_manifest_whatsoever_ends_in_a_traceback(place, manifest):
    assert not told(
        place, archive_of(MANIFEST | manifest if isinstance(manifest, dict) else manifest)
    ).endswith("Traceback")


@given(parts=st.dictionaries(st.sampled_from([*PARTS, "media/c"]) | st.text(max_size=9), JSON, max_size=4))
def test_parts_that_are_not_those_of_the_archive_are_refused(place, parts):
    assert "not as" in told(place, changed("parts", parts)).lower()


# --- The members ---------------------------------------------------------------------------------------

FOREIGN = "This is not of a backup"


@pytest.mark.parametrize(
    "name",
    [
        "media/../outside", "media/../../outside", "../outside", "/outside", "/etc/passwd", "outside",
        "media", "media/", "media//b.png", "media/./b.png", "media/a/../b.png", "./media/b.png", "media/a/.",
        "Media/x", "manifest.json/", "\x1b[2Jmedia/x", "media/\udcff/../../x",
    ],
)  # fmt: skip
def test_member_of_another_name_is_refused(place, name):
    said = told(place, archive_of(MANIFEST, member(name, b"x")))

    assert said.startswith((FOREIGN, "Not as it was written: something is twice", "It was cut off"))


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE,
        tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE, b"Z",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["media/link", "manifest.json", DATABASE])
def test_member_that_is_no_plain_file_is_refused(place, kind, name):
    made = tar(member(name, type=kind, linkname="/etc/passwd"))

    assert told(place, made).startswith((FOREIGN, "It was cut off"))


@pytest.mark.parametrize(
    "headers",
    [
        {"size": "-1024"}, {"size": "9" * 40}, {"size": "8" + "0" * 18}, {"mtime": "nan"}, {"mtime": "inf"},
        {"mtime": "1e400"}, {"mtime": "-1"}, {"mtime": "99999999999"}, {"path": "media/../../x"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "media/x",
         "GNU.sparse.realsize": "9" * 18},
        {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9" * 18},
        {"GNU.sparse.size": "9" * 18, "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "1"},
    ],
    ids=lambda headers: "-".join(headers),
)  # fmt: skip
def test_member_with_forged_headers_is_refused(place, headers):
    """None is unpacked: a sparse file of some bytes would be read as a file of many terabytes."""
    made = tar(member("media/x", b"2\n0\n1\n" + bytes(505), pax_headers=headers))

    assert told(place, made).startswith((FOREIGN, "It was cut off", "[Errno"))


@pytest.mark.parametrize("name", [*PARTS, "manifest.json"])
def test_member_that_is_there_twice_is_refused(place, name):
    again = manifest_of(b"{}") if name == "manifest.json" else member(name, PARTS[name])

    said = told(place, archive_of(MANIFEST, again))

    assert said.startswith(("Not as it was written: something is twice", "It is of", "manifest.json is not"))


def test_member_after_the_manifest_is_refused(place):
    text = json.dumps(MANIFEST).encode()
    made = tar(*(member(*part) for part in PARTS.items()), manifest_of(text), member("media/more", b"x"))

    assert told(place, made).startswith("Not as it was written: something is twice, or after the end")


def test_two_databases_are_refused(place):
    made = archive_of(MANIFEST, member("database.dump", b"another"))

    assert told(place, made) == "Not as it was written: it holds two databases."


def test_database_of_another_engine_is_refused(place):
    assert told(place, changed("engine", "postgresql")) == "Not as it was written: it holds no database.dump."


def test_name_that_is_a_file_and_a_folder_is_refused(place):
    parts = PARTS | {"media/b.png/c": b"x"}
    manifest = MANIFEST | {"parts": {name: entry(content) for name, content in parts.items()}}

    said = told(place, archive_of(manifest, **{"media/b.png/c": b"x"}))

    assert said == "Not as it was written: media/b.png is a file and a folder."


@pytest.mark.parametrize("field", ["size", "sha256"])
def test_part_of_another_size_or_digest_is_refused(place, field):
    other = entry(b"something else of another size")
    parts = MANIFEST["parts"] | {"media/b.png": MANIFEST["parts"]["media/b.png"] | {field: other[field]}}

    assert told(place, changed("parts", parts)) == "Not as it was written: media/b.png."


@given(
    changes=st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=8),
    length=st.integers(0, 30_000),
)
def test_no_bytes_whatsoever_end_in_a_traceback(place, changes, length):
    content = bytearray(archive_of(MANIFEST))
    for position, value in changes:
        content[position % len(content)] = value

    told(place, bytes(content[:length]))


@given(content=st.binary(max_size=2048))
def test_what_is_no_archive_is_refused(place, content):
    assert told(place, content)[-1] == "."
