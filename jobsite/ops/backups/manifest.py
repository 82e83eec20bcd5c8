"""The manifest of an archive: its schema, and parsing it. An archive may come from anyone."""

import json

import jsonschema

from jobsite.ops.backups.files import BackupError, printable
from jobsite.types import JsonObject

NAME = "manifest.json"
FORMAT = 1
BYTES_MAX = 1 << 30  # it is parsed in memory

_TEXT = {"type": "string", "maxLength": 200}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
SCHEMA = {
    "type": "object",
    "required": [
        "format",
        "made_at",
        "version",
        "engine",
        "django",
        "server",
        "migrations",
        "tables",
        "missing",
        "parts",
    ],
    "properties": {
        "format": {"const": FORMAT},
        "made_at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]{8,15}\+00:00\Z"},
        **dict.fromkeys(("version", "engine", "django", "server"), _TEXT),
        "migrations": {
            "type": "array",
            "items": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
        },
        "tables": {"type": "object", "additionalProperties": _COUNT},
        "missing": {"type": "array", "items": {"type": "string"}},
        "parts": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["size", "sha256"],
                "properties": {
                    "size": _COUNT,
                    "sha256": {"type": "string", "pattern": r"^[0-9a-f]{64}\Z"},
                },
                "additionalProperties": False,
            },
        },
    },
}


def counts(manifest: JsonObject) -> tuple[int, int]:
    """Return the numbers of rows and of files in the archive, without the database itself."""
    return sum(manifest["tables"].values()), len(manifest["parts"]) - 1


def parse(text: bytes) -> JsonObject:
    """Return the manifest in `text`. Raises BackupError, or ValueError if it is not JSON."""
    try:
        manifest = json.loads(text)
    except RecursionError:
        raise BackupError(f"{NAME} is invalid: it is nested too deeply.") from None
    if isinstance(manifest, dict) and (number := manifest.get("format", FORMAT)) != FORMAT:
        raise BackupError(
            f"The archive has format {printable(number)}; this code reads format {FORMAT}."
        )
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(SCHEMA).iter_errors(manifest)
    )
    if error:
        where, what = printable(error.json_path), printable(error.message)
        raise BackupError(f"{NAME} is invalid at {where}: {what}.")
    return manifest
