"""Validation, cleaning, storage and deletion of uploaded files."""

import errno
import json
import os
import re
import shutil
import struct
import subprocess
import zipfile
import zlib
from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from PIL import Image, ImageCms, PngImagePlugin

from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.vacancies.admin.test_admin import errors, opened, page, saved
from vacancies import operations, uploads
from vacancies.history.versions import record
from vacancies.models import Attachment, Brand, Change, Recruiter, Vacancy
from vacancies.uploads import clean_document, clean_image

DAMAGED = "This image is damaged: open it in another program and save it again, as JPEG for instance."
TOO_MANY = "This image has more than 25 megapixels: make it smaller."
SECRET = b"zyxsecret"
SCRIPT = b"<script>alert('zyxsecret')</script>"
ADD = "/admin/vacancies/recruiter/add/"


def encoded(kind: str, mode: str = "RGB", size: tuple[int, int] = (400, 300), **how: Any) -> bytes:
    file = BytesIO()
    Image.new(mode, size).save(file, kind, **how)
    return file.getvalue()


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    """Return a PNG of one bit per pixel."""
    row = bytes(1 + (width + 7) // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n"
    for name, content in ((b"IHDR", header), *chunks, (b"IDAT", data), (b"IEND", b"")):
        made += struct.pack(">I", len(content)) + name + content
        made += struct.pack(">I", zlib.crc32(name + content))
    return made


def moving(kind: str) -> bytes:
    frames = [Image.new("RGB", (300, 300), colour) for colour in ("red", "blue")]
    file = BytesIO()
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def wide_webp() -> bytes:
    """Return a WebP of 200 bytes whose header states 16,383 x 16,383 pixels."""
    made = moving("WEBP")
    place = made.index(b"VP8X") + 12
    return made[:place] + (16382).to_bytes(3, "little") * 2 + made[place + 6 :]


def many_scans() -> bytes:
    made = encoded("JPEG", "L", progressive=True)
    scan = made[made.rindex(b"\xff\xda") : -2]
    return made[:-2] + scan * 200 + made[-2:]


def packed(parts: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def office(kind: str, **more: bytes) -> bytes:
    wanted = f'<Override ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/>'
    return packed({"[Content_Types].xml": wanted.encode(), **more})


def old_office(stream: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + stream.encode("utf-16-le") + bytes(512)


def open_document(kind: str, **more: bytes) -> bytes:
    return packed({"mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(), **more})


DOCX, XLSX = office("wordprocessingml.document"), office("spreadsheetml.sheet")
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
JAR = packed({"META-INF/MANIFEST.MF": SECRET})


# --- Images ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "refusal"),
    [
        ("flood.png", png(13_300, 13_300), TOO_MANY),
        ("flood.png", png(5_001, 5_000), TOO_MANY),
        ("flood.webp", wide_webp(), TOO_MANY),
        ("apng.png", moving("PNG"), "Animated images are not supported. Use a still image."),
        ("moving.webp", moving("WEBP"), "Animated images are not supported. Use a still image."),
        ("a.gif", encoded("GIF"), "“a.gif” is GIF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("GIF"), "“a.png” is GIF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("TIFF"), "“a.png” is TIFF. Use a JPEG, PNG or WebP image."),
        ("a.png", encoded("BMP"), "“a.png” is BMP. Use a JPEG, PNG or WebP image."),
        ("a.jpg", encoded("ICO"), "“a.jpg” is not a readable image. Use a JPEG, PNG or WebP image."),
        ("a.jpg", encoded("EPS"), "“a.jpg” is PostScript. Use a JPEG, PNG or WebP image."),
        ("a.svg", SVG, "“a.svg” is SVG. Use a JPEG, PNG or WebP image."),
        ("a.png", SVG, "“a.png” is SVG. Use a JPEG, PNG or WebP image."),
        ("a.png", b"<!doctype html>" + SCRIPT, "“a.png” is HTML. Use a JPEG, PNG or WebP image."),
        ("a.jpg", b"%PDF-1.7", "“a.jpg” is PDF. Use a JPEG, PNG or WebP image."),
        ("a.jpg", b"\0\0\0\x18ftypheic", "“a.jpg” is HEIC. Use a JPEG, PNG or WebP image."),
        ("a.png", JAR, "“a.png” is ZIP. Use a JPEG, PNG or WebP image."),
        ("gifar.gif", encoded("GIF") + JAR, "“gifar.gif” is GIF. Use a JPEG, PNG or WebP image."),
        ("x.png.html", encoded("PNG"), "The file name must end in .jpg, .png or .webp."),
        ("cut.jpg", encoded("JPEG")[:-600], DAMAGED),
        ("cut.png", encoded("PNG")[:60], DAMAGED),
        ("header.png", b"\x89PNG\r\n\x1a\n", DAMAGED),
        ("icc.png", png(300, 300, (b"iCCP", b"x\0\0" + zlib.compress(bytes(50_000_000), 9))), DAMAGED),
        ("text.png", png(300, 300, (b"zTXt", b"x\0\0" + zlib.compress(bytes(50_000_000), 9))), DAMAGED),
        ("scans.jpg", many_scans(), DAMAGED),
        (
            "big.png",
            encoded("PNG") + bytes(5 * 2**20),
            "This file is 5.0 MB: an image may have at most 5 MB.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_invalid_or_hostile_image_is_refused(name: str, content: bytes, refusal: str) -> None:
    with pytest.raises(ValidationError) as refused:
        clean_image(SimpleUploadedFile(name, content))

    assert refused.value.messages == [refusal]


@pytest.mark.parametrize(("kind", "suffix"), [("JPEG", ".jpg"), ("PNG", ".png"), ("WEBP", ".webp")])
def test_metadata_and_appended_data_are_removed(kind: str, suffix: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = exif[0x9286] = SECRET.decode()  # description, comment
    exif.get_ifd(0x8825)[1] = SECRET.decode()  # place
    how: dict[str, Any] = {"exif": exif, "xmp": b"<x>" + SECRET + b"</x>"}
    if kind == "JPEG":
        how["comment"] = SECRET
    if kind == "PNG":
        how = {"exif": exif, "pnginfo": PngImagePlugin.PngInfo()}
        how["pnginfo"].add_text("Comment", SECRET.decode())
        how["pnginfo"].add_itxt("XML:com.adobe.xmp", SECRET.decode())
    content = encoded(kind, **how) + SCRIPT + JAR
    assert content.count(SECRET) >= 4

    kept = clean_image(SimpleUploadedFile("x.html.png", content))

    assert (kept.suffix, SECRET in kept.read()) == (suffix, False)
    kept.seek(0)
    with Image.open(kept) as image:
        assert (image.format, image.size, dict(image.getexif())) == (kind, (400, 300), {})
        assert not {"exif", "icc_profile", "comment", "xmp"} & set(image.info)


def test_image_is_rotated_and_converted_to_srgb() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    kept = clean_image(SimpleUploadedFile("a.jpg", encoded("JPEG", exif=exif, icc_profile=profile)))
    with Image.open(kept) as image:
        assert (image.size, "icc_profile" in image.info) == ((300, 400), False)


@pytest.mark.parametrize(
    ("kind", "mode", "kept_mode"),
    [
        ("JPEG", "CMYK", "RGB"),
        ("JPEG", "L", "L"),
        ("PNG", "RGBA", "RGBA"),
        ("PNG", "LA", "LA"),
        ("PNG", "P", "P"),
        ("PNG", "1", "1"),
        ("PNG", "I;16", "I;16"),
        ("WEBP", "RGBA", "RGBA"),
    ],
)
def test_colours_and_transparency_are_kept(kind: str, mode: str, kept_mode: str) -> None:
    how = {"transparency": 0} if mode == "P" else {}
    kept = clean_image(SimpleUploadedFile("a.png", encoded(kind, mode, **how)))
    with Image.open(kept) as image:
        assert image.mode == kept_mode
        assert image.has_transparency_data == (mode in ("RGBA", "LA", "P"))


def test_invalid_colour_profile_is_ignored() -> None:
    kept = clean_image(SimpleUploadedFile("a.jpg", encoded("JPEG", icc_profile=SECRET * 30)))
    assert SECRET not in kept.read()


def test_image_is_encoded_once() -> None:
    kept = clean_image(SimpleUploadedFile("a.jpg", encoded("JPEG")))
    assert clean_image(kept) is kept


# --- Documents ---------------------------------------------------------------------------------

DOCUMENTS = {
    "pdf": b"%PDF-1.7\n",
    "txt": "Wat wij bieden: één team.\r\n".encode(),
    "rtf": rb"{\rtf1 text}",
    "doc": old_office("WordDocument"),
    "docx": DOCX,
    "odt": open_document("text"),
    "xls": old_office("Workbook"),
    "xlsx": XLSX,
    "ods": open_document("spreadsheet"),
    "ppt": old_office("PowerPoint Document"),
    "pptx": office("presentationml.presentation"),
}


@pytest.mark.parametrize(("ending", "content"), DOCUMENTS.items(), ids=list(DOCUMENTS))
def test_document_content_must_match_its_extension(ending: str, content: bytes) -> None:
    file = SimpleUploadedFile(f"a.{ending.upper()}", content)

    assert clean_document(file) is file
    for other, another in DOCUMENTS.items():
        if other not in (ending, "rtf", "pdf") or ending != "txt":
            if other == ending or (ending == "txt" and other in ("rtf", "pdf")):
                continue
            with pytest.raises(ValidationError) as refused:
                clean_document(SimpleUploadedFile(f"a.{ending}", another))
            assert refused.value.code == "document_content", (ending, other)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
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
        ("a.docx", packed({"word/document.xml": b"x"}), "document_content"),
        ("a.docx", office("wordprocessingml.document", **{"word/vbaProject.bin": b"x"}), "document_macros"),
        ("a.odt", open_document("text", **{"Basic/script-lc.xml": b"x"}), "document_macros"),
        ("a.doc", old_office("WordDocument") + "_VBA_PROJECT".encode("utf-16-le"), "document_macros"),
        ("a.txt", b"MZ\x90\0\x03", "document_content"),
        ("a.txt", "é".encode("utf-16"), "document_content"),
        ("a.txt", "é".encode("latin-1"), "document_content"),
        ("a.jpg", SVG, "image_format"),
        ("a.png", png(13_300, 13_300), "image_pixels"),
    ],
)
def test_invalid_document_is_refused(name: str, content: bytes, code: str) -> None:
    file = SimpleUploadedFile("a", content)
    file._name = name  # which Django would have cut
    with pytest.raises(ValidationError) as refused:
        clean_document(file)
    assert refused.value.code == code


def test_document_errors_name_the_received_and_allowed_types() -> None:
    with pytest.raises(ValidationError) as refused:
        clean_document(SimpleUploadedFile("run.exe", b"MZ"))
    assert refused.value.messages == [
        "“run.exe” cannot be attached. Allowed are pdf, txt, rtf, doc, docx, odt, xls, xlsx, ods, ppt, pptx, "
        "jpg, jpeg, png."
    ]
    with pytest.raises(ValidationError) as refused:
        clean_document(SimpleUploadedFile("cv.pdf", DOCX))
    assert refused.value.messages == ["“cv.pdf” is ZIP, which does not match the extension .pdf."]


def test_zip_document_is_decompressed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = {"[Content_Types].xml": bytes(50_000_000), "word/document.xml": bytes(50_000_000)}
    read = []
    unpack = zipfile.ZipExtFile.read
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda self, n=-1: (read.append((self.name, n)), unpack(self, n))[1]
    )
    with pytest.raises(ValidationError):
        clean_document(SimpleUploadedFile("a.docx", packed(bomb)))
    assert read == [("[Content_Types].xml", 1024 * 1024)]


def directory(parts: int, *, counted: int, end: str, comment: bytes = b"") -> bytes:
    """DOCX with so many more parts in its central directory, of which the end record counts `counted`."""
    first, last = DOCX.index(b"PK\x01\x02"), DOCX.index(b"PK\x05\x06")
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"a"
    entries = DOCX[first:last] + entry * parts
    size, where = len(entries), first
    ends = b""
    if end == "zip64":
        ends = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, counted, counted, size, where)
        ends += struct.pack("<4sLQL", b"PK\x06\x07", 0, first + size, 1)
        counted, size, where = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    counted = min(counted, 0xFFFF)
    ends += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, counted, counted, size, where, len(comment))
    return DOCX[:first] + entries + ends + comment


@pytest.mark.parametrize("ending", ["docx", "xlsx", "pptx", "odt", "ods"])
@pytest.mark.parametrize(
    ("end", "counted", "comment"),
    [("zip", 420_000, b""), ("zip", 1, b"a comment"), ("zip64", 420_000, b""), ("zip64", 1, b"a comment")],
)
def test_document_with_too_many_parts_is_refused_before_parsing(
    monkeypatch: pytest.MonkeyPatch, ending: str, comment: bytes, counted: int, end: str
) -> None:
    parsed = []
    monkeypatch.setattr(zipfile, "ZipInfo", lambda *args: parsed.append(args))
    content = directory(420_000, counted=counted, end=end, comment=comment)
    with pytest.raises(ValidationError) as refused:
        clean_document(SimpleUploadedFile(f"a.{ending}", content))
    assert refused.value.messages == ["This document has too many parts: save it again in an office program."]
    assert parsed == []


@pytest.mark.parametrize("end", ["zip", "zip64"])
@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_document_of_many_parts_is_accepted(end: str, comment: bytes) -> None:
    content = directory(5_000, counted=5_001, end=end, comment=comment)

    assert clean_document(SimpleUploadedFile("a.docx", content)).size == len(content)


def test_document_size_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vacancies.validators.DOCUMENT_BYTES_MAX", 10)
    with pytest.raises(ValidationError) as refused:
        clean_document(SimpleUploadedFile("a.pdf", b"%PDF-1.7 long"))
    assert refused.value.code == "document_too_large"


# --- In the admin ------------------------------------------------------------------------------


@pytest.fixture
def anna(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("anna"))
    return client


@pytest.fixture
def media(settings: Any) -> Path:
    return Path(settings.MEDIA_ROOT)


def stored(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def attach(client: Client, vacancy: Vacancy, name: str, content: bytes) -> Any:
    form = {"attachments-TOTAL_FORMS": "1", "attachments-0-file": SimpleUploadedFile(name, content)}
    return client.post(page(vacancy), opened(client, page(vacancy)) | form)


def test_uploads_get_random_names(anna: Client, media: Path) -> None:
    vacancy = make_vacancy()
    photo = SimpleUploadedFile("../x.html.png", encoded("JPEG"))
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"image": photo}))
    assert saved(attach(anna, vacancy, "Functieprofiel (é).PDF", b"%PDF-1.7"))

    vacancy.refresh_from_db()
    attachment = Attachment.objects.get()
    assert stored(media) == sorted([vacancy.image.name, attachment.file.name])
    assert re.fullmatch(r"vacancies/[0-9a-f]{32}\.jpg", vacancy.image.name)
    assert re.fullmatch(r"attachments/[0-9a-f]{32}\.pdf", attachment.file.name)
    assert attachment.name == "Functieprofiel (é).PDF"


def test_image_attachment_is_re_encoded(anna: Client, media: Path) -> None:
    assert saved(attach(anna, make_vacancy(), "plan.PNG", encoded("JPEG") + SCRIPT))
    attachment = Attachment.objects.get()
    assert (attachment.name, Path(attachment.file.name).suffix) == ("plan.PNG", ".jpg")
    assert SECRET not in Path(attachment.file.path).read_bytes()


def test_empty_attachment_name_keeps_the_old_name(anna: Client) -> None:
    vacancy = make_vacancy()
    assert saved(attach(anna, vacancy, "profile.pdf", b"%PDF-1.7"))
    attachment = Attachment.objects.get()
    form = opened(anna, page(vacancy)) | {"attachments-0-name": "", "attachments-0-position": "3"}
    assert saved(anna.post(page(vacancy), form))
    attachment.refresh_from_db()
    assert (attachment.name, attachment.position) == ("profile.pdf", 3)


def test_invalid_file_is_a_field_error_and_not_stored(anna: Client, media: Path) -> None:
    vacancy = make_vacancy()
    form = opened(anna, page(vacancy)) | {"image": SimpleUploadedFile("a.png", SVG)}
    assert errors(anna.post(page(vacancy), form)) == {
        "image": ["“a.png” is SVG. Use a JPEG, PNG or WebP image."]
    }
    response = attach(anna, vacancy, "cv.pdf", SCRIPT)
    formset = response.context["inline_admin_formsets"][1].formset
    assert formset.errors == [{"file": ["“cv.pdf” is HTML, which does not match the extension .pdf."]}]
    assert (stored(media), Attachment.objects.count()) == ([], 0)


def test_files_stored_by_code_are_validated(media: Path, db: None) -> None:
    brand = Brand(name="A")
    brand.icon_small.save("a.svg.png", ContentFile(encoded("PNG") + SCRIPT))
    assert SECRET not in Path(brand.icon_small.path).read_bytes()
    for field, name in ((brand.icon_large, "a.png"), (Attachment(vacancy=make_vacancy()).file, "a.html")):
        with pytest.raises(ValidationError):
            field.save(name, ContentFile(SCRIPT))
    assert stored(media) == [brand.icon_small.name]


def test_stored_files_are_not_validated_again(anna: Client, media: Path) -> None:
    (media / "recruiters").mkdir(parents=True)
    (media / "recruiters" / "old.gif").write_bytes(encoded("GIF"))
    person = make_recruiter(image="recruiters/old.gif")
    address = f"/admin/vacancies/recruiter/{person.pk}/change/"
    assert saved(anna.post(address, {"name": "Bo"}))
    person.refresh_from_db()
    assert (person.name, person.image.name) == ("Bo", "recruiters/old.gif")


# --- A disk that is full -----------------------------------------------------------------------


@pytest.fixture
def small_disk(media: Path) -> Any:
    media.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(media)]
    if (
        os.geteuid() != 0
        or not shutil.which("mount")
        or subprocess.run(mount, capture_output=True).returncode
    ):
        pytest.skip("no file system may be mounted here")
    yield media
    subprocess.run(["umount", str(media)], check=True)


