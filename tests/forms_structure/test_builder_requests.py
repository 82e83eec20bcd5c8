"""The server side of the form builder: saving, checking, copying, versions."""

import json
from copy import deepcopy

import pytest
from django.contrib.admin.models import LogEntry
from pytest_django.asserts import assertContains, assertNotContains

from forms_structure import operations
from forms_structure.models import Form
from forms_structure.outline import difference
from tests.factories import make_brand, make_vacancy
from tests.forms_structure.builder import LIST, NAME, OTHER, STRUCTURE, ask, recruiter, save
from tests.forms_structure.strategies import section, text_field
from tests.messages import messages_of
from tests.steps import steps

pytestmark = pytest.mark.django_db


# --- saving ---


def test_save_returns_the_stored_form(anna, form):
    wild = deepcopy(OTHER)
    wild[0]["description"] = "<p onclick='x()'>Hi</p><script>y()</script>"

    status, answer = save(anna, form, wild, name=" Engineers ", language="nl")

    form.refresh_from_db()
    stored = OTHER[0] | {"description": "<p>Hi</p>"}
    shown = {
        "id": form.pk,
        "name": "Engineers",
        "language": "nl",
        "structure": [stored],
        "revision": 2,
    }
    use = {"total": 0, "published": 0, "some": []}
    assert (status, answer) == (
        200,
        {"form": shown | {"is_default": False}, "use": use, "frozen": []},
    )
    assert (form.name, form.language, form.structure, form.revision) == (
        "Engineers",
        "nl",
        [stored],
        2,
    )
    assert form.snapshots.first().author.username == "anna"
    again = save(anna, form, [stored])[1]  # no change
    assert again["form"]["revision"] == 2
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["Version 2."]


def test_save_reports_the_path_of_each_error(anna, form):
    operations.create(name="Taken", structure=[])
    language = "Select a valid choice. ja is not one of the available choices."
    twice = "'first_name' is also the name of sections.0.fields.0.name."
    cases = (
        ({"name": ""}, {"name": "This field is required."}),
        ({"name": "Taken"}, {"name": "Form with this Name already exists."}),
        ({"name": "N\0"}, {"name": "Null characters are not allowed."}),
        ({"language": "ja"}, {"language": language}),
        ({"structure": None}, {"sections": "Must be a list; received None."}),
        (
            {"structure": [STRUCTURE[0] | {"fields": [NAME, NAME]}]},
            {"sections.0.fields.1.name": twice},
        ),
    )

    reported = [(question, save(anna, form, **question)) for question, _ in cases]

    assert reported == [(question, (400, {"faults": faults})) for question, faults in cases]
    assert Form.objects.filter(pk=form.pk).values_list("name", "revision").get() == ("Standard", 1)


def test_concurrent_save_is_a_conflict(anna, form):
    save(recruiter("view_form", "change_form", name="bart"), form)
    when = f"{Form.objects.get().updated_at:%-d %b %Y, %H:%M}"
    assert save(anna, form, []) == (409, {"conflict": {"who": "bart", "when": when, "revision": 2}})
    for revision in (None, "2", 0, -1, 3, [2], {}):
        assert (revision, save(anna, form, revision=revision)[0]) == (revision, 409)
    assert Form.objects.get().structure == OTHER


def test_published_names_are_removed_only_if_listed_as_lost(anna, form):
    vacancy = make_vacancy(title="Nurse", form=form)
    row = {"label": "Nurse", "url": f"/admin/vacancies/vacancy/{vacancy.pk}/change/"}
    use = {"total": 1, "published": 1, "some": [row]}

    assert save(anna, form) == (409, {"lost": ["first_name"], "use": use})
    malformed = ("first_name", [["first_name"]], {}, 7, None, [None])
    assert [save(anna, form, lost=lost)[0] for lost in malformed] == [409] * 6
    status, answer = save(anna, form, lost=["first_name"])
    assert (status, answer["use"], answer["frozen"]) == (200, use, ["last_name"])

    form.refresh_from_db()
    vacancy.status = "draft"  # drafts may lose names
    vacancy.save()
    assert save(anna, form, STRUCTURE)[0] == 200


