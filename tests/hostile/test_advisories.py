# ruff: noqa: E501
"""Security advisories of the last two years for the libraries in use: this site is not affected."""

import ast
import re
import stat

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.admin import GenericInlineModelAdmin
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import URLField
from packaging.version import Version

from applications.models import Reason, Stage
from tests.applications.makers import signed_in as client_of
from vacancies.models import Filter, FilterOption

APPS = ("jobsite", "applications", "vacancies", "forms_structure")
SOURCES = [path for app in APPS for path in sorted((settings.BASE_DIR / app).rglob("*.py"))]
TEMPLATES = [
    path for path in settings.BASE_DIR.rglob("templates/**/*.html") if ".venv" not in str(path)
]
REQUEST_DATA = re.compile(
    r"\b(request|query_params|GET|POST|QueryDict|validated_data|cleaned_data)\b"
)
UNPACKED = re.compile(r"[(,]\s*\*")
QUERIES = {"filter", "exclude", "get", "annotate", "aggregate", "alias", "order_by", "extra"}
QUERIES |= {"values", "values_list", "Q"}
# Django's page caches store private pages (CVE-2026-35193 and others). strip_tags and those after it need quadratic
# time for broken tags (CVE-2025-32873, 2026-1285). DomainNameValidator accepts newlines (CVE-2026-53878).
UNUSED = (
    "cache_page",
    "UpdateCacheMiddleware",
    "FetchFromCacheMiddleware",
    "make_template_fragment_key",
)
UNUSED += (
    "strip_tags",
    "Truncator",
    "truncatewords_html",
    "truncatechars_html",
    "striptags",
    "urlize",
)
UNUSED += ("DomainNameValidator",)


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_no_input_names_a_column():
    """CVE-2025-57833, 2025-64459, 2025-13372, 2026-1287, 2026-1312: keys from outside, unpacked into a query,
    are SQL."""
    found = []
    for path in SOURCES:
        text = path.read_text()
        is_possible = UNPACKED.search(text) and REQUEST_DATA.search(text)
        for node in ast.walk(ast.parse(text)) if is_possible else ():  # parsing is slow
            if not isinstance(node, ast.Call):
                continue
            if getattr(node.func, "attr", getattr(node.func, "id", "")) in QUERIES:
                parts = [k.value for k in node.keywords if k.arg is None]
                parts += [a.value for a in node.args if isinstance(a, ast.Starred)]
                if any(REQUEST_DATA.search(ast.unparse(part)) for part in parts):
                    found.append(f"{path}:{node.lineno}")
    assert found == []


def test_vulnerable_functions_of_django_are_not_used():
    texts = {str(path): path.read_text() for path in (*SOURCES, *TEMPLATES)}
    assert [(path, name) for path, text in texts.items() for name in UNUSED if name in text] == []


def test_only_four_admin_lists_are_editable():
    """CVE-2026-4277, 4292, 87975: rows added or deleted by forged posts of generic inlines and list_editable.
    Users with view permission only: tests/jobsite/admin/test_roles.py."""
    pages = admin.site._registry
    editable = {
        m
        for m, page in pages.items()
        if page.list_editable or getattr(page, "ordering_field", None)
    }
    assert editable == {Filter, FilterOption, Reason, Stage}
    for page in pages.values():
        assert not [
            inline for inline in page.inlines if issubclass(inline, GenericInlineModelAdmin)
        ]


@pytest.mark.django_db
@pytest.mark.parametrize("rights", [["view_filter"], ["view_filter", "change_filter"]])
def test_forged_rows_of_an_editable_list_are_not_stored(filters, rights):
    user = User.objects.create_user("of-filters", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    ids = list(Filter.objects.order_by("pk").values_list("pk", flat=True))
    data = {
        "form-TOTAL_FORMS": "2",
        "form-INITIAL_FORMS": "1",
        "_save": "Save",
        "form-0-id": ids[0],
        "form-0-DELETE": "on",
        "form-0-is_active": "on",
        "form-0-label": "forged",
        "form-0-keyword": "forged",
        "form-1-id": "",
        "form-1-is_active": "on",
        "form-1-label": "forged",
    }

    answer = client_of(user).post("/admin/vacancies/filter/", data)

    assert answer.status_code < 500
    assert list(Filter.objects.order_by("pk").values_list("pk", flat=True)) == ids
    assert not Filter.objects.filter(label="forged").exists()


def test_script_url_is_rejected():
    """CVE-2026-15920: the admin rendered it as a link."""
    addresses = ("javascript:alert(1)", "JaVaScript:alert(1)", "data:text/html,x", "vbscript:x")
    models = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    accepted, rejected = [], 0
    for model, field in ((owner, field) for owner in models for field in owner._meta.fields):
        if isinstance(field, URLField) or field.name in ("url", "video"):
            for address in (*addresses, "java\nscript:alert(1)", " javascript:alert(1)"):
                try:
                    accepted.append((model, field.clean(address, model())))
                except ValidationError:
                    rejected += 1
    assert (accepted, rejected > 6) == ([], True)


def test_upload_folders_are_not_writable_by_others(settings, tmp_path):
    """CVE-2026-25674: they were created with the wrong mode."""
    settings.MEDIA_ROOT = tmp_path / "new"
    name = default_storage.save("attachments/deep/er/plan.txt", ContentFile(b"x"))

    for path in (tmp_path / "new" / name).parents:
        if path == tmp_path:
            break
        assert not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_api_renders_and_parses_json_only():
    """DRF 3.17.2: its AdminRenderer revealed data; 3.18.2: bodies in an invalid charset."""
    assert settings.REST_FRAMEWORK["DEFAULT_RENDERER_CLASSES"] == [
        "jobsite.api.renderers.JSONRenderer"
    ]
    assert settings.REST_FRAMEWORK["DEFAULT_PARSER_CLASSES"] == [
        "rest_framework.parsers.JSONParser"
    ]
    assert "rest_framework.authtoken" not in settings.INSTALLED_APPS


def test_pinned_versions_have_the_fixes():
    oldest = {
        "django": "5.2.19",
        "djangorestframework": "3.18.2",
        "pillow": "13.0.0",
        "gunicorn": "27.0.1",
    }
    pinned = dict(
        re.findall(r"^(\w+)==(\S+)", (settings.BASE_DIR / "requirements.txt").read_text(), re.M)
    )
    old = {
        name: pinned[name]
        for name, fixed in oldest.items()
        if Version(pinned[name]) < Version(fixed)
    }
    assert old == {}
