"""Uploads in the admin, a full disk and the deletion of orphaned files."""

import errno
import json
import os
import re
import shutil
import subprocess
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.vacancies.admin.forms import errors, opened, page, saved
from tests.vacancies.sample_files import SCRIPT, SECRET, SVG, encoded
from vacancies.history.versions import record
from vacancies.models import Attachment, Brand, Change, Recruiter, Vacancy
from vacancies.operations import publication
from vacancies.operations.restore import restore
from vacancies.uploads import fields as uploads

ADD = "/admin/vacancies/recruiter/add/"


# --- In the admin ------------------------------------------------------------------------------


@pytest.fixture
def media(settings: Any) -> Path:
    return Path(settings.MEDIA_ROOT)


def stored(folder: Path) -> list[str]:
    return sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def attach(client: Client, vacancy: Vacancy, name: str, content: bytes) -> Any:
    form = {"attachments-TOTAL_FORMS": "1", "attachments-0-file": SimpleUploadedFile(name, content)}
    return client.post(page(vacancy), opened(client, page(vacancy)) | form)


@pytest.mark.slow("opens several pages of the admin")
def test_uploads_get_random_names(anna: Client, media: Path) -> None:
    vacancy = make_vacancy()
    photo = SimpleUploadedFile("../x.html.png", encoded("JPEG"))
    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy)) | {"image": photo}))
    assert saved(attach(anna, vacancy, "Functieprofiel (é).PDF", b"%PDF-1.7"))
    other = make_vacancy()
    assert saved(attach(anna, other, "plan.PNG", encoded("JPEG") + SCRIPT))
    plan = other.attachments.get()  # encoded again
    assert (plan.name, Path(plan.file.name).suffix) == ("plan.PNG", ".jpg")
    assert SECRET not in Path(plan.file.path).read_bytes()
    plan.file.delete(save=False)
    plan.delete()

    vacancy.refresh_from_db()
    attachment = Attachment.objects.get()
    assert stored(media) == sorted([vacancy.image.name, attachment.file.name])
    assert re.fullmatch(r"vacancies/[0-9a-f]{32}\.jpg", vacancy.image.name)
    assert re.fullmatch(r"attachments/[0-9a-f]{32}\.pdf", attachment.file.name)
    assert attachment.name == "Functieprofiel (é).PDF"
    form = opened(anna, page(vacancy)) | {"attachments-0-name": ""}
    assert saved(anna.post(page(vacancy), form))
    attachment.refresh_from_db()  # an empty name keeps the old one
    assert attachment.name == "Functieprofiel (é).PDF"


@pytest.mark.slow("opens several pages of the admin")
def test_invalid_file_is_a_field_error_and_not_stored(anna: Client, media: Path) -> None:
    vacancy = make_vacancy()
    form = opened(anna, page(vacancy)) | {"image": SimpleUploadedFile("a.png", SVG)}
    refusal = "“a.png” is SVG. Use a JPEG, PNG or WebP image."
    assert errors(anna.post(page(vacancy), form)) == {"image": [refusal]}
    response = attach(anna, vacancy, "cv.pdf", SCRIPT)
    formset = response.context["inline_admin_formsets"][-1].formset
    assert formset.errors == [
        {"file": ["“cv.pdf” is HTML, which does not match the extension .pdf."]}
    ]
    assert (stored(media), Attachment.objects.count()) == ([], 0)


def test_files_stored_by_code_are_validated(media: Path, db: None) -> None:
    brand = Brand(name="A")
    brand.icon_small.save("a.svg.png", ContentFile(encoded("PNG") + SCRIPT))
    assert SECRET not in Path(brand.icon_small.path).read_bytes()
    for field, name in (
        (brand.icon_large, "a.png"),
        (Attachment(vacancy=make_vacancy()).file, "a.html"),
    ):
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