def test_request_that_is_no_object_is_refused(anna, form):
    def send(view, body):
        answer = anna.post(f"{LIST}{form.pk}/{view}/", body, content_type="application/json")
        return answer.status_code, answer.json()

    bodies = ("", "[]", "7", "{", '{"name": "\\ud800"}', "[" * 100_000, b"\xff\xfe")
    cases = [("save", body) for body in bodies] + [
        (view, "[]") for view in ("check", "copy", "extend")
    ]
    refused = (400, {"faults": {"": "Send an object as JSON."}})
    assert [(*case, send(*case)) for case in cases] == [(*case, refused) for case in cases]

    make_vacancy(form=form)
    assert save(anna, form, json.loads('{"a": ' * 600 + "{}" + "}" * 600))[0] == 400


# --- checking, copying, extending, exporting ---


def test_check_returns_the_public_schema(anna, client, form):
    make_vacancy(pk=9, form=form)
    save(anna, form, OTHER, lost=["first_name"])

    status, answer = ask(anna, form, "check", structure=OTHER, language="en")

    served = client.get("/v1/vacancies/9/form/schema").json()["data"]
    assert (status, answer["version"]) == (200, served["version"])
    assert answer["schema"] == served["schema"] | {"$id": f"{LIST}{form.pk}/check/"}


def test_check_warns_about_a_form_that_cannot_accept_applications(anna, form):
    mail = text_field("mail", type="email", role="email", required=True)
    warning = (
        "Nobody can apply with this form yet: it needs a required field for the e-mail address of "
        "the applicant."
    )
    more = operations.create(name="More", structure=[], extends=form)

    def warning_of(each, field):
        return ask(anna, each, "check", structure=[section(field)])[1]["warning"]

    warnings = [warning_of(form, text_field("a")), warning_of(form, mail), warning_of(more, mail)]

    assert warnings == [warning, "", ""]
    pay = text_field("pay", label="Current salary")
    assert warning_of(form, pay) == (
        f"{warning} These fields seem to ask what the applicant earns or earned: “Current "
        "salary”. Employers in the European Union may not ask this (Directive (EU) 2023/970, "
        "Article 5). Ask for the expected pay instead."
    )
    assert save(anna, form, [section(mail, pay)])[0] == 200


def test_check_includes_the_names_of_the_extended_form(anna, form):
    more = operations.create(name="More", structure=[], extends=form)

    status, answer = ask(anna, more, "check", structure=STRUCTURE)
    assert (status, list(answer["faults"])) == (400, ["sections.0.fields.0.name"])


def test_copy_for_a_vacancy_includes_the_edits(anna, form):
    vacancy = make_vacancy(title="Nurse", form=form)

    status, answer = ask(anna, form, "copy", structure=OTHER, **{"for": vacancy.pk})

    vacancy.refresh_from_db()
    made = vacancy.form
    assert (status, answer) == (200, {"url": f"{LIST}{made.pk}/change/?for={vacancy.pk}"})
    assert (made.name, made.structure) == ("Standard for Nurse", OTHER)
    assert Form.objects.get(pk=form.pk).structure == STRUCTURE

    status, answer = ask(anna, form, "copy")
    made = Form.objects.get(name="Copy of Standard")
    assert (status, answer) == (200, {"url": f"{LIST}{made.pk}/change/"})
    assert made.structure == STRUCTURE


def test_extension_for_a_vacancy_follows_the_form(anna, client, form):
    vacancy = make_vacancy(title="Nurse", brand=make_brand("Acme", form=form))

    status, answer = ask(anna, form, "extend", **{"for": str(vacancy.pk)})

    vacancy.refresh_from_db()
    assert (status, answer) == (200, {"url": f"{LIST}{vacancy.form_id}/change/?for={vacancy.pk}"})
    assert (vacancy.form.extends, vacancy.form.structure) == (form, [])
    assert ask(anna, vacancy.form, "extend")[0] == 400


