"""The OpenAPI document of the management interface, openapi.json. It is not part of the public one."""

import json
from functools import lru_cache
from pathlib import Path

from jobsite.types import JsonObject


@lru_cache(maxsize=4)
def document(address: str) -> JsonObject:
    """Return the document of a service at `address`."""
    content = json.loads(Path(__file__).with_name("openapi.json").read_text())
    return content | {"servers": [{"url": address}]}
