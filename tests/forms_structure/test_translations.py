"""Translations of forms: they follow their original, and have the same answers."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from forms_structure.structure import StructureError, clean, walk
from forms_structure.translations import (
    Mark,
    check_equal,
    follow,
    is_text,
    own_values,
    started,
    with_values,
)
from tests.forms_structure.strategies import section, specimen, structures, text_field


def translated(structure, mark="fr "):
    """Translate all texts: each gets a mark before it."""
    values = {
        path: mark + text if text and not path.endswith(".description") else text
        for path, text in own_values(structure).items()
        if is_text(path)
    }
    return with_values(structure, values)


def test_paths_are_those_of_errors():
    own = own_values(specimen())
    assert own["sections.0.title"] == "About you"
    assert own["sections.0.fields.2.options.1.label"] == "No"
    assert own["sections.0.fields.2.conditional.1.conditional.0.label"] == "City"
    assert own["sections.1.fields.0.label.label"] == "Other"
    assert own["sections.0.fields.0.css"] == "col-6"
    assert with_values(specimen(), own) == specimen()
    assert {path: "new" for path, text in own.items() if is_text(path) and text} == started(
        specimen()
    )


def at(*path):
    """Return a function of a structure that returns what is at this path."""

    def found(structure):
        for key in path:
            structure = structure[key]
        return structure

    return found


FIRST, PERMIT = at(0, "fields", 0), at(0, "fields", 2)
CHANGES = [
    ("sections.0.fields.0.name", lambda s: FIRST(s).update(name="other")),
    ("sections.0.fields.0.type", lambda s: FIRST(s).update(type="textarea")),
    ("sections.0.fields.0.required", lambda s: FIRST(s).update(required=False)),
    ("sections.0.fields.0.role", lambda s: FIRST(s).update(role="given_name")),
    ("sections.0.fields.2.options.0.value", lambda s: PERMIT(s)["options"][0].update(value="y")),
    ("sections.0.fields.2.options", lambda s: PERMIT(s)["options"].pop()),
    (
        "sections.0.fields.2.conditional.0.on_value",
        lambda s: PERMIT(s)["conditional"][0].update(on_value="yes"),
    ),
    ("sections.0.fields.0.name", lambda s: s[0]["fields"].insert(0, s[0]["fields"].pop(1))),
    ("sections.0.fields", lambda s: s[0]["fields"].pop()),
    ("sections", lambda s: s.pop()),
]


@pytest.mark.parametrize(("path", "change"), CHANGES)
def test_another_structure_is_refused_and_named(path, change):
    other = translated(specimen())
    check_equal(specimen(), other)
    change(other)
    with pytest.raises(StructureError) as refusal:
        check_equal(specimen(), other)
    assert path in refusal.value.faults


def test_translation_follows_its_original():
    before = [section(text_field("a", label="One"), text_field("b", label="Two"))]
    french = with_values(before, {"sections.0.fields.0.label": "Un", "sections.0.title": "Vous"})
    marks = {"sections.0.fields.1.label": Mark.NEW}
    after = [
        section(text_field("c", label="Three"), title="More"),
        section(text_field("b", label="Second"), text_field("a", label="First", css="col-6")),
        section(text_field("d", label="One"), title=""),
    ]
    structure, marks = follow(before, after, french, marks)
    check_equal(after, structure)
    assert {path: text for path, text in own_values(structure).items() if is_text(path) and text} == {
        "sections.0.title": "More",
        "sections.0.fields.0.label": "Three",
        "sections.1.title": "Vous",
        "sections.1.fields.0.label": "Second",  # was not translated yet
        "sections.1.fields.1.label": "Un",
        "sections.2.fields.0.label": "Un",  # the same words as before
    }  # fmt: skip
    assert own_values(structure)["sections.1.fields.1.css"] == "col-6"
    assert marks == {
        "sections.0.title": Mark.NEW,
        "sections.0.fields.0.label": Mark.NEW,
        "sections.1.fields.0.label": Mark.NEW,
        "sections.1.fields.1.label": Mark.CHANGED,
    }


def test_own_width_stays():
    before = [section(text_field("a", css="col-6"))]
    wide = with_values(before, {"sections.0.fields.0.css": "col-12"})
    after = [section(text_field("a", css="col-4"))]
    assert own_values(follow(before, after, wide, {})[0])["sections.0.fields.0.css"] == "col-12"
    assert follow(before, after, before, {})[0] == after


@st.composite
def edits(draw, structure):
    """A structure after some changes in the builder: moved, deleted, renamed, new."""
    changed = deepcopy(structure)
    for _ in range(draw(st.integers(1, 3))):
        if not changed:
            break
        part = draw(st.sampled_from(changed))
        match draw(st.sampled_from(["move", "delete", "label", "add", "section", "drop"])):
            case "move":
                changed.remove(part)
                changed.insert(draw(st.integers(0, len(changed))), part)
            case "delete" if part["fields"]:
                part["fields"].remove(draw(st.sampled_from(part["fields"])))
            case "label" if part["fields"]:
                field = draw(st.sampled_from([f for _path, f in walk([part])]))
                field["label"] = (
                    field["label"] | {"label": "Changed"}
                    if isinstance(field["label"], dict)
                    else "Changed"
                )
            case "add":
                taken = {field["name"] for _path, field in walk(changed)}
                name = next(f"new{n}" for n in range(9) if f"new{n}" not in taken)
                part["fields"].append(text_field(name, label=f"Label of {name}"))
            case "section":
                changed.insert(0, section(title="New section"))
            case "drop":
                changed.remove(part)
    return clean(changed)


@pytest.mark.slow("random sequences")
@given(data=st.data())
@examples(max_examples=60)
def test_random_edits_keep_a_translation_equal_and_lose_no_text(data):
    """Against a plain model: the words of a text follow it by name, and what is new is marked."""
    original = data.draw(structures(min_sections=1, fields_max=6))
    french, marks = translated(original), {}
    for _ in range(2):
        after = data.draw(edits(original))
        labels = {f["name"]: f["label"] for _path, f in walk(french)}
        before = {f["name"]: f["label"] for _path, f in walk(original)}
        marked = {f["name"] for path, f in walk(french) if f"{path}.label" in marks}
        structure, new = follow(original, after, french, marks)
        check_equal(after, structure)
        clean(structure)
        words, own = own_values(after), own_values(structure)
        assert new.keys() <= words.keys()
        assert all(own[path] == words[path] for path, mark in new.items() if mark == Mark.NEW)
        assert all(bool(own[path]) == bool(words[path]) for path in words)
        for path, field in walk(structure):
            name, label = field["name"], f"{path}.label"
            if (
                name in labels
                and not isinstance(field["label"], dict)
                and new.get(label) != Mark.NEW
            ):
                assert field["label"] == labels[name]
                assert (label in new) == (words[label] != before[name] or name in marked)
        original, french, marks = after, structure, new
