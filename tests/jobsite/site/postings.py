"""What a valid description of a vacancy for search engines is, and where a page has it."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests import node

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


def second_opinion(postings: list[Any]) -> list[list[str]]:
    """Return the errors that @adobe/structured-data-validator finds in each of `postings`."""
    node.require()
    lines = [
        json.dumps(posting | ({"jobLocation": place} if place else {}))
        for posting in postings
        for place in _places(posting)
    ]
    command = ["node", node.FOLDER / "jsonld.mjs"]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=600
    )
    answers = iter(map(json.loads, done.stdout.splitlines()))
    return [[error for _ in _places(posting) for error in next(answers)] for posting in postings]


def _places(posting: Any) -> list[Any]:
    found = posting.get("jobLocation")
    return found if isinstance(found, list) else [found]