def test_full_disk_is_a_form_error(anna: Client, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(2**21 - 100_000))
    vacancy = make_vacancy()
    response = attach(anna, vacancy, "a.pdf", b"%PDF-1.7" + bytes(200_000))
    formset = response.context["inline_admin_formsets"][1].formset
    assert formset.errors == [{"file": [str(uploads.NO_ROOM)]}]
    assert (stored(small_disk), Attachment.objects.count()) == (["filler"], 0)
    assert anna.get(f"/v1/vacancies/{vacancy.pk}").status_code == 200
    assert saved(attach(anna, vacancy, "a.pdf", b"%PDF-1.7"))


def test_disk_full_during_storage_is_a_form_error(
    anna: Client, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "has_room", lambda storage, size: True)
    (small_disk / "filler").write_bytes(bytes(2**21 - 100_000))
    vacancy = make_vacancy(title="Nurse")
    before = Vacancy.objects.values().get()
    form = opened(anna, page(vacancy)) | {"title": "Cook"}
    pdf = SimpleUploadedFile("a.pdf", b"%PDF-1.7" + bytes(200_000))
    form |= {"attachments-TOTAL_FORMS": "1", "attachments-0-file": pdf}

    for address in (page(vacancy), f"/admin/vacancies/vacancy/{vacancy.pk}/review/"):
        pdf.seek(0)
        response = anna.post(address, form)
        assert response.status_code == 507, address
        assert str(uploads.NO_ROOM) in response.content.decode()
        assert stored(small_disk) == ["filler"]
        assert (Vacancy.objects.values().get(), Attachment.objects.count()) == (before, 0)


