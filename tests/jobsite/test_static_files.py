"""Static files of a site that has not run `collectstatic`."""

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template.loader import render_to_string
from django.test import override_settings

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "jobsite.serving.static_files.StaticFilesStorage"},
}


def test_error_page_without_collectstatic_is_rendered(tmp_path):
    with override_settings(DEBUG=False, STORAGES=STORAGES, STATIC_ROOT=tmp_path):
        assert "static/" in render_to_string("404.html")
        # After it, a missing file is an error.
        staticfiles_storage.hashed_files = {"a.css": "a.1.css"}
        with pytest.raises(ValueError, match="Missing staticfiles manifest entry"):
            staticfiles_storage.url("b.css")
