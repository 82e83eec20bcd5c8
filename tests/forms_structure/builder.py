"""Requests of the form builder."""

import json

from django.contrib.auth.models import Permission, User
from django.test import Client

LIST = "/admin/forms_structure/form/"
NAME = {
    "name": "first_name",
    "type": "text",
    "label": "First name",
    "required": True,
    "css": "col-6",
}
STRUCTURE = [{"title": "You", "description": "", "fields": [NAME]}]
OTHER = [{"title": "You", "description": "", "fields": [NAME | {"name": "last_name"}]}]


def recruiter(*permissions, name="anna"):
    user = User.objects.create_user(name, is_staff=True)
    rights = (*permissions, "work_for_every_brand")  # test_brand_access.py tests brand scoping
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client = Client()
    client.force_login(user)
    return client


def ask(client, form, view, **question):
    """Return (status, body) of a request of the builder."""
    response = client.post(
        f"{LIST}{form.pk}/{view}/", json.dumps(question), content_type="application/json"
    )
    return response.status_code, response.json()


def save(client, form, structure=OTHER, **question):
    whole = {
        "structure": structure,
        "revision": form.revision,
        "name": form.name,
        "language": form.language,
    }
    return ask(client, form, "save", **whole | question)
