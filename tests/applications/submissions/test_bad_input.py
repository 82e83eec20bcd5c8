"""Bad submissions: each gets a 4xx that says what is wrong, and stores nothing (spec, "Responses to
bad input").
"""

import json
from io import BytesIO
from typing import Any

import pytest
from django.test import Client

from applications.api import bodies
from applications.models import (
    Application,
    FormSnapshot,
    IdempotencyKey,
    Message,
    Submission,
    SubmissionFile,
)
from tests.applications.submissions.sending import (
    PDF,
    VALUES,
    document,
    make_field,
    make_form,
    make_open_vacancy,
    path_of,
    pointers,
    send,
    send_files,
    version_of,
)

pytestmark = pytest.mark.django_db

NUL = chr(0)


@pytest.fixture
def vacancy(at):
    return make_open_vacancy()


@pytest.fixture(autouse=True)
def _nothing_is_stored(db, settings):
    yield
    models = (Application, Submission, SubmissionFile, FormSnapshot, IdempotencyKey, Message)
    assert [model.objects.count() for model in models] == [0] * len(models)
    assert [path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()] == []


def post(vacancy: Any, body: bytes, content_type: str = "application/json", **headers: str) -> Any:
    return Client().generic("POST", path_of(vacancy), body, content_type, headers=headers)


def post_stream(vacancy: Any, content_type: str = "application/json", **environ: Any) -> Any:
    return Client().generic("POST", path_of(vacancy), CONTENT_TYPE=content_type, **environ)


def multipart(*parts: tuple[str, bytes], end: bytes = b"--B--\r\n") -> bytes:
    """Return a body of parts (header parameters, content) with the boundary B."""
    lines = [
        b"--B\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % (parameters.encode(), content)
        for parameters, content in parts
    ]
    return b"".join(lines) + end


def detail(response: Any, status: int) -> str:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response["Cache-Control"] == "no-store"
    return response.json()["detail"]


def application_part(vacancy: Any, values: Any = None) -> tuple[str, bytes]:
    return 'name="application"', json.dumps(document(vacancy, values)).encode()


FORM = "multipart/form-data; boundary=B"


# --- 400 ---


def test_malformed_json_is_a_400(vacancy):
    bodies = (
        b" ",
        b"{",
        b"nothing",
        b'{"version": "1", "values": {}',
        b"\xff\xfe{}",
        '{"a": "\N{BOM}'.encode(),
        b'{"version": "1", "version": "2", "values": {}}',
        b'{"version": NaN, "values": {}}',
        b"[]",
        b'"text"',
        b'{"version": "1", "values": {"first_name": "\\u0000"}}',
        b'{"version": "1", "values": {"\\u0000": "a"}}',
        b'{"version": "\\ud800", "values": {}}',
        b'{"a": ' + b"[" * 5_000,
        b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"a": ' + b"9" * 5_000 + b"}",
    )
    statuses = {body[:60]: post(vacancy, body).status_code for body in bodies}

    assert statuses == dict.fromkeys(statuses, 400)
    assert detail(post(vacancy, bodies[0]), 400)


def test_malformed_multipart_is_a_400(vacancy):
    part = application_part(vacancy)
    whole = multipart(part)
    cases = {
        "empty": b" ",
        "no end": multipart(part, end=b""),
        "cut off in the end": whole[:-3],
        "cut off in the content": whole[:-20],
        "cut off in a header": whole[:20],
        "another boundary": whole.replace(b"--B", b"--C"),
        "a preamble": b"Hello\r\n" + whole,
        "no document": multipart(('name="cv"; filename="cv.pdf"', PDF)),
        "no name": multipart(part, ('filename="cv.pdf"', PDF)),
        "repeated": multipart(part, part),
        "repeated file": multipart(part, *[('name="cv"; filename="cv.pdf"', PDF)] * 2),
        "unknown part": multipart(part, ('name="photo"; filename="a.pdf"', PDF)),
        "file of no field": multipart(part, ('name="files[]"; filename="a.pdf"', PDF)),
        "part of a field without files": multipart(part, ('name="first_name"', b"Mia")),
        "NUL in a file name": multipart(part, (f'name="cv"; filename="a{NUL}.pdf"', PDF)),
        "NUL in a name": multipart(part, (f'name="c{NUL}v"; filename="a.pdf"', PDF)),
        "no UTF-8": whole.replace(b"application", b"\xff"),
        "JSON is no JSON": multipart(('name="application"', b"{")),
        "encoded": whole.replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1),
        "a long header": multipart((f'name="{"a" * 100_000}"', b"")),
        "many parts": multipart(*((f'name="a{number}"', b"") for number in range(1_100))),
    }
    statuses = {kind: post(vacancy, body, FORM).status_code for kind, body in cases.items()}

    assert statuses == dict.fromkeys(cases, 400)
    # Like the end of the body.
    body = multipart(part, ('name="photo"; filename="a"', b"--B--\n--B"))
    assert (
        detail(post(vacancy, body, FORM), 400)
        == 'The part "photo" is not a file field of the form.'
    )
    for name, text in (
        ("repeated file", 'The part "cv" of the body is repeated.'),
        (
            "file of no field",
            'The file name "a.pdf" of a part files[] is the value of no file field.',
        ),
        ("encoded", 'Send the part "application" without a Content-Transfer-Encoding.'),
    ):
        assert detail(post(vacancy, cases[name], FORM), 400) == text


