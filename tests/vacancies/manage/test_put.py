"""PUT, GET and DELETE of one vacancy."""

import pytest

pytestmark = pytest.mark.django_db


def test_create_update_and_repeat(api, body):
    created = api.put("A-1", body)
    assert created.status_code == 201, created.content
    print(created.json())
    again = api.put("A-1", body)
    assert again.status_code == 200, again.content
    assert again.json()["changed"] == []
    got = api.get("vacancies/A-1")
    assert got.json()["data"] == again.json()["data"]
    assert api.get("vacancies").status_code == 200
    assert api.get("values").status_code == 200
    assert api.delete("A-1").status_code == 204
    assert api.delete("A-1").status_code == 204
    assert api.delete("A-2").status_code == 404
