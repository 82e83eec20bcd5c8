"""The URLs of the career site. Without CAREER_SITE, each is 404."""

from django.urls import path, register_converter

from jobsite.languages import LANGUAGES
from jobsite.site import views


class LanguageConverter:
    """One of the languages of the pages."""

    regex = "|".join(LANGUAGES)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(LanguageConverter, "site_language")

app_name = "site"
urlpatterns = [
    path("", views.home, name="home"),
    path("jobs", views.jobs, name="jobs"),
    path("<site_language:language>/jobs", views.jobs, name="jobs"),
    path("jobs/<int:pk>", views.vacancy, name="vacancy"),
    path("jobs/<int:pk>-<slug:slug>", views.vacancy, name="vacancy"),
    path("site.css", views.theme, name="theme"),
    path("brands/<slug:slug>.css", views.theme, name="theme"),
    path("brands/<slug:slug>", views.brand, name="brand"),
]
