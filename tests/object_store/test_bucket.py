"""Files in a bucket keep the promises of files on a disk: stored before they are acknowledged, seen
by those who may, erased, cleaned, backed up.
"""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from applications.models import Application, SubmissionFile
from applications.submissions import orphans
from jobsite import private_files
from jobsite.ops import server_checks
from jobsite.ops.backups import databases
from jobsite.ops.backups.files import BackupError
from tests.applications.makers import signed_in
from tests.applications.submissions.sending import PDF, VALUES, make_open_vacancy, send_files
from tests.applications.test_apply_page import hidden
from tests.factories import make_vacancy
from tests.jobsite.ops.conftest import elsewhere, site  # noqa: F401 - fixtures
from tests.jobsite.ops.test_restore import drill  # noqa: F401
from tests.object_store.conftest import use
from tests.servers import Swift, stub_server
from tests.vacancies.sample_files import encoded
from vacancies.media import orphans as orphans_of_media
from vacancies.models import Attachment, Recruiter

pytestmark = [
    pytest.mark.slow("starts an object store"),
    pytest.mark.django_db(transaction=True),
]
NAME = "f" * 32


def contents(swift: Swift, url: str) -> dict[str, bytes]:
    return swift.contents(url.rpartition("/")[2].partition("?")[0])


