"""A vacancy that takes applications, and requests that apply for it."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from applications.submissions.forms import ServedForm, submission_form
from forms_structure import operations as form_operations
from forms_structure.exchange import digest
from forms_structure.models import ConsentText, Form
from tests.factories import make_vacancy
from vacancies.models import Vacancy

PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"
CONSENT_TEXT = "I agree to the processing of my data."


def make_field(name: str, type_: str = "text", **values: Any) -> dict[str, Any]:
    defaults = {
        "name": name,
        "type": type_,
        "label": name.replace("_", " ").capitalize(),
        "required": False,
    }
    return {**defaults, "css": "col-12", **values}


def options(*values: str) -> list[dict[str, str]]:
    return [{"value": value, "label": value.capitalize()} for value in values]


STRUCTURE: list[dict[str, Any]] = [
    {
        "title": "Personal data",
        "description": "",
        "fields": [
            make_field("first_name", required=True, role="given_name"),
            make_field("last_name", required=True, role="family_name"),
            make_field("email", "email", required=True, role="email"),
            make_field("phone", "tel", role="phone"),
            make_field("birthday", "date"),
        ],
    },
    {
        "title": "Experience",
        "description": "",
        "fields": [
            make_field(
                "permit",
                "radio-group",
                options=options("yes", "no"),
                conditional=[
                    make_field("permit_from", "date", required=True, on_value="no"),
                    make_field("permit_note", "textarea", on_value="no"),
                ],
            ),
            make_field("skills", "checkbox-group", options=options("python", "sql", "css")),
            make_field("level", "range", label={"name": "language", "label": "Language"}),
            make_field("cv", "file", role="cv"),
            make_field("letter", "file"),
        ],
    },
]
VALUES = {
    "first_name": "Mia",
    "last_name": "Maes",
    "email": "Mia@Example.org",
    "privacy_consent": "1",
}


def make_form(structure: Any = STRUCTURE, **values: Any) -> Form:
    return form_operations.create(name="Form", structure=structure, **values)


def form_of(sections: list[dict[str, Any]]) -> ServedForm:
    """Return the form that serves `sections`, without a row."""
    return ServedForm(
        form=None,
        sections=sections,
        consent_text=ConsentText(),
        language="en",
        version=digest(sections),
        roles={},
        accepts_applications=True,
    )


def make_open_vacancy(form: Form | None = None, **values: Any) -> Vacancy:
    """Create a published vacancy whose form takes applications."""
    if not ConsentText.objects.exists():
        ConsentText.objects.add(
            language="en", text=CONSENT_TEXT, statement_url="https://example.org/privacy"
        )
    return make_vacancy(form=form or make_form(), **values)


def path_of(vacancy: Vacancy | int) -> str:
    return f"/v1/vacancies/{getattr(vacancy, 'pk', vacancy)}/applications"


def version_of(vacancy: Vacancy, client: Client | None = None) -> str:
    return (client or Client()).get(f"/v1/vacancies/{vacancy.pk}/form")["Form-Version"]


def served_version(vacancy: Vacancy) -> str:
    """The same, without a request. Requires `Vacancy.objects.with_form()`."""
    return submission_form(vacancy).version


def document(vacancy: Vacancy, values: Any = None, **members: Any) -> dict[str, Any]:
    return {
        "version": version_of(vacancy),
        "values": VALUES if values is None else values,
    } | members


def send(
    vacancy: Vacancy,
    values: Any = None,
    *,
    client: Client | None = None,
    headers: Any = None,
    **members: Any,
) -> Any:
    """POST a submission as JSON."""
    body = json.dumps(document(vacancy, values, **members))
    return (client or Client()).post(
        path_of(vacancy), body, "application/json", headers=headers or {}
    )


def send_files(
    vacancy: Vacancy, values: Any = None, *, headers: Any = None, members: Any = None, **files: Any
) -> Any:
    """POST a submission as multipart/form-data. `files` are (file name, content) by field name."""
    parts: dict[str, Any] = {"application": json.dumps(document(vacancy, values, **members or {}))}
    for name, (file_name, content) in files.items():
        parts[name] = SimpleUploadedFile(file_name, content)
    return Client().post(path_of(vacancy), parts, headers=headers or {})


def pointers(response: Any) -> dict[str, str]:
    """Return {pointer: keyword} of a 422."""
    assert response.status_code == 422, response.content
    return {error["pointer"]: error["keyword"] for error in response.json()["errors"]}
