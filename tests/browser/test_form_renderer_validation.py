"""The validation of the reference renderer, and the renderer with the forms of a real site.

tests/applications/submissions/test_validation_agreement.py compares it with other validators.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.browser.form_renderer import (
    VALID,
    application,
    assert_accessible,
    checked,
    open_page,
)

REAL_DATA = os.environ.get("REAL_DATA")

page = pytest.fixture(open_page)


# --- validation ---


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
        {"id": key, "sections": body["data"], "schema": checked(body["data"])}
        for key, body in forms.items()
    ]
    result = page.evaluate(TRY_ALL, bodies)
    assert result["faults"] == []
    assert result["seen"]["forms"] == len(forms)
    assert result["seen"]["fields"] > result["seen"]["conditions"] > 0
    assert_accessible(page)
