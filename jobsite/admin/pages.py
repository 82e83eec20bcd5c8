"""Pages beside the list and the form of an admin: views that receive the admin."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.urls import URLPattern, path

from jobsite.types import Context, StrOrPromise


class AdminPages:
    """Some pages of a model. `admin` is the ModelAdmin whose permissions and rows they use."""

    def __init__(self, admin: Any) -> None:
        self.admin = admin

    def urls(self) -> list[URLPattern]:
        """Return the URLs below the list; none for a page in place of one of Django's."""
        return []

    def object_urls(self, views: dict[str, Callable]) -> list[URLPattern]:
        """Return a URL below an object for each view, by name: "review" is at <pk>/review/ and is
        called vacancies_vacancy_review.
        """
        return [
            self.url(f"<path:object_id>/{name}/", view, name.replace("-", "_"))
            for name, view in views.items()
        ]

    def url(self, route: str, view: Callable, name: str, /, **values: object) -> URLPattern:
        """Return the URL `route` below the list of the model."""
        opts = self.admin.opts
        wrapped = self.admin.admin_site.admin_view(view)
        return path(route, wrapped, values, name=f"{opts.app_label}_{opts.model_name}_{name}")

    def context(self, request: HttpRequest, title: StrOrPromise, **values: object) -> Context:
        """Return the context of a page: what every page of the admin has, and `values`."""
        return {
            **self.admin.admin_site.each_context(request),
            "title": title,
            "opts": self.admin.opts,
            **values,
        }
