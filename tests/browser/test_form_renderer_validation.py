"""The validation of the reference renderer, and the renderer with the forms of a real site."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forms_structure.api.v1 import serve
from tests.browser.form_renderer import (
    VALID,
    Sections,
    application,
    assert_accessible,
    checked,
    field,
    open_page,
    served,
)

REAL_DATA = os.environ.get("REAL_DATA")

page = pytest.fixture(open_page)


# --- validation ---


def submissions(sections: Sections, luck: Random) -> Iterator[Any]:
    """Submissions without end: what people send, and what they do not."""
    odd = [None, True, 1, 1.5, "", "  ", "1", "0", [], ["1"], ["day", "day"], {}, "a@b", "+32 470", "x\ny"]

    def answer(one: dict[str, Any]) -> Any:
        values = [option["value"] for option in one.get("options", ())]
        if one["type"] == "checkbox-group":
            return luck.sample(values, luck.randint(1, len(values)))
        if values:
            return luck.choice(values)
        simple = {"checkbox": "1", "email": "zoe@example.com", "tel": "+32 470", "date": "2000-02-29"}
        return simple.get(one["type"], "Some words")

    def fill(fields: Sections, given: dict[str, Any], often: float) -> None:
        for one in fields:
            if not one["required"] and luck.random() > often:
                continue
            if isinstance(one["label"], dict):
                given[one["label"]["name"]] = "Frisian"
            given[one["name"]] = value = answer(one)
            chosen = value if isinstance(value, list) else [value]
            fill([each for each in one.get("conditional", ()) if each["on_value"] in chosen], given, often)

    yield from (None, [], "x", 4, {})
    while True:
        given: dict[str, Any] = {}
        fill([one for section in sections for one in section["fields"]], given, luck.random())
        for _ in range(luck.choice((0, 0, 1, 1, 2))):
            names = list(given) or ["first_name"]
            match luck.randrange(4):
                case 0:
                    given.pop(luck.choice(names), None)
                case 1:
                    given[luck.choice(names)] = luck.choice(odd)
                case 2:
                    given[luck.choice(["why", "nights", "extra", "constructor", "toString", "x"])] = "1"
                case 3:
                    given[luck.choice(names)] = given[luck.choice(names)] if given else "x"
        yield given


def test_validation_agrees_with_a_full_validator(page: Any) -> None:
    luck = Random(20)
    deep = field("d3", "checkbox", on_value="1", required=True, conditional=[field("d4", on_value="1")])
    deep = field("d2", "checkbox-group", "1", "2", on_value="1", required=True, conditional=[deep])
    deep = field("d1", "range", required=True, on_value="1", conditional=[deep, field("e", on_value="0")])
    forms = [
        application(),
        served(field("top", "checkbox", conditional=[deep])),
        served(
            field("x", "range", label={"name": "x_name", "label": "X"}, required=True),
            field("y", "range", label={"name": "y_name", "label": "Y"}),
            field("z", "date"),
        ),
        serve(None)[0],
    ]
    for sections in forms:
        schema = checked(sections)
        made = submissions(sections, luck)
        sent = [next(made) for _ in range(150)]
        expected = [Draft202012Validator(schema).is_valid(each) for each in sent]
        judged = page.evaluate(
            "([schema, sent]) => sent.map((each) => !renderer.validate(schema, each).length)", [schema, sent]
        )
        assert [each for each, a, b in zip(sent, expected, judged, strict=True) if a != b] == []
        assert 30 < sum(expected) < 130, "the examples should be of both kinds"


def test_validation_names_the_error(page: Any) -> None:
    schema = checked(application())
    for change, errors in (
        ({}, []),
        ({"first_name": " "}, [("first_name", "pattern")]),
        ({"first_name": 1}, [("first_name", "type")]),
        ({"permit": "no"}, [("when", "required")]),
        ({"when": "soon"}, [("when", "unevaluatedProperties")]),
        ({"regimes": ["day", "day"]}, [("regimes", "uniqueItems")]),
        ({"regimes": []}, [("regimes", "minItems")]),
        ({"regimes": ["noon"]}, [("regimes", "oneOf")]),
        ({"extra": "3"}, [("extra_name", "dependentRequired")]),
        ({"privacy_consent": "0"}, [("privacy_consent", "enum")]),
        ({"first_name": "🚑" * 200}, []),
        ({"first_name": "🚑" * 201}, [("first_name", "maxLength")]),
        ({"birth_date": "2026-02-30"}, [("birth_date", "pattern")]),
    ):
        found = page.evaluate(
            "([schema, value]) => renderer.validate(schema, value)", [schema, VALID | change]
        )
        assert [(each["name"], each["keyword"]) for each in found] == errors


# --- real forms ---


TRY_ALL = """(forms) => {
  const target = document.querySelector("#form");
  const faults = [];
  const seen = { forms: 0, fields: 0, conditions: 0 };
  const choose = (control, value) => {
    if (control.type !== "select-one") return control.click();
    control.value = value;
    control.dispatchEvent(new Event("change", { bubbles: true }));
  };
  for (const { id, sections, schema } of forms) {
    const expect = (what, is) => is || faults.push(`${id}: ${what}`);
    const form = renderer.render(target, sections, { schema });
    const wrapper = (name) => target.querySelector(`[data-name="${name}"]`);
    const labelled = (name, label) => {
      const found = wrapper(name).querySelector("legend, label");
      const control = wrapper(name).querySelector("input, select, textarea");
      expect(`${name} is labelled`, found.firstChild.data === label && found.checkVisibility());
      expect(`${name} shows`, control.checkVisibility() && !control.matches(":disabled"));
      const isOf = found.control ? found.control === control : found.parentNode.contains(control);
      expect(`the label of ${name} is of its control`, isOf);
    };
    const visit = (fields) => fields.forEach((field) => {
      const { name, label } = field;
      seen.fields += 1;
      labelled(name, label.label ? `${label.label}: level` : label);
      if (label.label) labelled(label.name, label.label);
      for (const inner of field.conditional ?? []) {
        const control = wrapper(name).querySelector(`select, input[value="${CSS.escape(inner.on_value)}"]`);
        const closed = () => !wrapper(inner.name).checkVisibility()
          && wrapper(inner.name).querySelector("input, select, textarea").matches(":disabled");
        expect(`${inner.name} is closed`, closed());
        choose(control, inner.on_value);
        expect(`${inner.name} opens`, !closed());
        visit([inner]);
        choose(control, "");
        expect(`${inner.name} closes`, closed());
        seen.conditions += 1;
      }
    });
    sections.forEach((section) => visit(section.fields));
    const asked = sections.flatMap((section) => section.fields).filter((field) => field.required);
    const told = form.check().map(({ name }) => name);
    expect("asks for what is required", told.join() === asked.map(({ name }) => name).join());
    seen.forms += 1;
  }
  return { seen, faults };
}"""


@pytest.mark.skipif(not REAL_DATA, reason="REAL_DATA names no folder")
def test_real_forms(page: Any) -> None:
    forms = json.loads((Path(str(REAL_DATA)) / "forms.v1.json").read_text())
    bodies = [
        {"id": key, "sections": body["data"], "schema": checked(body["data"])} for key, body in forms.items()
    ]
    result = page.evaluate(TRY_ALL, bodies)
    assert result["faults"] == []
    assert result["seen"]["forms"] == len(forms)
    assert result["seen"]["fields"] > result["seen"]["conditions"] > 0
    assert_accessible(page)
