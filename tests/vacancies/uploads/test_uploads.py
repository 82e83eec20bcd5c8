"""Validation and cleaning of uploaded images and documents."""

import struct
import zipfile
import zlib
from itertools import product
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image, ImageCms, PngImagePlugin

from tests.vacancies.sample_files import (
    DOCX,
    JAR,
    SCRIPT,
    SECRET,
    SVG,
    XLSX,
    animated,
    encoded,
    jpeg_of_many_scans,
    legacy_office,
    make_zip,
    ooxml,
    open_document,
    png,
    wide_webp,
)
from vacancies.uploads.cleaning import clean_document, clean_image

OLE = legacy_office("WordDocument")  # a document inside another one
VBA = OLE + "_VBA_PROJECT".encode("utf-16-le")
DAMAGED = "“{}” is damaged: open it in another program and save it again, as JPEG for instance."
TOO_MANY = "“{}” has more than 25 megapixels: make it smaller."
SCANS = "“{}” is a JPEG with more than 100 scans: open it in another program and save it again."


# --- Images ------------------------------------------------------------------------------------


def test_invalid_or_hostile_image_is_refused() -> None:
    bomb, found = zlib.compress(bytes(50_000_000), 1), []
    for name, content, refusal in (
        ("flood.png", png(13_300, 13_300), TOO_MANY),
        ("flood.png", png(5_001, 5_000), TOO_MANY),
        ("flood.webp", wide_webp(), TOO_MANY),
        ("apng.png", animated("PNG"), "“{}” is animated: use a still image."),
        ("animated.webp", animated("WEBP"), "“{}” is animated: use a still image."),
        ("a.gif", encoded("GIF"), "“a.gif” is GIF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("GIF"), "“a.png” is GIF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("TIFF"), "“a.png” is TIFF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("BMP"), "“a.png” is BMP. Use a JPEG, PNG or WebP image."),
        (
            "a.jpg",
            encoded("ICO"),
            "“a.jpg” is not a readable image. Use a JPEG, PNG or WebP image.",
        ),
        ("a.jpg", encoded("EPS"), "“a.jpg” is PostScript. Use a JPEG, PNG or WebP image."),
        ("a.svg", SVG, "“a.svg” is SVG. Use a JPEG, PNG or WebP image."),
        ("a.png", SVG, "“a.png” is SVG. Use a JPEG, PNG or WebP image."),
        ("a.png", b"<!doctype html>" + SCRIPT, "“a.png” is HTML. Use a JPEG, PNG or WebP image."),
        ("a.jpg", b"%PDF-1.7", "“a.jpg” is PDF. Use a JPEG, PNG or WebP image."),
        ("a.jpg", b"\0\0\0\x18ftypheic", "“a.jpg” is HEIC. Use a JPEG, PNG or WebP image."),
        ("a.png", JAR, "“a.png” is ZIP. Use a JPEG, PNG or WebP image."),
        ("gifar.gif", encoded("GIF") + JAR, "“gifar.gif” is GIF. Use a JPEG, PNG or WebP image."),
        (
            "x.png.html",
            encoded("PNG"),
            "The name “{}” does not end in .jpg, .png or .webp: rename the file.",
        ),
        ("cut.jpg", encoded("JPEG")[:-600], DAMAGED),
        ("cut.png", encoded("PNG")[:60], DAMAGED),
        ("header.png", b"\x89PNG\r\n\x1a\n", DAMAGED),
        ("icc.png", png(300, 300, (b"iCCP", b"x\0\0" + bomb)), DAMAGED),
        ("text.png", png(300, 300, (b"zTXt", b"x\0\0" + bomb)), DAMAGED),
        ("scans.jpg", jpeg_of_many_scans(), SCANS),
        (
            "big.png",
            encoded("PNG") + bytes(5 * 2**20),
            "“{}” is 5.0 MB: an image may have at most 5 MB.",
        ),
    ):
        try:
            clean_image(SimpleUploadedFile(name, content))
            messages = []
        except ValidationError as error:
            messages = error.messages
        if messages != [refusal.format(name)]:
            found.append((name, content[:40], messages))
    assert found == []


@pytest.mark.parametrize(("kind", "suffix"), [("JPEG", ".jpg"), ("PNG", ".png"), ("WEBP", ".webp")])
def test_metadata_and_appended_data_are_removed(kind: str, suffix: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = exif[0x9286] = SECRET.decode()  # ImageDescription, UserComment
    exif.get_ifd(0x8825)[1] = SECRET.decode()  # GPS
    options: dict[str, Any] = {"exif": exif, "xmp": b"<x>" + SECRET + b"</x>"}
    if kind == "JPEG":
        options["comment"] = SECRET
    if kind == "PNG":
        options = {"exif": exif, "pnginfo": PngImagePlugin.PngInfo()}
        options["pnginfo"].add_text("Comment", SECRET.decode())
        options["pnginfo"].add_itxt("XML:com.adobe.xmp", SECRET.decode())
    content = encoded(kind, **options) + SCRIPT + JAR
    assert content.count(SECRET) >= 4

    cleaned = clean_image(SimpleUploadedFile("x.html.png", content))

    assert (cleaned.suffix, SECRET in cleaned.read()) == (suffix, False)
    cleaned.seek(0)
    with Image.open(cleaned) as image:
        assert (image.format, image.size, dict(image.getexif())) == (kind, (400, 300), {})
        assert not {"exif", "icc_profile", "comment", "xmp"} & set(image.info)


def test_image_is_rotated_and_converted_to_srgb() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # Orientation: rotated by 90 degrees
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    cleaned = clean_image(
        SimpleUploadedFile("a.jpg", encoded("JPEG", exif=exif, icc_profile=profile))
    )
    with Image.open(cleaned) as image:
        assert (image.size, "icc_profile" in image.info) == ((300, 400), False)


def test_colours_and_transparency_are_kept() -> None:
    for kind, mode, cleaned_mode in (
        ("JPEG", "CMYK", "RGB"),
        ("JPEG", "L", "L"),
        ("PNG", "RGBA", "RGBA"),
        ("PNG", "LA", "LA"),
        ("PNG", "P", "P"),
        ("PNG", "1", "1"),
        ("PNG", "I;16", "I;16"),
        ("WEBP", "RGBA", "RGBA"),
    ):
        options = {"transparency": 0} if mode == "P" else {}
        cleaned = clean_image(SimpleUploadedFile("a.png", encoded(kind, mode, **options)))
        with Image.open(cleaned) as image:
            assert image.mode == cleaned_mode
            assert image.has_transparency_data == (mode in ("RGBA", "LA", "P")), (kind, mode)


def test_invalid_colour_profile_is_ignored_and_images_are_encoded_once() -> None:
    cleaned = clean_image(SimpleUploadedFile("a.jpg", encoded("JPEG", icc_profile=SECRET * 30)))
    assert SECRET not in cleaned.read()
    assert clean_image(cleaned) is cleaned


# --- Documents ---------------------------------------------------------------------------------

DOCUMENTS = {
    "pdf": b"%PDF-1.7\n",
    "txt": "Wat wij bieden: één team.\r\n".encode(),
    "rtf": rb"{\rtf1 text}",
    "doc": legacy_office("WordDocument"),
    "docx": DOCX,
    "odt": open_document("text"),
    "xls": legacy_office("Workbook"),
    "xlsx": XLSX,
    "ods": open_document("spreadsheet"),
    "ppt": legacy_office("PowerPoint Document"),
    "pptx": ooxml("presentationml.presentation"),
}


@pytest.mark.parametrize(("extension", "content"), DOCUMENTS.items(), ids=list(DOCUMENTS))
def test_document_content_must_match_its_extension(extension: str, content: bytes) -> None:
    file = SimpleUploadedFile(f"a.{extension.upper()}", content)

    assert clean_document(file) is file
    for other, other_content in DOCUMENTS.items():
        if other == extension or (extension == "txt" and other in ("rtf", "pdf")):
            continue
        with pytest.raises(ValidationError) as refused:
            clean_document(SimpleUploadedFile(f"a.{extension}", other_content))
        assert refused.value.code == "document_content", (extension, other)


def test_invalid_document_is_refused() -> None:
    found = []
    for name, content, code in (
        ("a.html", SCRIPT, "document_ending"),
        ("a.pdf.html", b"%PDF-", "document_ending"),
        ("a.svg", SVG, "document_ending"),
        ("a.docm", DOCX, "document_ending"),
        ("a.exe", b"MZ", "document_ending"),
        ("pdf", b"%PDF-", "document_ending"),
        ("a.pdf\0.html", b"%PDF-", "document_ending"),
        ("a.pdf", SCRIPT + b"%PDF-", "document_content"),
        ("a.pdf", b"", "document_content"),
        ("a.docx", b"PK\x03\x04" + bytes(100), "document_content"),
        ("a.docx", DOCX[:-30], "document_content"),
        ("a.docx", encoded("JPEG") + DOCX, "document_content"),
        ("a.docx", make_zip({"word/document.xml": b"x"}), "document_content"),
        (
            "a.docx",
            ooxml("wordprocessingml.document", **{"word/vbaProject.bin": b"x"}),
            "document_macros",
        ),
        (
            "a.docx",
            ooxml("wordprocessingml.document", **{"word/VBAPROJECT.BIN": b"x"}),
            "document_macros",
        ),
        (
            "a.docx",
            ooxml("wordprocessingml.document", **{"word/theme.xml": VBA}),
            "document_macros",
        ),
        ("a.xlsx", ooxml("spreadsheetml.sheet", a=OLE, b=VBA), "document_macros"),
        ("a.docx", ooxml("wordprocessingml.document", a=OLE + bytes(20 << 20)), "document_parts"),
        ("a.odt", open_document("text", **{"Basic/script-lc.xml": b"x"}), "document_macros"),
        ("a.odt", open_document("text", **{"Scripts/python/x.py": b"x"}), "document_macros"),
        ("a.doc", VBA, "document_macros"),
        ("a.txt", b"MZ\x90\0\x03", "document_content"),
        ("a.txt", "é".encode("utf-16"), "document_content"),
        ("a.txt", "é".encode("latin-1"), "document_content"),
        ("a.jpg", SVG, "image_format"),
        ("a.png", png(13_300, 13_300), "image_pixels"),
    ):
        file = SimpleUploadedFile("a", content)
        file._name = name  # the constructor would shorten it
        try:
            clean_document(file)
            received = "accepted"
        except ValidationError as error:
            received = error.code
        if received != code:
            found.append((name, content[:40], received))
    assert found == []


def test_document_errors_name_the_received_and_allowed_types(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = "pdf, txt, rtf, doc, docx, odt, xls, xlsx, ods, ppt, pptx, jpg, jpeg, png"
    for name, content, text in (
        ("run.exe", b"MZ", f"“run.exe” cannot be attached. Allowed are {kinds}."),
        ("cv.pdf", DOCX, "“cv.pdf” is ZIP, which does not match the extension .pdf."),
    ):
        with pytest.raises(ValidationError) as refused:
            clean_document(SimpleUploadedFile(name, content))
        assert refused.value.messages == [text]
    monkeypatch.setattr("vacancies.uploads.validators.DOCUMENT_BYTES_MAX", 10)
    with pytest.raises(ValidationError) as refused:
        clean_document(SimpleUploadedFile("a.pdf", b"%PDF-1.7 long"))
    assert refused.value.code == "document_too_large"


def test_zip_document_is_decompressed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = {"[Content_Types].xml": bytes(5_000_000), "word/document.xml": bytes(5_000_000)}
    reads = []
    original_read = zipfile.ZipExtFile.read
    monkeypatch.setattr(
        zipfile.ZipExtFile,
        "read",
        lambda self, n=-1: (reads.append((self.name, n)), original_read(self, n))[1],
    )
    with pytest.raises(ValidationError):
        clean_document(SimpleUploadedFile("a.docx", make_zip(bomb)))
    assert reads == [("[Content_Types].xml", 1024 * 1024)]


def docx_with_entries(parts: int, *, counted: int, end: str, comment: bytes = b"") -> bytes:
    """Return a DOCX with `parts` extra entries in its central directory, whose end record says
    `counted`.
    """
    first, last = DOCX.index(b"PK\x01\x02"), DOCX.index(b"PK\x05\x06")
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"a"
    entries = DOCX[first:last] + entry * parts
    size, offset = len(entries), first
    end_records = b""
    if end == "zip64":
        end_records = struct.pack(
            "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, counted, counted, size, offset
        )
        end_records += struct.pack("<4sLQL", b"PK\x06\x07", 0, first + size, 1)
        counted, size, offset = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    counted = min(counted, 0xFFFF)
    end_records += struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, counted, counted, size, offset, len(comment)
    )
    return DOCX[:first] + entries + end_records + comment


@pytest.mark.slow("large archives")
@pytest.mark.parametrize(
    ("end", "counted", "comment"),
    [
        ("zip", 420_000, b""),
        ("zip", 1, b"a comment"),
        ("zip64", 420_000, b""),
        ("zip64", 1, b"a comment"),
    ],
)
def test_document_with_too_many_parts_is_refused_before_parsing(monkeypatch, comment, counted, end):
    parsed = []
    monkeypatch.setattr(zipfile, "ZipInfo", lambda *args: parsed.append(args))
    content = docx_with_entries(420_000, counted=counted, end=end, comment=comment)
    for extension in ("docx", "xlsx", "pptx", "odt", "ods"):
        with pytest.raises(ValidationError) as refused:
            clean_document(SimpleUploadedFile(f"a.{extension}", content))
        text = "This document has too many parts: save it again in an office program."
        assert (refused.value.messages, parsed) == ([text], []), extension


def test_document_of_many_parts_is_accepted() -> None:
    for end, comment in product(("zip", "zip64"), (b"", b"a comment")):
        content = docx_with_entries(5_000, counted=5_001, end=end, comment=comment)
        assert clean_document(SimpleUploadedFile("a.docx", content)).size == len(content)
