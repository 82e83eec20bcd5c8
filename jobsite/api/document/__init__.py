"""The shared parts of the OpenAPI document: headers, error responses, credentials.

The hook `complete()` adds them to the operations that the apps declare with `openapi`.
"""

from collections.abc import Mapping

from django.conf import settings

from jobsite.api.document.description import DESCRIPTION
from jobsite.api.document.shared import (
    ALWAYS,
    ANSWER,
    GOING,
    HEADERS,
    SCHEMAS,
    SECURITY_SCHEMES,
    SHARED,
    headers_of,
    object_schema,
    responses,
)
from jobsite.api.openapi import Schema, reference
from jobsite.types import JsonObject

# The version of the document: the newest API version, and a number for each release that adds to
# it. It is not the version of the project.
DOCUMENT_VERSION = "1.3.0"


def _info() -> JsonObject:
    """The publisher of the API, and its terms."""
    contact = {"name": "Operator of this site"}
    if settings.API_CONTACT:
        contact["url" if "://" in settings.API_CONTACT else "email"] = settings.API_CONTACT
    licence = {"name": "All rights reserved", "identifier": "LicenseRef-All-rights-reserved"}
    if "://" in settings.API_LICENSE:
        licence = {"name": "Terms of use", "url": settings.API_LICENSE}
    elif settings.API_LICENSE:
        licence = {"name": settings.API_LICENSE, "identifier": settings.API_LICENSE}
    return {
        "version": DOCUMENT_VERSION,
        "description": DESCRIPTION,
        "contact": contact,
        "license": licence,
    }


def complete(result: JsonObject, **kwargs: object) -> JsonObject:
    """drf-spectacular hook: add the shared parts to the document."""
    result["info"] |= _info()
    result["servers"] = [{"url": settings.PUBLIC_BASE_URL or "/"}]
    components = result["components"]
    schemas = components["schemas"] = {**components["schemas"], **SCHEMAS}
    for path, methods in result["paths"].items():
        for described in methods.values():
            if "x-examples" in described:  # declared by an Operation
                _complete_operation(path, described, schemas)
            described.setdefault("security", [])  # drf-spectacular leaves an empty list out
    names = {name: _plain(name, schema) for name, schema in schemas.items()}
    _rename(result, names)
    components |= {
        "schemas": {
            names[old]: schemas[old] for old in sorted(schemas, key=lambda old: names[old])
        },
        "responses": responses(),
        "headers": HEADERS,
        "securitySchemes": SECURITY_SCHEMES,
    }
    return result


def _complete_operation(path: str, described: JsonObject, schemas: JsonObject) -> None:
    answers = described["responses"]
    examples, own_headers = described.pop("x-examples"), described.pop("x-headers")
    is_private, links = described.pop("x-private"), described.pop("x-links")
    answer = answers["200"]
    if links:
        answer["links"] = links
    body = answer["content"]["application/json"]
    body["examples"] = examples
    envelope = body["schema"].get("$ref", "").rpartition("/")[2]
    if not envelope.startswith("Paginated"):
        body["schema"] = object_schema("One resource.", {"data": body["schema"]})
    usual: tuple[str, ...] = (*ANSWER, *GOING) if path.startswith("/v0.1/") else ANSWER
    if is_private:
        usual = ("Private", "Vary", "Time-Zone", "Allow")
    answer["headers"] = headers_of((*usual, *own_headers))
    statuses = sorted({*map(int, answers), *ALWAYS} - ({200, 304} if is_private else {200}))
    described["responses"] = {"200": answer} | {
        str(status): {"$ref": f"#/components/responses/{SHARED[status][0]}"} for status in statuses
    }
    if "fields" in (parameter["name"] for parameter in described["parameters"]):
        _allow_sparse_items(schemas[envelope], schemas)


def _allow_sparse_items(listed: Schema, schemas: JsonObject) -> None:
    """Allow the items of the list schema `listed` to have only some of their keys."""
    data = listed["properties"]["data"]
    if "anyOf" in data["items"]:  # another operation has the same list
        return
    name = data["items"]["$ref"].rpartition("/")[2]
    if "vacancy" in schemas[name]["properties"]:  # a change, whose vacancy is sparse
        return
    schemas[f"Sparse{name}"] = {
        "type": "object",
        "description": f"A {name} with only the keys in `fields`; their values are the same.",
        "properties": schemas[name]["properties"],
    }
    data["items"] = {
        "description": f"A full {name}, or only the keys in the parameter `fields`.",
        "anyOf": [data["items"], reference(f"Sparse{name}")],
    }


def _plain(name: str, schema: Schema) -> str:
    """Return the name of a list schema:
    "VacancyPage" for "PaginatedVacancyList", "FilterList" if unpaged.
    """
    if not name.startswith("Paginated"):
        return name
    item = name.removeprefix("Paginated").removesuffix("List")
    return f"{item}Page" if "meta" in schema["properties"] else f"{item}List"


def _rename(node: object, names: Mapping[str, str]) -> None:
    """Rename the schemas in all references, in place."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            kind, _, name = node["$ref"].rpartition("/")
            node["$ref"] = f"{kind}/{names.get(name, name)}"
        node = list(node.values())
    if isinstance(node, list):
        for member in node:
            _rename(member, names)
