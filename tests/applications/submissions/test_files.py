"""Storage of files of submissions: types, names, crash points and a full disk."""

import hashlib
import os
import re
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from applications.models import ScanState, SubmissionFile
from applications.submissions import files as stored_files
from applications.submissions.files import (
    FILE_BYTES_MAX,
    FileError,
    StoredFiles,
    delete_files,
    download_name,
    open_file,
    store,
)
from tests.applications.makers import make_application, make_submission
from tests.applications.submissions.test_antivirus import EICAR, Clamd
from tests.vacancies.sample_files import (
    DOCX,
    JAR,
    SVG,
    XLSX,
    encoded,
    legacy_office,
    make_zip,
    open_document,
)

PDF = b"%PDF-1.7 text"
ODT = open_document("text")
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def upload(name: str, content: bytes) -> Any:
    file = SimpleUploadedFile("a", content)
    file._name = name  # the constructor would shorten it
    return file


def names(folder: Any) -> list[str]:
    return sorted(os.listdir(folder)) if Path(folder).exists() else []


def submit(name: str = "cv.pdf", content: bytes = PDF) -> SubmissionFile:
    """Store a file in the order of `operations.submit_application`."""
    files = store({"cv": upload(name, content)})
    with transaction.atomic():
        files.add_rows(make_submission(make_application(), {}))
    return SubmissionFile.objects.latest("pk")


# --- Types -------------------------------------------------------------------------------------


def test_type_is_detected_from_the_content() -> None:
    for name, content, kind in (
        ("cv.pdf", PDF, "pdf"),
        ("cv.docx", DOCX, "docx"),
        ("cv.odt", ODT, "odt"),
        ("cv.rtf", rb"{\rtf1 text}", "rtf"),
        ("cv.TXT", "Jürgen".encode(), "txt"),
        ("bmw.txt", b"BMW engineer", "txt"),
        ("cv.jpg", encoded("JPEG"), "jpg"),
        ("cv.png", encoded("PNG"), "png"),
        ("cv.doc", DOCX, "docx"),  # by content, not by name
        ("cv", PDF, "pdf"),
        ("bom.pdf", b"\xef\xbb\xbf\r\n" + PDF, "pdf"),
        ("junk.pdf", b"Junk\r\n" * 99 + PDF, "pdf"),
        ("cv.rtf", b"\xef\xbb\xbf\r\n{\\rtf1 text}", "rtf"),
        ("polyglot.html", PDF + b"<html><script>alert(1)</script>", "pdf"),
    ):
        (row,) = store({"cv": upload(name, content)}).rows
        found = row.field, row.original_name, row.kind, row.size, row.scan_state
        assert found == ("cv", name, kind, len(content), ScanState.OFF)
        assert row.sha256 == hashlib.sha256(content).hexdigest()


def test_other_types_are_refused(settings) -> None:
    bomb = make_zip({"[Content_Types].xml": WORD.encode(), "word/document.xml": bytes(50_000_000)})
    many_types = make_zip({"[Content_Types].xml": bytes(50_000_000)})
    macros = make_zip({"[Content_Types].xml": WORD.encode(), "word/vbaProject.bin": b"x"})
    for name, content in (
        *(("cv.svg", SVG), ("cv.pdf", SVG), ("cv.png", SVG), ("cv.txt", SVG)),
        ("cv.txt", b"<!doctype html><script>alert(1)</script>"),
        ("cv.pdf", b"<html>%PDF-1.7"),
        ("cv.pdf", b" \n<!-- --><script>x</script>%PDF-1.7"),
        ("cv.pdf", bytes(1100) + PDF),
        ("cv.pdf", b"GIF89a" + PDF),
        ("cv.pdf", b"text"),  # text has no signature
        ("run.js", b"alert(1)"),
        ("cv.txt", b"MZ\x90\0\x03"),
        *(("cv.docx", each) for each in (SVG, JAR, XLSX, bomb, many_types, macros, DOCX[:60])),
        ("cv.docx", legacy_office("WordDocument")),
        ("cv.gif", encoded("GIF")),
        *(("cv.pdf", b""), ("cv.txt", b"")),
    ):
        with pytest.raises(FileError) as refused:
            store({"letter": upload("a.pdf", PDF), "cv": upload(name, content)})
        assert (refused.value.field, refused.value.status) == ("cv", 415), (name, content[:40])
        assert names(settings.PRIVATE_ROOT) == []


