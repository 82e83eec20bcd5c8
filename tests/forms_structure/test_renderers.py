"""Renderers of JSON Schema, with the settings of docs/api.md, show a form as it is, with nothing
chosen.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from forms_structure.schema import submission_schema
from tests import node
from tests.forms_structure.strategies import served, specimen
from tests.forms_structure.test_schema import ADDRESS, CONSENT
from tests.servers import ROOT

pytestmark = pytest.mark.slow("renders with React in Node")

Element = ElementTree.Element


@pytest.fixture(scope="module")
def render(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Element]]:
    """Return a function that renders the specimen with values, by renderer."""
    node.require()
    folder = tmp_path_factory.mktemp("renderers")
    found = re.search(
        r"```js\n(import \{ customizeValidator .*?)```", (ROOT / "docs/api.md").read_text(), re.S
    )
    assert found
    (folder / "settings.mjs").write_text(found[1])
    (folder / "node_modules").symlink_to(node.FOLDER / "node_modules")
    schema = submission_schema(served(specimen(), "en", CONSENT), address=ADDRESS)

    def rendered(**values: Any) -> dict[str, Element]:
        done = subprocess.run(
            ["node", Path(node.FOLDER, "render.mjs"), folder / "settings.mjs"],
            input=json.dumps({"schema": schema, "values": values}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        pages = json.loads(done.stdout)
        return {name: ElementTree.fromstring(f"<div>{page}</div>") for name, page in pages.items()}

    return rendered


def labels(element: Element) -> Iterator[str]:
    if "hidden" not in element.attrib:
        if element.tag == "label":
            yield "".join(element.itertext())
        for child in element:
            yield from labels(child)


def chosen(element: Element) -> list[str]:
    """Return the values of the options that are selected."""
    selected = [
        each.get("value", "") for each in element.iter("option") if "selected" in each.attrib
    ]
    return [value for value in selected if value]


def test_other_renderers_choose_nothing_and_show_the_visible_fields(
    render: Callable[..., Any],
) -> None:
    # of first_name, mail, permit, other_language, other_level, licences, moves, shift and the
    # consent
    first = ["City*", "City", "City", "Other", "Other", "City", "City", "City", "I agree.*"]
    empty = render()
    assert {name: chosen(page) for name, page in empty.items()} == {"rjsf": [], "jsonForms": []}
    assert {name: [*labels(page)] for name, page in empty.items()} == {
        "rjsf": first,
        "jsonForms": first,
    }
    shown = [*first, "City*"]  # with permit_when
    assert {name: [*labels(page)] for name, page in render(permit="no").items()} == {
        "rjsf": shown,
        "jsonForms": shown,
    }
