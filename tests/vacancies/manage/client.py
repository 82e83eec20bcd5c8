"""A client of the management interface."""

import json
from datetime import timedelta
from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from vacancies.manage.tokens import create_integration, issue_token
from vacancies.models import Brand, Integration, IntegrationScope

EVERY_SCOPE = tuple(IntegrationScope.values)


def make_integration(
    name: str = "HRIS", *, brands: tuple[Brand, ...] = (), scopes: tuple[str, ...] = EVERY_SCOPE
) -> Integration:
    """Create an integration, without `brands` one of every brand."""
    made = Integration(name=name, every_brand=not brands, scopes=list(scopes))
    create_integration(made, author=None)
    made.brands.set(brands)
    return made


class Api:
    """Requests with a token of `integration`."""

    def __init__(self, integration: Integration, brand: str = "acme") -> None:
        self.integration, self.brand = integration, brand
        _, self.token = issue_token(integration, at=timezone.now(), age=timedelta(days=300))
        self.client = Client()

    def request(self, method: str, path: str, body: object = None, **headers: str) -> HttpResponse:
        sent = (
            {}
            if body is None
            else {"data": body if isinstance(body, bytes | str) else json.dumps(body)}
        )
        return self.client.generic(
            method,
            f"/v1/manage/{self.brand}/{path}",
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"} | headers,
            **sent,
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.request("GET", path, **headers)

    def put(self, reference: str, body: object, query: str = "", **headers: str) -> Any:
        return self.request("PUT", f"vacancies/{reference}{query}", body, **headers)

    def delete(self, reference: str, **headers: str) -> Any:
        return self.request("DELETE", f"vacancies/{reference}", **headers)


def row_counts() -> dict[str, int]:
    """Return the number of rows of each table."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        found = {}
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            found[name] = cursor.fetchone()[0]
    return found
