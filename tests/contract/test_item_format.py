"""Stored items are rendered again after a change of what they look like."""

import json
import os
from hashlib import md5
from pathlib import Path

from vacancies.api.schema import ITEM_FORMAT

HERE = Path(__file__).parent
FILES = ("v1/vacancies.json", "v1/internal.json", "v0_1/vacancies.json", "v0_1/internal.json")
RECORD = HERE / "item_format.json"
MESSAGE = (
    "The items of the golden files changed, so stored items are outdated: raise ITEM_FORMAT in "
    "vacancies/api/schema.py, and run `make golden`."
)


def test_item_format_is_raised_with_every_change_of_the_golden_items():
    """UPDATE_GOLDEN=1 records the items of a new format, and does not accept others of the same
    format.
    """
    golden = [json.loads((HERE / name).read_text())["data"] for name in FILES]
    items = md5(json.dumps(golden).encode(), usedforsecurity=False).hexdigest()
    found = {"format": ITEM_FORMAT, "items": items}
    recorded = json.loads(RECORD.read_text())
    if os.environ.get("UPDATE_GOLDEN") and recorded["format"] < ITEM_FORMAT:
        RECORD.write_text(json.dumps(found, indent=2) + "\n")
        recorded = found
    assert found == recorded, MESSAGE
