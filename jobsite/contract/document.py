"""What the OpenAPI document of this code says about bodies:
their keys, in order, with types and values.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from jobsite.types import JsonObject

URI = "urn:openapi"
ORDER = "order"  # the keyword of a finding about the order of keys
KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "object": "an object",
    "string": "text",
}


class SchemaDifference(NamedTuple):
    """A difference between a value and its schema. `keyword` is that of JSON Schema, or ORDER."""

    expected: str
    received: object
    keyword: str = ""


def is_whole(checker: object, value: object) -> bool:
    """Return whether `value` is written as a whole number. In JSON Schema, 1.0 is one too."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value: Any) -> bool:
    return is_whole(None, value) and value >= 1


def _properties(
    validator: object, properties: JsonObject, value: object, schema: object
) -> Iterator[object]:
    """Check the order of the known keys too. Further keys are allowed: changes are additive."""
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, value, schema)
    if isinstance(value, dict):
        known, wanted = (
            [key for key in value if key in properties],
            [key for key in properties if key in value],
        )
        if known != wanted:
            yield ValidationError(
                f"to have its keys in the order {', '.join(wanted)}", validator=ORDER
            )


def _required(
    validator: object, required: list[str], value: object, schema: object
) -> Iterator[object]:
    missing = [key for key in required if key not in value] if isinstance(value, dict) else []
    if missing:
        yield ValidationError(f"to have the key {missing[0]}")


Validator = extend(
    Draft202012Validator,
    {"properties": _properties, "required": _required},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_whole),
)


@cache
def _schemas() -> JsonObject:
    schemas = SchemaGenerator().get_schema(public=True)["components"]["schemas"]
    # A setting of each service decides whether it shows the history.
    required = [key for key in schemas["Application"]["required"] if key != "history"]
    return {**schemas, "Application": schemas["Application"] | {"required": required}}


@cache
def _validator(name: str) -> Any:
    resource = DRAFT202012.create_resource({"components": {"schemas": _schemas()}})
    registry: Any = Registry().with_resource(URI, resource)
    return Validator({"$ref": f"{URI}#/components/schemas/{name}"}, registry=registry)


def properties(name: str) -> JsonObject:
    """Return the schemas of the keys of the object `name`, in order."""
    return _schemas()[name]["properties"]


def findings(name: str, value: object, where: str) -> Iterator[SchemaDifference]:
    """Yield the differences between `value` and the schema `name`.
    `where` is what a breach calls it.
    """
    for error in _validator(name).iter_errors(value):
        error = best_match([error])  # of alternatives, what is wrong in the nearest one
        keys = [key for key in error.absolute_path if isinstance(key, str)]
        yield SchemaDifference(
            f"{'.'.join([where, *keys])} {_expected(error)}", error.instance, error.validator
        )


def _expected(error: ValidationError) -> str:
    match error.validator, error.validator_value:
        case "type", kinds:
            names = [kinds] if isinstance(kinds, str) else kinds
            return f"to be {' or '.join(KINDS[name] for name in names)}"
        case "pattern", _ if "examples" in error.schema:
            return f"to be like {error.schema['examples'][0]}"
        case "anyOf", [_, {"type": "null"}]:
            return "to be an object or null"
        case "minItems" | "minLength", 1:
            return "not to be empty"
        case "minimum", least:
            return f"to be at least {least}"
        case "const" | "enum" as keyword, allowed:
            return f"to be {allowed if keyword == 'const' else ' or '.join(map(str, allowed))}"
    return error.message


def additional(name: str, value: JsonObject) -> list[str]:
    """Return the keys of `value` that the object `name` does not have."""
    return [key for key in value if key not in properties(name)]