def test_copy_for_an_unknown_vacancy_is_refused(anna, form):
    refused = {"faults": {"for": "This vacancy does not exist, or you do not have access to it."}}
    for key in ("x", -1, "1e3", 99, "9" * 40, [], "²", ""):
        assert (key, ask(anna, form, "copy", **{"for": key})) == (key, (400, refused))
    assert Form.objects.count() == 1
    assert anna.get(f"{LIST}{form.pk}/change/", {"for": "9" * 40}).status_code == 200


def test_titles_of_vacancies_need_the_view_permission(form):
    vacancy = make_vacancy(title="Zyxsecret", form=form, status="draft", publish_from=None)
    client = recruiter("view_form", "add_form", "change_form")

    page = client.get(f"{LIST}{form.pk}/change/", {"for": vacancy.pk})

    assertContains(page, '"total": 1')
    assertNotContains(page, "Zyxsecret")
    assert ask(client, form, "copy", **{"for": vacancy.pk})[0] == 400
    assertNotContains(client.get(f"{LIST}{form.pk}/delete/"), "Zyxsecret", status_code=403)


def test_export_is_a_file_in_the_format_of_the_api(anna, client, form):
    make_vacancy(pk=9, form=form)

    response = anna.get(f"{LIST}{form.pk}/export/")

    assert response["Content-Disposition"] == 'attachment; filename="standard.json"'
    assert response.json() == client.get("/v1/vacancies/9/form").json()


# --- versions ---


def restore(client, form, **posted):
    return client.post(f"{LIST}{form.pk}/restore/", {"revision": 1, "seen": form.revision} | posted)


def test_versions_show_who_changed_what_and_can_be_restored(anna, form):
    save(anna, form, language="nl")
    form.refresh_from_db()

    page = anna.get(f"{LIST}{form.pk}/history/")
    for text in ("First name [first_name]: short text, required, half", "Language: Dutch.", "anna"):
        assertContains(page, text)
    revisions = ("", "0", "99", "x", "²", "9" * 30, "9" * 5_000)
    assert [restore(anna, form, revision=revision).status_code for revision in revisions] == [
        404
    ] * 7
    assert anna.get(f"{LIST}{form.pk}/restore/", {"revision": 1}).status_code == 404
    [message] = messages_of(restore(anna, form, seen=1))
    assert "someone else saved the form in the meantime" in message
    assert Form.objects.get().structure == OTHER

    restore(anna, form)
    form.refresh_from_db()
    assert (form.structure, form.language, form.revision) == (STRUCTURE, "en", 3)
    assert form.snapshots.first().origin == "version 1 restored"


def test_restore_confirms_before_published_vacancies_lose_names(anna, form):
    save(anna, form)
    form.refresh_from_db()
    make_vacancy(form=form)

    assertContains(restore(anna, form), "websites use to send answers: last_name.")
    assert Form.objects.get().structure == OTHER

    restore(anna, form, lost=["last_name"])
    assert Form.objects.get().structure == STRUCTURE


def test_work_of_a_comparison_is_proportional_to_the_lines():
    """Also if every second line differs."""

    def work(count):
        fields = [
            NAME
            | {
                "type": "select",
                "options": [{"value": f"{n % 2 and text}{n}", "label": "x"} for n in range(count)],
            }
            for text in ("a", "b")
        ]
        return steps(difference, *([section(field)] for field in fields))

    assert work(400) < 3 * work(200)


@pytest.mark.slow("compares 8,000 options")
def test_large_forms_are_compared_fast():
    """Repeated texts must not make the comparison quadratic: 400 fields, 8,000 options."""
    options = [{"value": str(n), "label": f"Option {n}"} for n in range(20)]
    field = NAME | {"type": "select", "options": options}
    many = [field | {"name": f"f{n}", "required": bool(n % 2)} for n in range(400)]
    other = [field | {"required": not field["required"]} for field in many]

    lines = difference([section(*many)], [section(*other)])

    assert [line for line in lines if line[0] in "+-"][:2] == [
        ("-", "  First name [f0]: drop-down list, optional, half"),
        ("+", "  First name [f0]: drop-down list, required, half"),
    ]
    assert len(lines) < 3_000  # what changed with a little around it, not 8,000 options