def test_refusal_says_why_and_what_helps() -> None:
    encrypted = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le")
    )
    locked = bytearray(DOCX)
    locked[6] |= 1
    for part in re.finditer(b"PK\x01\x02", DOCX):
        locked[part.start() + 8] |= 1
    zipped = make_zip({"Index/Document.iwa": b"x"})
    bomb = make_zip({"[Content_Types].xml": WORD.encode(), "word/document.xml": bytes(50_000_000)})
    found = {}
    for name, content, reason, detail in (
        ("cv.pdf", b"", "empty", "This file is empty"),
        ("cv.docx", encrypted, "password", "needs a password"),
        ("cv.docx", bytes(locked), "password", "needs a password"),
        (
            "cv.odt",
            make_zip(
                {
                    "mimetype": b"application/vnd.oasis.opendocument.text",
                    "META-INF/manifest.xml": b"<manifest:encryption-data/>",
                }
            ),
            "password",
            "needs a password",
        ),
        ("cv.txt", "né à Liège".encode("cp1252"), "encoding", "not in UTF-8"),
        ("cv.txt", "Curriculum".encode("utf-16"), "encoding", "not in UTF-8"),
        (
            "photo.jpg",
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            "image",
            "in the format HEIC: save it as JPEG",
        ),
        (
            "photo.heif",
            b"\0\0\0\x18ftypheis\0\0\0\0",
            "image",
            "in the format HEIC: save it as JPEG",
        ),
        ("cv.doc", legacy_office("WordDocument"), "old_office", "an old version of Office"),
        ("cv.docx", DOCX[:60], "damaged", "is damaged"),
        ("cv.docx", XLSX, "format", "in the format XLSX: save it as PDF"),
        ("cv.pages", zipped, "format", "in the format Pages: save it as PDF"),
        ("cv.docx", bomb, "size", "too large when it is unpacked"),
        ("cv.docx", JAR, "format", "in the format ZIP"),
        ("cv.pdf", b"text", "type", "Use PDF, DOCX"),
        (
            "cv.docx",
            make_zip({"[Content_Types].xml": WORD.encode(), "word/vbaProject.bin": b"x"}),
            "document_macros",
            "macros",
        ),
    ):
        with pytest.raises(FileError) as refused:
            store({"cv": upload(name, content)})
        found[name, reason] = (refused.value.reason, detail in refused.value.detail)
    assert found == {key: (key[1], True) for key in found}


def test_document_of_many_tables_is_no_bomb() -> None:
    word = b"<w:tr><w:tc>" * 1_000_000  # 12 MB
    content = make_zip({"[Content_Types].xml": WORD.encode(), "word/document.xml": word})
    assert store({"cv": upload("cv.docx", content)}).rows[0].kind == "docx"


def test_file_over_10_mb_is_refused() -> None:
    store({"cv": upload("cv.pdf", PDF.ljust(FILE_BYTES_MAX))})
    with pytest.raises(FileError) as refused:
        store({"cv": upload("cv.pdf", PDF.ljust(FILE_BYTES_MAX + 1))})
    assert (refused.value.status, refused.value.detail) == (413, "This file is larger than 10 MB.")


def test_virus_is_refused_and_a_failed_scan_is_recorded(settings, tmp_path) -> None:
    settings.ANTIVIRUS = f"clamd:{tmp_path}/clamd.sock"
    assert store({"cv": upload("cv.pdf", PDF)}).rows[0].scan_state == ScanState.FAILED
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "clamd.sock"))
        listener.listen()
        Clamd(listener)
        assert store({"cv": upload("cv.pdf", PDF)}).rows[0].scan_state == ScanState.CLEAN
        with pytest.raises(FileError) as refused:
            store({"cv": upload("cv.txt", EICAR)})
    assert refused.value.status == 422
    assert len(names(settings.PRIVATE_ROOT)) == 2


# --- Names -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_name_is_never_used_as_a_path(settings) -> None:
    expected = {
        "../../etc/passwd.pdf": "etc_passwd.pdf",
        "cv\r\nSet-Cookie: a=b.pdf": "cv__Set-Cookie_ a=b.pdf",
        "cv\u202efdp.exe": "cv_fdp.exe.pdf",
        '"; filename=x.html': "; filename=x.html.pdf",
        "x" * 4096: "x" * 100 + ".pdf",
        "nul\0.pdf": "nul.pdf",
        "…/": "….pdf",
        "..": "cv.pdf",
        "Lebenslauf Jürgen.PDF": "Lebenslauf Jürgen.PDF",
    }
    folder, found = Path(settings.PRIVATE_ROOT), {}
    for name in expected:
        file = submit(name)
        assert file.original_name == name.replace("\0", "")
        assert names(folder) == [file.path]
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / file.path)]
        assert modes == [0o700, 0o600]
        found[name] = download_name(file)
        delete_files([file.path, file.path])
        with pytest.raises(FileNotFoundError):
            open_file(file)
    assert found == expected


def test_other_paths_are_not_opened() -> None:
    for path in ("../secret", "/etc/passwd", "", "0" * 31, "0" * 32 + "/x"):
        with pytest.raises(ValueError, match="not the name"):
            open_file(SubmissionFile(path=path))
        with pytest.raises(ValueError, match="not the name"):
            delete_files([path])


# --- Crash points ------------------------------------------------------------------------------


def test_full_disk_stores_nothing(settings, monkeypatch) -> None:
    write, calls = stored_files.private_files.write, []

    def fill(name: str, chunks: Any) -> None:
        calls.append(name)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        write(name, chunks)

    monkeypatch.setattr(stored_files.private_files, "write", fill)
    with pytest.raises(FileError) as refused:
        store({"cv": upload("cv.pdf", PDF), "letter": upload("a.txt", b"text")})
    assert (refused.value.field, refused.value.status) == ("letter", 503)
    assert names(settings.PRIVATE_ROOT) == []


def test_file_that_cannot_be_discarded_hides_no_error(monkeypatch) -> None:
    def fail(*args: Any) -> None:
        raise OSError(5, "Input/output error")

    for name in ("write", "delete"):
        monkeypatch.setattr(stored_files.private_files, name, fail)
    with pytest.raises(FileError) as refused:
        store({"cv": upload("cv.pdf", PDF)})
    assert refused.value.status == 503


def test_disk_that_is_full_during_a_write_keeps_no_part(settings, monkeypatch) -> None:
    files = store({})
    assert (files, Path(settings.PRIVATE_ROOT).exists()) == (StoredFiles(), False)

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    settings.PRIVATE_ROOT.mkdir()
    with pytest.raises(FileError) as refused:
        store({"cv": upload("cv.pdf", PDF)})
    assert (refused.value.status, names(settings.PRIVATE_ROOT)) == (503, [])
