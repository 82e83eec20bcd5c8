"""Applicants' files: who may open them, what is logged, headers that keep browsers from executing
them, what the page of an application shows of them, and ZIP files.
"""

import re
from io import BytesIO
from typing import Any
from zipfile import ZipFile
from zlib import crc32

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from applications.models import AccessLog
from applications.submissions import archive
from applications.submissions.files import delete_files
from tests.applications.makers import make_application, make_file, make_submission
from tests.applications.submissions.test_extract import docx
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of
from tests.vacancies.sample_files import encoded

pytestmark = pytest.mark.django_db

CONTENT = b"%PDF-1.7 zyxsecret"


def staff(*permissions: str, brand: str = "Acme", name: str = "anna") -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    user.brands.add(make_brand(brand))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def file() -> Any:
    application = make_application(vacancy=make_vacancy(brand=make_brand("Acme")))
    return make_file(make_submission(application, {"cv": "cv.pdf"}), "Jürgen's cv.pdf", CONTENT)


def address(file: Any) -> str:
    return f"/admin/applications/application/files/{file.pk}/"


def shown(file: Any) -> str:
    return f"{address(file)}shown/"


def accesses() -> list[tuple]:
    return list(AccessLog.objects.values_list("actor__username", "application", "action"))


def test_file_is_a_sandboxed_attachment(file, django_assert_max_num_queries) -> None:
    client = staff("view_application")
    with django_assert_max_num_queries(
        7
    ):  # session, user, permissions (2), teams, file, access log
        response = client.get(address(file))
    assert response.content == CONTENT
    assert {
        name: response[name]
        for name in (
            "Cache-Control",
            "Content-Disposition",
            "Content-Length",
            "Content-Security-Policy",
            "Content-Type",
            "Cross-Origin-Resource-Policy",
            "X-Content-Type-Options",
        )
    } == {
        "Cache-Control": "private, no-store, max-age=0, no-cache, must-revalidate",
        "Content-Disposition": "attachment; filename*=utf-8''J%C3%BCrgen%27s%20cv.pdf",
        "Content-Length": str(len(CONTENT)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": "application/pdf",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    assert accesses() == [("anna", file.submission.application_id, "file")]


def test_hostile_names_stay_inside_the_header(file) -> None:
    expected = {
        ("run.html", "txt"): ('attachment; filename="run.html.txt"', "text/plain; charset=utf-8"),
        ("a\r\nX-Evil: 1.png", "png"): ('attachment; filename="a__X-Evil_ 1.png"', "image/png"),
        ('a"; filename="b.exe', "pdf"): (
            'attachment; filename="a_; filename=_b.exe.pdf"',
            "application/pdf",
        ),
        ("../../../a.jpeg", "jpg"): ('attachment; filename="a.jpeg"', "image/jpeg"),
        ("x", "unknown"): ('attachment; filename="x.unknown"', "application/octet-stream"),
    }
    client, found = staff("view_application"), {}
    for name, kind in expected:
        response = client.get(address(make_file(file.submission, name, CONTENT, kind=kind)))
        found[name, kind] = response["Content-Disposition"], response["Content-Type"]
        assert "X-Evil" not in response
    assert found == expected


def test_file_that_is_deleted_or_of_another_brand_is_not_found_and_not_logged(file) -> None:
    other = staff("view_application", "change_application", brand="Other")
    client = staff("view_application", "change_application", name="bob")
    for url in (address(file), shown(file)):
        response = other.get(url)
        assert (response.status_code, b"zyxsecret" in response.content) == (404, False)
        assert client.post(url).status_code == 405
        assert client.get(url.replace(f"/{file.pk}/", f"/{2**70}/")).status_code == 404
    delete_files([file.path])
    assert [client.get(url).status_code for url in (address(file), shown(file))] == [404, 404]
    assert accesses() == []


def test_page_shows_pdf_and_images_as_they_are_and_documents_as_text(file) -> None:
    document = docx("<w:p><w:r><w:t>&lt;b&gt;</w:t></w:r></w:p>")
    picture = encoded("PNG", size=(30, 30))
    for name, content, expected in (
        ("cv.pdf", CONTENT, ("application/pdf", CONTENT)),
        ("cv.png", picture, ("image/png", picture)),
        ("cv.docx", document, ("text/plain; charset=utf-8", b"<b>")),
        ("cv.txt", b"\xef\xbb\xbfMia", ("text/plain; charset=utf-8", b"Mia")),
    ):
        row = make_file(file.submission, name, content, kind=name[3:])
        client = staff("view_application", name=name)
        response = client.get(shown(row))
        assert (response["Content-Type"], response.content) == expected, name
        assert response["Content-Disposition"] == "attachment", name
        assert response["Content-Security-Policy"] == "default-src 'none'; sandbox", name
        assert accesses()[0] == (name, file.submission.application_id, "file")


def test_page_without_scripts_has_links_and_opens_no_file(file) -> None:
    page = f"/admin/applications/application/{file.submission.application_id}/change/"
    text = staff("view_application").get(page).content.decode()
    assert re.findall(r'<div class="tabs-list" role="tablist"[^>]* hidden>', text)
    assert re.findall(rf'<div class="application-read" id="read-{file.pk}" hidden\s', text)
    assert f'<a class="text-link" href="{address(file)}" download>' in text
    assert [action for *_, action in accesses()] == ["view"]


def test_what_cannot_be_shown_says_why(file, monkeypatch) -> None:
    monkeypatch.setattr("applications.admin.page.files.PIXELS_MAX", 899)
    small = encoded("PNG", size=(30, 30))
    header = b"IHDR" + (60_000).to_bytes(4) * 2 + small[24:29]
    huge = small[:12] + header + crc32(header).to_bytes(4) + small[33:]
    client = staff("view_application")
    for name, content, expected in (
        ("cv.docx", b"PK damaged", "This document is damaged or encrypted."),
        ("cv.txt", b"x" * 300_001, "This document is too long to be shown here."),
        ("cv.png", encoded("PNG", size=(30, 30)), "This image has more than 50 megapixels."),
        ("cv.png", huge, "This image has more than 50 megapixels."),
        ("cv.png", CONTENT, "This image is damaged."),
    ):
        response = client.get(shown(make_file(file.submission, name, content, kind=name[3:])))
        assert (response.status_code, response.content.decode()) == (422, expected), name


def test_frame_for_pdfs_has_no_origin_and_no_data(file) -> None:
    client = staff("view_application")
    response = client.get("/admin/applications/application/viewer/")
    static = "http://testserver/static/"
    assert response["Content-Security-Policy"].split("; ") == [
        "sandbox allow-scripts",
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        f"script-src {static} 'wasm-unsafe-eval'",
        "worker-src blob:",
        f"connect-src {static}",
        f"style-src {static}",
        f"font-src {static} blob: data:",
        "img-src blob: data:",
    ]
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert not response.context["request"].GET
    assert "anna" not in response.content.decode()


def test_frame_knows_each_address_of_the_site(settings) -> None:
    settings.PUBLIC_BASE_URL = "https://jobs.example.com:8443"
    policy = staff("view_application").get("/admin/applications/application/viewer/")[
        "Content-Security-Policy"
    ]
    assert "style-src http://testserver/static/ https://jobs.example.com:8443/static/;" in policy


# --- ZIP files ---------------------------------------------------------------------------------


def downloaded(client: Client, *pks: int) -> Any:
    data = {"action": "download_files", "_selected_action": pks}
    return client.post("/admin/applications/application/", data)


def test_zip_has_a_folder_for_each_application(file) -> None:
    first = file.submission.application
    type(first).objects.filter(pk=first.pk).update(given_name="An/..", family_name="\u202ePeeters")
    for name in ("CV.pdf", "cv.PDF", "../../x\u202efdp.exe"):
        make_file(file.submission, name, name.encode(), field="other")
    gone = make_file(file.submission, "gone.pdf", b"", field="gone")
    second = make_application(vacancy=first.vacancy, given_name="Bo", family_name="Maes")
    make_file(make_submission(second, {}), "CV.pdf", b"of Bo")
    foreign = make_application(vacancy=make_vacancy(brand=make_brand("Other")))
    make_file(make_submission(foreign, {}), "x.pdf", b"")
    delete_files([gone.path])
    client = staff("view_application", "change_application", "export_application")
    everything = [first.pk, second.pk, foreign.pk]

    response = downloaded(client, *everything)
    content = b"".join(response.streaming_content)

    with ZipFile(BytesIO(content)) as packed:
        assert packed.testzip() is None
        folder, other = f"{first.pk:04d} _Peeters An", f"{second.pk:04d} Maes Bo"
        assert {each.filename: packed.read(each) for each in packed.infolist()} == {
            f"{folder}/Jürgen's cv.pdf": CONTENT,
            f"{folder}/CV.pdf": b"CV.pdf",
            f"{folder}/cv (2).PDF": b"cv.PDF",
            f"{folder}/x_fdp.exe.pdf": "../../x\u202efdp.exe".encode(),
            f"{other}/CV.pdf": b"of Bo",
            "MISSING.txt": f"{folder}/gone.pdf\r\n".encode(),
        }
        # Sizes are before the content.
        assert {each.flag_bits & 0x08 for each in packed.infolist()} == {0}
    assert (response["Content-Type"], response["Content-Encoding"]) == (
        "application/zip",
        "identity",
    )
    assert accesses() == [("anna", first.pk, "file")] * 5 + [("anna", second.pk, "file")]


def test_zip_has_limits(file, monkeypatch) -> None:
    client = staff("view_application", "view_vacancy", "export_application")
    pk = file.submission.application_id
    without = make_application(vacancy=file.submission.application.vacancy)
    downloaded(client, without.pk)
    monkeypatch.setattr(archive, "FILES_BYTES_MAX", 1)
    downloaded(client, pk)
    monkeypatch.setattr(archive, "APPLICATIONS_MAX", 0)
    assert messages_of(downloaded(client, pk)) == [
        "The selected applications have no files.",
        "The files have 18\xa0bytes, a ZIP file at most 1\xa0byte: select fewer applications.",
        "Select at most 0 applications.",
    ]
    downloaded(staff("view_application", name="bob"), pk)  # without the permission
    assert accesses() == []