def run(*words: Any, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command(*map(str, words), format="json", stdout=out, stderr=StringIO(), **options)
    return json.loads(out.getvalue())


def superuser() -> Client:
    return signed_in(User.objects.create_superuser("root"))


def apply(**options: Any) -> Any:
    return send_files(make_open_vacancy(), VALUES | {"cv": "cv.pdf"}, cv=("cv.pdf", PDF), **options)


def with_image() -> Any:
    vacancy = make_vacancy()
    vacancy.image.save("a.png", ContentFile(encoded("PNG")))
    return vacancy


def test_submission_is_acknowledged_with_its_file_in_the_bucket(
    swift: Swift, url: str, bucket: None
) -> None:
    assert apply().status_code == 201

    row = SubmissionFile.objects.get()
    assert contents(swift, url) == {f"private/{row.path}": PDF}
    response = superuser().get(f"/admin/applications/application/files/{row.pk}/")
    assert (response.status_code, response.content) == (200, PDF)

    run("erase_applicant", email=VALUES["email"])
    assert (contents(swift, url), Application.objects.count()) == ({}, 0)


def test_files_of_vacancies_follow_their_status(swift: Swift, url: str, bucket: None) -> None:
    vacancy, client = with_image(), Client()
    attachment = Attachment(vacancy=vacancy, name="Profile.pdf")
    attachment.file.save("a.pdf", ContentFile(PDF))
    stored = contents(swift, url)
    assert sorted(stored) == sorted(
        [f"media/{vacancy.image.name}", f"media/{attachment.file.name}"]
    )

    found = client.get(vacancy.image.url)
    assert b"".join(found) == stored[f"media/{vacancy.image.name}"]
    assert (found["Content-Type"], found["Cache-Control"]) == ("image/png", "public, max-age=60")
    assert int(found["Content-Length"]) == len(stored[f"media/{vacancy.image.name}"])
    part = client.get(attachment.file.url, headers={"Range": "bytes=0-3"})
    assert (part.status_code, b"".join(part)) == (206, PDF[:4])
    same = client.get(vacancy.image.url, headers={"If-None-Match": found["ETag"]})
    assert (same.status_code, same["ETag"]) == (304, found["ETag"])

    default_storage.delete(attachment.file.name)
    assert client.get(attachment.file.url).status_code == 404
    vacancy.image.save("wide.jpg", ContentFile(encoded("JPEG", size=(800, 600))))
    copy = f"{vacancy.image.name.removesuffix('.jpg')}.480.webp"
    made = [b"".join(client.get(f"/media/{copy}")) for _ in range(2)]
    assert (made[0][8:12], made[1]) == (b"WEBP", contents(swift, url)[f"media/{copy}"])
    type(vacancy).objects.update(status="draft")
    assert (
        client.get(vacancy.image.url, headers={"If-None-Match": found["ETag"]}).status_code == 404
    )


def test_purge_deletes_what_no_row_names(
    swift: Swift, url: str, bucket: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    vacancy = with_image()
    assert apply().status_code == 201
    kept = sorted(contents(swift, url))
    private_files.write(NAME, [b"12345"])
    default_storage.save("vacancies/old.png", ContentFile(b"12345"))
    default_storage.save("other/foreign.txt", ContentFile(b"1"))
    assert run("purge")["unused_files"] == []  # they are younger than a day
    for module in (orphans_of_media, orphans):
        monkeypatch.setattr(module, "ORPHAN_AGE", timedelta(seconds=-5))

    found = run("purge")

    assert found["unused_files"] == ["vacancies/old.png", f"private/{NAME}"]
    assert found["unused_bytes"] == 10
    assert sorted(contents(swift, url)) == sorted([*kept, "media/other/foreign.txt"])
    assert b"".join(Client().get(vacancy.image.url))[:4] == b"\x89PNG"


def test_backup_is_restored_into_an_empty_bucket(
    swift: Swift,
    url: str,
    bucket: None,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    site: Any,  # noqa: F811 - a fixture
    elsewhere: Any,  # noqa: F811
    drill: None,  # noqa: F811
) -> None:
    files = contents(swift, url)
    assert len(files) > 2
    private_files.write(NAME, [b"of a submission that is not committed"])
    made = run("backup", tmp_path / "backups")
    assert (made["missing"], made["files"]) == ([], len(files))

    removed = max(files)  # a rehearsal does not bring it back
    private_files.delete([removed.removeprefix("private/")])
    assert run("rehearse_restore", made["archive"])["missing"] == []
    assert contents(swift, url).keys() == files.keys() - {removed} | {f"private/{NAME}"}

    elsewhere()
    swift.create_bucket("empty")
    use(settings, swift.files_url("empty"))

    def fail(*args: Any) -> None:
        assert swift.contents("empty") == files  # they are stored before the rows that name them
        raise BackupError("The database refuses.")

    with monkeypatch.context() as patch:
        patch.setattr(databases, "replace", fail)
        with pytest.raises(CommandError, match="refuses"):
            run("restore", made["archive"])
    assert swift.contents("empty") == {}
    run("restore", made["archive"])
    assert swift.contents("empty") == files

    changed, missing = max(files).removeprefix("private/"), min(files).removeprefix("media/")
    private_files.write(changed, [b"damaged"])
    default_storage.delete(missing)
    assert run("restore", made["archive"], force=True)["written"] == 2
    assert swift.contents("empty") == files


def test_check_writes_to_the_bucket(swift: Swift, url: str, bucket: None, settings: Any) -> None:
    def found() -> list[tuple[str | None, str]]:
        return [
            (each.id, each.msg) for each in server_checks.bucket_is_ready(databases=["default"])
        ]

    assert (found(), contents(swift, url)) == ([], {})
    wrong = url.replace(swift.secret.partition("/")[0], "wrong")
    for address, part in (
        (swift.files_url("missing"), "NoSuchBucket"),
        (wrong, "SignatureDoesNotMatch"),
    ):
        use(settings, address)
        [(number, message)] = found()
        assert (number, part in message, "wrong" in message) == ("jobsite.E055", True, False), (
            message
        )


def test_public_bucket_is_found(settings: Any) -> None:
    """Swift has no anonymous requests of the S3 protocol, and no access lists:
    a stub answers as S3 does.
    """
    pytest.importorskip("storages")
    group = "http://acs.amazonaws.com/groups/global/AllUsers"
    shape = (
        "<AccessControlPolicy><AccessControlList><Grant><Grantee><URI>%s</URI></Grantee></Grant>"
    )
    shape += "</AccessControlList></AccessControlPolicy>"
    file, access_list = f"/files/private/{NAME}", "/files?acl"
    for routes, expected in (
        ({}, False),
        ({file: (200, {"Last-Modified": "Mon, 02 Mar 2026 09:30:15 GMT"}, b"a file")}, True),
        ({access_list: (200, {}, (shape % "https://example.org/owner").encode())}, False),
        ({access_list: (200, {}, (shape % group).encode())}, True),
    ):
        with stub_server(routes) as (base, requested):
            use(settings, f"s3://key:secret@{base.removeprefix('http://')}/files?tls=off")
            assert (private_files.bucket().is_public(NAME), requested[0]) == (expected, file)


def test_dead_store_refuses_files_and_nothing_else(
    swift: Swift, url: str, bucket: None, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"
    vacancy, open_vacancy = with_image(), make_open_vacancy()
    assert apply().status_code == 201
    row, root = SubmissionFile.objects.get(), superuser()
    seen = Client().get(vacancy.image.url)
    assert b"".join(seen)[:4] == b"\x89PNG"
    page = hidden(Client().get(f"/apply/{open_vacancy.pk}").content.decode())
    swift.crash()
    try:
        client = Client()
        cv = SimpleUploadedFile("cv.pdf", PDF)
        form = {"name": "Jan", "image": SimpleUploadedFile("a.png", encoded("PNG"))}
        refused = {
            "image": client.get(vacancy.image.url),
            "submission": apply(),
            "page": client.post(f"/apply/{open_vacancy.pk}", page | VALUES | {"cv": cv}),
            "download": root.get(f"/admin/applications/application/files/{row.pk}/"),
            "upload": root.post("/admin/vacancies/recruiter/add/", form),
        }
        found = {name: (each.status_code, each["Retry-After"]) for name, each in refused.items()}
        assert found == dict.fromkeys(refused, (503, "2"))
        assert "file storage" in refused["image"].content.decode()
        assert refused["submission"]["Content-Type"] == "application/problem+json"
        assert (
            client.get(vacancy.image.url, headers={"If-None-Match": seen["ETag"]}).status_code
            == 304
        )
        values = dict(VALUES, email="other@example.org")
        without = send_files(open_vacancy, values)
        assert (without.status_code, Application.objects.count()) == (201, 2)
        assert not Recruiter.objects.filter(name="Jan").exists()
        run("erase_applicant", email=VALUES["email"])
        with pytest.raises(
            CommandError, match=r"object store does not respond.* 0 files were deleted\."
        ):
            run("purge")
        assert "A file of an applicant is left for purge: UnavailableError." in caplog.text
    finally:
        swift.start()
    assert (apply().status_code, SubmissionFile.objects.count()) == (201, 1)
    # The image, the erased file until purge runs, the new one.
    assert len(contents(swift, url)) == 3