def test_partially_written_file_is_deleted(
    anna: Client, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the permission to mount a file system."""

    def cut_off(self: Any, name: str, content: Any) -> str:
        (media / "recruiters").mkdir(parents=True, exist_ok=True)
        (media / name).write_bytes(content.read()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileSystemStorage, "_save", cut_off)
    response = anna.post(ADD, {"name": "Jan", "image": SimpleUploadedFile("a.png", encoded("PNG"))})
    assert (response.status_code, stored(media), Recruiter.objects.count()) == (507, [], 0)


# --- Cleaning up -------------------------------------------------------------------------------


def clean(**options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("clean_media", format="json", stdout=out, **options)
    return json.loads(out.getvalue())


def age(media: Path, **by: float) -> None:
    moment = (timezone.now() - timedelta(**by)).timestamp()
    for name in stored(media):
        os.utime(media / name, (moment, moment))


@pytest.mark.django_db
def test_orphans_are_deleted_after_a_day(media: Path) -> None:
    brand, person = make_brand(), make_recruiter()
    for field in (brand.icon_small, brand.icon_large, person.image):
        field.save("a.png", ContentFile(encoded("PNG")))
    vacancy = make_vacancy(brand=brand, head_recruiter=person)
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    attachment = Attachment(vacancy=vacancy, name="a.pdf")
    attachment.file.save("a.pdf", ContentFile(b"%PDF-"))
    named = stored(media)
    assert len(named) == 5
    for name in ("vacancies/old.png", "attachments/x.pdf", "brands/b.png", "other/kept.txt", "kept.txt"):
        (media / name).parent.mkdir(exist_ok=True)
        (media / name).write_bytes(b"12345")
    age(media, hours=23)
    assert clean()["files"] == []
    age(media, hours=25)

    told = clean(dry_run=True)
    assert told["files"] == ["attachments/x.pdf", "brands/b.png", "vacancies/old.png"]
    assert (told["bytes"], told["deleted"]) == (15, 0)
    assert clean()["deleted"] == 3
    assert stored(media) == sorted([*named, "other/kept.txt", "kept.txt"])


@pytest.mark.django_db
def test_files_of_versions_and_copies_are_kept(media: Path) -> None:
    """A copy shares files with the original, and a restored version refers to its old files."""
    now = timezone.now()
    vacancy = make_vacancy()
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    attachment = Attachment(vacancy=vacancy, name="a.pdf")
    attachment.file.save("a.pdf", ContentFile(b"%PDF-"))
    first = stored(media)
    version = record(vacancy, Change.CREATED, author=None, at=now)
    copy = operations.duplicate(vacancy=vacancy, at=now)
    vacancy.attachments.all().delete()
    vacancy.image.save("b.png", ContentFile(encoded("PNG")))  # never on record
    replaced = vacancy.image.name
    vacancy.image.save("c.png", ContentFile(encoded("PNG")))
    age(media, days=2)

    assert clean()["files"] == [replaced]
    record(vacancy, Change.DELETED, author=None, at=now)
    for row in (vacancy, copy):
        row.delete()
    assert clean()["files"] == []

    back, _gone = operations.restore(version, author=None, at=now)
    assert sorted([back.image.name, back.attachments.get().file.name]) == first
    assert set(first) <= set(stored(media))


@pytest.mark.django_db
def test_clean_media_without_a_media_directory() -> None:
    assert clean()["summary"] == "Deleted 0 files, 0 bytes."
