"""The values of a submission with the labels of its form as it was."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext

from applications.models import Submission, SubmissionFile
from forms_structure.choices import FieldType
from jobsite.types import JsonObject

# Control characters, and characters that change the direction of text: "exe.fdp" would read
# "pdf.exe".
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Answer:
    """A field that the applicant saw, and what they answered. `values` are as the form showed them:
    labels of options, names of files. It is empty if the field was left empty.
    """

    name: str
    label: str
    values: list[str] = field(default_factory=list)
    file: SubmissionFile | None = None  # None for a file field without a stored file
    is_file: bool = False
    is_long: bool = False  # can have several lines


@dataclass(frozen=True)
class Section:
    """A section of the form. Its title can be empty."""

    title: str
    answers: list[Answer]


def answers(submission: Submission, files: Iterable[SubmissionFile] | None = None) -> list[Section]:
    """Return what was submitted, in the order of the form, with the fields that were left empty.

    Fields that depend on an answer that was not given are left out. Values and files of fields that
    the snapshot does not have follow in a section of their own: nothing that is stored is left out.
    Words that the form does not have ("Yes") are in the active language. `files` are those of the
    submission, if they are known. Two queries, if `snapshot` and `files` are not loaded.
    """
    by_field = {file.field: file for file in (submission.files.all() if files is None else files)}
    values = dict(submission.values)
    sections = [
        Section(
            section.get("title") or "", list(_answers(section.get("fields", ()), values, by_field))
        )
        for section in submission.snapshot.sections
    ]
    others = [
        Answer(
            name,
            name,
            _values(by_field.get(name), _texts(values.get(name), {})),
            by_field.get(name),
            name in by_field,
        )
        for name in dict.fromkeys((*values, *by_field))
    ]
    if others:
        sections.append(Section(gettext("Other values"), others))
    return [section for section in sections if section.answers]


def _answers(
    fields: list[JsonObject], values: JsonObject, files: dict[str, SubmissionFile]
) -> Iterator[Answer]:
    """Yield the answers to `fields` and to those that depend on them. Removes what it used from
    `values` and `files`.
    """
    for each in fields:
        name, label = each["name"], each["label"]
        value, file = values.pop(name, None), files.pop(name, None)
        options = {option["value"]: option["label"] for option in each.get("options", ())}
        if each["type"] == FieldType.CHECKBOX:
            options = {value: gettext("Yes")} if isinstance(value, str) else {}
        texts = _texts(value, options)
        if isinstance(label, dict):  # a range of another language: its name is an input of its own
            texts = [": ".join([*_texts(values.pop(label["name"], None), {}), *texts])]
            label = label["label"]
        yield Answer(
            name=name,
            label=label,
            values=_values(file, texts),
            file=file,
            is_file=each["type"] == FieldType.FILE,
            is_long=each["type"] == FieldType.TEXTAREA,
        )
        given = value if isinstance(value, list) else [value]
        shown = [one for one in each.get("conditional", ()) if one.get("on_value") in given]
        yield from _answers(shown, values, files)


def _values(file: SubmissionFile | None, texts: list[str]) -> list[str]:
    return [_UNSEEN.sub("", file.original_name)] if file else [text for text in texts if text]


def _texts(value: object, labels: dict[str, str]) -> list[str]:
    """Return the texts of a stored value, with the labels of options."""
    if value is None:
        return []
    listed = value if isinstance(value, list) else [value]
    return [labels.get(each, each) if isinstance(each, str) else str(each) for each in listed]
