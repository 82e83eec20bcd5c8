"""All URLs of the job site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import JavaScriptCatalog, set_language
from rest_framework.routers import SimpleRouter

from applications.api import v1 as applications_v1
from applications.api.auth import TokenViewSet
from applications.api.submissions import SubmissionViewSet
from applications.apply import apply, thanks
from applications.manage.urls import urlpatterns as manage_applications
from jobsite.api.docs import DocsView, guide, openapi_json
from vacancies.api import v0_1 as vacancies_v0_1
from vacancies.api.v1.changes import ChangeViewSet, InternalChangeViewSet
from vacancies.api.v1.filters import FilterViewSet
from vacancies.api.v1.vacancies import SingleVacancyViewSet, VacancyViewSet
from vacancies.manage.urls import urlpatterns as manage_urls
from vacancies.media.serving import media
from vacancies.pages import page, preview

v1 = SimpleRouter(trailing_slash=False)
v1.register("vacancies", VacancyViewSet, basename="vacancy")
v1.register("vacancies/changes", ChangeViewSet, basename="change")
v1.register("vacancies/internal/changes", InternalChangeViewSet, basename="internal-change")
v1.register("vacancies", SingleVacancyViewSet, basename="single-vacancy")
v1.register("vacancies", SubmissionViewSet, basename="submission")
v1.register("filters", FilterViewSet, basename="filter")
v1.register("user/applications", applications_v1.ApplicationViewSet, basename="application")
token = TokenViewSet.as_view({"post": "create", "delete": "destroy"})

v0_1 = SimpleRouter(trailing_slash=False)
v0_1.register("vacancies", vacancies_v0_1.VacancyViewSet, basename="vacancy")

handler500 = "jobsite.api.problems.server_error"
urlpatterns = [
    path("v1/manage/", include(([*manage_urls, *manage_applications], "manage"))),
    path("v1/", include(([*v1.urls, path("auth/token", token, name="token")], "v1"))),
    path("v0.1/", include((v0_1.urls, "v0_1"))),
    path("", include("jobsite.site.urls")),
    path("openapi.json", openapi_json, name="openapi"),
    path("docs", DocsView.as_view(), name="docs"),
    path("docs/api.md", guide, name="guide"),
    path("llms.txt", guide, {"name": "llms.txt"}, name="llms"),
    path("account/", include("applications.urls")),
    path("account/", include("jobsite.accounts.pages")),
    path("preview/<str:token>", preview, name="preview"),
    path("vacancies/<str:pk>", page, name="vacancy"),
    path("apply/thanks/<str:token>", thanks, name="apply-thanks"),
    path("apply/<str:pk>", apply, name="apply"),
    path("admin/language", set_language, name="set_language"),
    path(
        "admin/texts.js",
        JavaScriptCatalog.as_view(packages=["forms_structure", "vacancies"]),
        name="texts",
    ),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("media/<path:name>", media, name="media"),
]