def test_compressed_body_is_a_415(vacancy):
    body = json.dumps(document(vacancy)).encode()
    for encoding in ("gzip", "BR"):
        headers = {"Content-Encoding": encoding}
        answer = Client().post(path_of(vacancy), body, "application/json", headers=headers)
        assert "Content-Encoding" in detail(answer, 415)


def test_missing_boundary_and_malformed_key_are_a_400(vacancy):
    body, form = multipart(application_part(vacancy)), "multipart/form-data"
    for content_type in (form, f"{form}; boundary=", f"{FORM}\N{EURO SIGN}"):
        assert "boundary" in detail(post(vacancy, body, content_type), 400), content_type
    for key in ("", "a" * 256, "a b", "é", "a\x7f"):
        assert "Idempotency-Key" in detail(send(vacancy, headers={"Idempotency-Key": key}), 400), (
            key
        )


def test_body_that_ends_early_is_a_400(vacancy):
    """The client disconnected: gunicorn returns fewer bytes than Content-Length says, or fails."""
    body = json.dumps(document(vacancy)).encode()
    lost = {"CONTENT_LENGTH": str(len(body) + 1), "wsgi.input": BytesIO(body)}
    assert "shorter" in detail(post_stream(vacancy, **lost), 400)

    class Broken(BytesIO):
        def read(self, size: int) -> bytes:
            raise ConnectionResetError

    broken = {"wsgi.input": Broken(), "wsgi.input_terminated": True}
    assert "shorter" in detail(post_stream(vacancy, **broken), 400)


# --- 405, 413, 415 ---


def test_other_methods_are_a_405_and_other_content_types_a_415(client, vacancy):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.generic(method, path_of(vacancy))
        assert (bool(detail(response, 405)), response["Allow"]) == (True, "POST, OPTIONS"), method
    allowed = client.options(path_of(vacancy))
    assert (allowed.status_code, allowed["Allow"]) == (204, "POST, OPTIONS")
    assert client.head(path_of(vacancy)).status_code == 405
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonp",
    ):
        assert "multipart/form-data" in detail(post(vacancy, b"{}", content_type), 415), (
            content_type
        )


def test_body_over_25_mb_is_a_413_before_it_is_read(vacancy):
    class Unread(BytesIO):
        def read(self, size: int) -> bytes:
            raise AssertionError("The body was read.")

    length = {"CONTENT_LENGTH": str(bodies.BODY_BYTES_MAX + 1), "wsgi.input": Unread()}
    assert detail(post_stream(vacancy, **length), 413) == bodies.TOO_LARGE
    memory = b'{"a": [' + b"[]," * 300_000 + b"[]]}"  # would fill the memory
    assert detail(post(vacancy, memory), 413)


@pytest.mark.parametrize("content_type", ["application/json", FORM])
def test_chunked_body_over_25_mb_is_a_413(vacancy, content_type, monkeypatch):
    monkeypatch.setattr(bodies, "BODY_BYTES_MAX", 100_000)
    read = []

    class Endless(BytesIO):
        def read(self, size: int) -> bytes:
            read.append(size)
            return (b"--B\r\n" if len(read) == 1 else b" ") * size

    chunked = {"wsgi.input": Endless(), "wsgi.input_terminated": True}
    assert post_stream(vacancy, content_type, **chunked).status_code in (400, 413)
    assert sum(read) < 300_000