# --- Full disk --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(media: Path) -> Any:
    media.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(media)]
    may_mount = os.geteuid() == 0 and shutil.which("mount")
    if not may_mount or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a file system is not permitted")
    yield media
    subprocess.run(["umount", str(media)], check=True)


def test_full_disk_is_a_form_error(anna: Client, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(2**21 - 100_000))
    vacancy = make_vacancy()
    response = attach(anna, vacancy, "a.pdf", b"%PDF-1.7" + bytes(200_000))
    assert response.context["inline_admin_formsets"][-1].formset.errors == [
        {"file": [str(uploads.NO_ROOM)]}
    ]
    assert (stored(small_disk), Attachment.objects.count()) == (["filler"], 0)
    assert anna.get(f"/v1/vacancies/{vacancy.pk}").status_code == 200
    assert saved(attach(anna, vacancy, "a.pdf", b"%PDF-1.7"))


def test_partially_written_file_is_deleted(anna, media, monkeypatch):
    """This test needs no permission to mount a file system."""

    def write_partially(self: Any, name: str, content: Any) -> str:
        (media / "recruiters").mkdir(parents=True, exist_ok=True)
        (media / name).write_bytes(content.read()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileSystemStorage, "_save", write_partially)
    response = anna.post(ADD, {"name": "Jan", "image": SimpleUploadedFile("a.png", encoded("PNG"))})
    assert (response.status_code, stored(media), Recruiter.objects.count()) == (507, [], 0)


# --- purge ---


def clean(**options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("purge", format="json", stdout=out, **options)
    return json.loads(out.getvalue())


def set_age(media: Path, **age: float) -> None:
    modified = (timezone.now() - timedelta(**age)).timestamp()
    for name in stored(media):
        os.utime(media / name, (modified, modified))


@pytest.mark.django_db
def test_orphans_are_deleted_after_a_day(media: Path) -> None:
    assert clean()["unused_files"] == []  # there is no folder yet
    brand, person = make_brand(), make_recruiter()
    for field in (brand.icon_small, brand.icon_large, person.image):
        field.save("a.png", ContentFile(encoded("PNG")))
    vacancy = make_vacancy(brand=brand, head_recruiter=person)
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    attachment = Attachment(vacancy=vacancy, name="a.pdf")
    attachment.file.save("a.pdf", ContentFile(b"%PDF-"))
    referenced = stored(media)
    assert len(referenced) == 5
    copies = [
        f"vacancies/{name}.480.webp" for name in (Path(vacancy.image.name).stem, "old", "never")
    ]
    referenced.append(copies[0])
    for name in (
        *copies,
        "vacancies/old.png",
        "attachments/x.pdf",
        "brands/b.png",
        "other/kept.txt",
        "kept.txt",
    ):
        (media / name).parent.mkdir(exist_ok=True)
        (media / name).write_bytes(b"12345")
    set_age(media, hours=23)
    assert clean()["unused_files"] == []
    set_age(media, hours=25)

    report = clean(dry_run=True)
    assert report["unused_files"] == sorted(
        [*copies[1:], "attachments/x.pdf", "brands/b.png", "vacancies/old.png"]
    )
    assert report["unused_bytes"] == 25
    assert clean()["unused_files"] == report["unused_files"]
    assert stored(media) == sorted([*referenced, "other/kept.txt", "kept.txt"])


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
    copy = publication.duplicate(vacancy=vacancy, at=now)
    vacancy.attachments.all().delete()
    vacancy.image.save("b.png", ContentFile(encoded("PNG")))  # in no version
    replaced = vacancy.image.name
    vacancy.image.save("c.png", ContentFile(encoded("PNG")))
    set_age(media, days=2)

    assert clean()["unused_files"] == [replaced]
    record(vacancy, Change.DELETED, author=None, at=now)
    for row in (vacancy, copy):
        row.delete()
    assert clean()["unused_files"] == []

    back = restore(version, author=None, at=now).vacancy
    assert sorted([back.image.name, back.attachments.get().file.name]) == first
    assert set(first) <= set(stored(media))
