"""What a valid description of a vacancy for search engines is, and where a page has it."""

import json
import re
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent
VALIDATOR = Draft202012Validator(json.loads((FOLDER / "jsonld.schema.json").read_text()))
_BLOCK = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)


def faults(posting: Any) -> list[str]:
    """Return the places at which `posting` breaks the rules, such as "jobLocation.address"."""
    errors = VALIDATOR.iter_errors(posting)
    return sorted(
        {f"{'.'.join(map(str, error.absolute_path))} {error.validator}".strip() for error in errors}
    )


def postings(html: str) -> list[Any]:
    """Return the blocks of a page, as a browser finds them."""
    return [json.loads(block) for block in _BLOCK.findall(html)]
