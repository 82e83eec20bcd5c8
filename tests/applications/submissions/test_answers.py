"""The values of a submission with the labels of its form."""

import pytest
from django.utils import translation

from applications.models import Submission
from applications.submissions.answers import Answer, Section, answers
from tests.applications.makers import make_application, make_file, make_submission

pytestmark = pytest.mark.django_db

VALUES = {
    "first_name": "Mia",
    "email": "mia@example.org",
    "experience": "yes",
    "where": "Here.\nAnd there.",
    "cv": "cv.pdf",
    "privacy_consent": "1",
}


def submit(values, sections=None):
    return make_submission(make_application(), values, sections)


def texts(submission):
    return [
        (section.title, {each.label: each.values for each in section.answers})
        for section in answers(submission)
    ]


def test_answers_have_labels_options_and_files_in_the_order_of_the_form(
    django_assert_max_num_queries,
):
    submission = submit(VALUES)
    file = make_file(submission, "Mia's CV.pdf")

    with translation.override("nl"), django_assert_max_num_queries(3):
        found = answers(Submission.objects.get(pk=submission.pk))
    personal = [
        Answer("first_name", "First name", ["Mia"]),
        Answer("email", "E-mail address", ["mia@example.org"]),
        Answer("phone", "Telephone number"),
    ]
    others = [
        Answer("experience", "Do you have experience?", ["Yes, I have"]),
        Answer("where", "Where?", ["Here.\nAnd there."], is_long=True),
        Answer("cv", "Your CV", ["Mia's CV.pdf"], file, is_file=True),
        Answer("privacy_consent", "I agree.", ["Ja"]),
    ]
    assert found == [Section("Personal data", personal), Section("", others)]


def test_answers_leave_out_fields_that_were_not_shown():
    [_, (_, second)] = texts(submit({"experience": "no"}))

    assert second == {"Do you have experience?": ["No"], "Your CV": [], "I agree.": []}


def test_answers_show_values_and_files_without_a_field():
    values = {"gone": "still here", "many": ["a", 2], "experience": "no", "where": "hidden"}
    submission = submit(values, [])
    make_file(submission, "a\u202efdp.exe\r\nBcc: x@example.org", field="removed")

    shown = {"gone": ["still here"], "many": ["a", "2"], "experience": ["no"], "where": ["hidden"]}
    file = {"removed": ["afdp.exeBcc: x@example.org"]}  # without characters that disguise it
    assert texts(submission) == [("Other values", shown | file)]


def test_answers_show_values_that_are_no_options():
    choose = {"name": "group", "type": "checkbox-group", "label": "Choose"}
    box = {"name": "box", "type": "checkbox", "label": "Box"}
    fields = [choose | {"options": [{"value": "a", "label": "A!"}]}, box]
    submission = submit({"group": ["a", "z"], "box": 1}, [{"title": "", "fields": fields}])

    assert texts(submission) == [("", {"Choose": ["A!", "z"], "Box": ["1"]})]


def test_answers_join_another_language_and_its_level():
    field = {
        "name": "level",
        "type": "range",
        "label": {"name": "language", "type": "text", "label": "Another language"},
        "options": [{"value": "3", "label": "good"}],
    }
    sections = [{"title": "", "fields": [field]}]

    assert texts(submit({"level": "3", "language": "Spanish"}, sections)) == [
        ("", {"Another language": ["Spanish: good"]})
    ]
    assert texts(submit({}, sections)) == [("", {"Another language": []})]
