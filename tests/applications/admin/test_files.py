"""Downloads of applicants' files: who may open them, what is logged, and headers that keep browsers from
executing them."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from applications.models import AccessLog
from applications.submissions.files import delete_files
from tests.applications.makers import make_application, make_file, make_submission
from tests.factories import make_brand, make_vacancy

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


def accesses() -> list[tuple]:
    return list(AccessLog.objects.values_list("actor__username", "application", "action"))


def test_file_is_a_sandboxed_attachment(file, django_assert_max_num_queries) -> None:
    client = staff("view_application")
    with django_assert_max_num_queries(6):  # session, user, permissions (2), file, access log
        response = client.get(address(file))
    assert response.content == CONTENT
    assert {name: response[name] for name in (
        "Cache-Control", "Content-Disposition", "Content-Length", "Content-Security-Policy", "Content-Type",
        "Cross-Origin-Resource-Policy", "X-Content-Type-Options",
    )} == {
        "Cache-Control": "private, no-store, max-age=0, no-cache, must-revalidate",
        "Content-Disposition": "attachment; filename*=utf-8''J%C3%BCrgen%27s%20cv.pdf",
        "Content-Length": str(len(CONTENT)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": "application/pdf",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }  # fmt: skip
    assert accesses() == [("anna", file.submission.application_id, "file")]


def test_hostile_names_stay_inside_the_header(file) -> None:
    expected = {
        ("run.html", "txt"): ('attachment; filename="run.html.txt"', "text/plain; charset=utf-8"),
        ("a\r\nX-Evil: 1.png", "png"): ('attachment; filename="a__X-Evil_ 1.png"', "image/png"),
        ('a"; filename="b.exe', "pdf"): (
            'attachment; filename="a_; filename=_b.exe.pdf"', "application/pdf",
        ),
        ("../../../a.jpeg", "jpg"): ('attachment; filename="a.jpeg"', "image/jpeg"),
        ("x", "unknown"): ('attachment; filename="x.unknown"', "application/octet-stream"),
    }  # fmt: skip
    client, found = staff("view_application"), {}
    for name, kind in expected:
        response = client.get(address(make_file(file.submission, name, CONTENT, kind=kind)))
        found[name, kind] = response["Content-Disposition"], response["Content-Type"]
        assert "X-Evil" not in response
    assert found == expected


def test_file_that_is_deleted_or_of_another_brand_is_not_found_and_not_logged(file) -> None:
    response = staff("view_application", "change_application", brand="Other").get(address(file))
    assert (response.status_code, b"zyxsecret" in response.content) == (404, False)
    delete_files([file.path])
    client = staff("view_application", "change_application", name="bob")
    assert client.get(address(file)).status_code == 404
    assert client.get(f"/admin/applications/application/files/{2**70}/").status_code == 404
    assert client.post(address(file)).status_code == 405
    assert accesses() == []
