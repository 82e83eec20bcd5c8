import re
from collections.abc import Iterator

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry

from jobsite.types import JsonObject


class ApiDocument:
    """The OpenAPI document `content`, the public one or that of the management interface. Raises
    LookupError or TypeError if it is of another API.
    """

    def __init__(self, content: JsonObject, *, is_public: bool = True) -> None:
        self.paths: JsonObject = content["paths"]
        self._components: JsonObject = content["components"]
        self._validators: dict[int, Draft202012Validator] = {}
        if not is_public:
            return
        # Items may be sparse for the parameter `fields` only, and the checks never send it.
        page = self._components["schemas"]["VacancyPage"]
        page["properties"]["data"]["items"] = {"$ref": "#/components/schemas/Vacancy"}

    def template(self, path: str) -> str:
        """Return the path of the document that `path` belongs to; `path` if there is none."""
        if path in self.paths:
            return path
        patterns = {re.sub(r"\{\w+\}", "[^/]+", template): template for template in self.paths}
        return next((patterns[each] for each in patterns if re.fullmatch(each, path)), path)

    def operation(self, path: str, method: str) -> JsonObject:
        """Return an operation; that of GET for HEAD and for methods that are to be refused."""
        operations = self.paths.get(self.template(path), {"get": {"responses": {}}})
        return operations.get(method.lower(), operations["get"])

    def response(self, path: str, method: str, status: int) -> JsonObject:
        """Return what the document says about a response; {} if it has none with `status`."""
        return self.resolved(self.operation(path, method)["responses"].get(str(status), {}))

    def errors(self, schema: JsonObject, value: object) -> Iterator[ValidationError]:
        """Yield what is wrong with `value` by a schema of the document."""
        if id(schema) not in self._validators:
            # The references of the schema lead to the components beside it. The registry is empty,
            # so that none is loaded from another address.
            whole = {**schema, "components": self._components}
            self._validators[id(schema)] = Draft202012Validator(whole, registry=Registry())
        for error in self._validators[id(schema)].iter_errors(value):
            yield best_match([error])  # of alternatives, what is wrong in the nearest one

    def resolved(self, stated: JsonObject) -> JsonObject:
        """Return a response or header, which may be a reference to a component."""
        if "$ref" not in stated:
            return stated
        _, _, kind, name = stated["$ref"].split("/")
        return self._components[kind][name]
