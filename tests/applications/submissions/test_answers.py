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


def test_answers_have_labels_options_and_files_in_the_order_of_the_form():
    submission = submit(VALUES)
    file = make_file(submission, "Mia's CV.pdf")

    assert answers(submission) == [
        Section(
            "Personal data",
            [
                Answer("first_name", "First name", ["Mia"]),
                Answer("email", "E-mail address", ["mia@example.org"]),
                Answer("phone", "Telephone number"),
            ],
        ),
        Section(
            "",
            [
                Answer("experience", "Do you have experience?", ["Yes, I have"]),
                Answer("where", "Where?", ["Here.\nAnd there."], is_long=True),
                Answer("cv", "Your CV", ["Mia's CV.pdf"], file, is_file=True),
                Answer("privacy_consent", "I agree.", ["Yes"]),
            ],
        ),
    ]


def test_answers_leave_out_fields_that_were_not_shown():
    [_, (_, second)] = texts(submit({"experience": "no"}))

    assert second == {"Do you have experience?": ["No"], "Your CV": [], "I agree.": []}


def test_answers_show_values_and_files_without_a_field():
    submission = submit({"gone": "still here", "many": ["a", 2], "experience": "no", "where": "hidden"}, [])
    make_file(submission, "old.pdf", field="removed")

    assert texts(submission) == [
        (
            "Other values",
            {
                "gone": ["still here"],
                "many": ["a", "2"],
                "experience": ["no"],
                "where": ["hidden"],
                "removed": ["old.pdf"],
            },
        )
    ]


def test_answers_show_values_that_are_no_options():
    [(_, shown)] = texts(
        submit(
            {"group": ["a", "z"], "box": 1},
            [
                {
                    "title": "",
                    "fields": [
                        {
                            "name": "group",
                            "type": "checkbox-group",
                            "label": "Choose",
                            "options": [{"value": "a", "label": "A!"}],
                        },
                        {"name": "box", "type": "checkbox", "label": "Box"},
                    ],
                }
            ],
        )
    )

    assert shown == {"Choose": ["A!", "z"], "Box": ["1"]}


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


def test_answers_show_file_names_without_characters_that_disguise_them():
    submission = submit({"cv": "x"})
    make_file(submission, "a\u202efdp.exe\r\nBcc: x@example.org")

    [_, (_, second)] = texts(submission)
    assert second["Your CV"] == ["afdp.exeBcc: x@example.org"]


def test_answers_are_read_with_two_queries(django_assert_num_queries):
    pk = submit(VALUES).pk
    with translation.override("nl"), django_assert_num_queries(3):
        answers(Submission.objects.get(pk=pk))
