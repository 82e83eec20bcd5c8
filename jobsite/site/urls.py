"""The URLs of the career site. Without CAREER_SITE, each is 404."""

from django.urls import path, register_converter

from jobsite.languages import LANGUAGES
from jobsite.site import alerts, feeds, sitemaps, views
from jobsite.site.embed import embed


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
    *(
        path(prefix + route, view, name=name)
        for prefix in ("", "<site_language:language>/")
        for route, view, name in (
            ("jobs/<int:pk>", views.vacancy, "vacancy"),
            ("jobs/<int:pk>-<slug:slug>", views.vacancy, "vacancy"),
            ("brands/<slug:slug>", views.brand, "brand"),
            ("alerts", alerts.sign_up_page, "alerts"),
            ("alerts/sent", alerts.sent, "alerts-sent"),
            ("alerts/confirm/<str:token>", alerts.confirmation, "alert-confirm"),
            ("alerts/<str:token>", alerts.alert, "alert"),
            ("alerts/<str:token>/unsubscribe", alerts.unsubscribe, "alert-unsubscribe"),
        )
    ),
    path("embed.js", embed, name="embed"),
    path("site.css", views.theme, name="theme"),
    path("brands/<slug:slug>.css", views.theme, name="theme"),
    path("robots.txt", sitemaps.robots, name="robots"),
    path("sitemap.xml", sitemaps.index, name="sitemap"),
    path("sitemap-<int:number>.xml", sitemaps.part, name="sitemap"),
    path("jobs.atom", feeds.atom, name="atom"),
    path("<site_language:language>/jobs.atom", feeds.atom, name="atom"),
    path("feeds/indeed.xml", feeds.indeed, name="indeed"),
]