def test_files_of_bad_types_and_sizes(vacancy):
    values = VALUES | {"cv": "cv.pdf"}
    svg = send_files(
        vacancy, values, cv=("cv.pdf", b'<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    )
    large = send_files(vacancy, values, cv=("cv.pdf", PDF + b" " * 10 * 1024 * 1024))

    assert (svg.status_code, large.status_code) == (415, 413)
    for response in (svg, large):
        [error] = response.json()["errors"]
        assert (error["pointer"], error["keyword"]) == ("/values/cv", "file")
        assert response["Content-Language"] == "en"


# --- 422 ---


def test_all_errors_are_reported_at_once(vacancy):
    values = {
        "first_name": " ",
        "email": "mia",
        "phone": "abc",
        "birthday": "2026-02-31",
        "permit": "maybe",
        "skills": ["python", "perl", "python"],
        "level": "7",
        "a/b~c": "x",
    }
    response = send(vacancy, values)

    required, choose = "This field is required.", "Choose one of the options."
    errors = [
        ("first_name", "pattern", required),
        ("last_name", "required", required),
        ("email", "pattern", "Enter a valid email address."),
        ("phone", "pattern", "Enter a valid telephone number."),
        ("birthday", "pattern", "Enter an existing date, such as 2027-01-31."),
        ("permit", "oneOf", choose),
        ("skills", "uniqueItems", "Choose each option once."),
        ("skills/1", "oneOf", choose),
        ("language", "dependentRequired", required),
        ("level", "oneOf", choose),
        ("privacy_consent", "required", required),
        ("a~1b~0c", "unevaluatedProperties", "The form does not have this field."),
    ]
    assert response.json() == {
        "type": "about:blank",
        "title": "Unprocessable Content",
        "status": 422,
        "detail": "The submission has 12 errors.",
        "instance": path_of(vacancy),
        "errors": [
            {"pointer": f"/values/{name}", "keyword": keyword, "detail": detail}
            for name, keyword, detail in errors
        ],
    }
    assert (response["Content-Language"], response["Cache-Control"]) == ("en", "no-store")
    response = send(vacancy, VALUES | {f"field{number}": "x" for number in range(50_000)})
    assert len(response.json()["errors"]) == 100
    response = send(
        make_open_vacancy(make_form(language="nl")), {}, headers={"Accept-Language": "fr"}
    )
    assert (response.status_code, response["Content-Language"]) == (422, "nl")


def test_invalid_values_are_a_422(vacancy):
    version, wrong = version_of(vacancy), []
    for values, expected in (
        ({"first_name": 1}, {"/values/first_name": "type"}),
        ({"first_name": "a" * 201}, {"/values/first_name": "maxLength"}),
        ({"email": "mia@example.org\r\nBcc: x@example.org"}, {"/values/email": "pattern"}),
        ({"phone": "1"}, {"/values/phone": "minLength"}),
        ({"skills": "python"}, {"/values/skills": "type"}),
        ({"skills": []}, {"/values/skills": "minItems"}),
        (
            {"skills": [[]] * 50_000},
            {f"/values/skills/{n}": "type" for n in range(4)} | {"/values/skills": "uniqueItems"},
        ),
        ({"permit": "no"}, {"/values/permit_from": "required"}),
        (
            {"permit": "yes", "permit_from": "2026-05-01"},
            {"/values/permit_from": "unevaluatedProperties"},
        ),
        ({"permit_note": "hidden"}, {"/values/permit_note": "unevaluatedProperties"}),
        ({"language": "Frisian"}, {"/values/level": "dependentRequired"}),
        ({"privacy_consent": "0"}, {"/values/privacy_consent": "enum"}),
        ({"contact_me_by_fax": "yes"}, {"/values/contact_me_by_fax": "unevaluatedProperties"}),
        ({"cv": "cv.pdf"}, {"/values/cv": "required"}),
    ):
        response = post(
            vacancy, json.dumps({"version": version, "values": VALUES | values}).encode()
        )
        if pointers(response) != expected or "form_changed" in response.json():
            wrong.append((repr(values)[:60], pointers(response), expected))
    assert wrong == []


def test_files_and_their_names_belong_together(vacancy):
    unnamed = send_files(vacancy, VALUES, cv=("cv.pdf", PDF))
    other = send_files(vacancy, VALUES | {"cv": "cv.pdf"}, letter=("letter.pdf", PDF))

    assert pointers(unnamed) == {"/values/cv": "required"}
    assert pointers(other) == {"/values/cv": "required", "/values/letter": "required"}


def test_file_of_a_hidden_field_is_a_422(at):
    owner = make_field(
        "has_scan", "checkbox", conditional=[make_field("scan", "file", on_value="1")]
    )
    email = make_field("email", "email", required=True, role="email")
    vacancy = make_open_vacancy(
        make_form([{"title": "", "description": "", "fields": [email, owner]}])
    )
    values = {"email": "mia@example.org", "privacy_consent": "1"}

    assert pointers(send_files(vacancy, values, scan=("a.pdf", PDF))) == {
        "/values/scan": "unevaluatedProperties"
    }


def test_invalid_members_of_the_document_are_a_422(vacancy):
    valid = document(vacancy)
    for members, expected in (
        ({"version": 1}, {"/version": "type"}),
        ({"values": []}, {"/values": "type"}),
        ({"source": 1}, {"/source": "type"}),
        ({"source": "a" * 201}, {"/source": "maxLength"}),
        ({"proof": {}}, {"/proof": "type"}),
        ({"vaules": {}}, {"/vaules": "additionalProperties"}),
    ):
        assert pointers(post(vacancy, json.dumps(valid | members).encode())) == expected, members
    assert pointers(post(vacancy, b"{}")) == {"/version": "required", "/values": "required"}
