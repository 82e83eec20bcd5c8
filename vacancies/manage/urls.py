"""URLs below /v1/manage/, in the namespace `manage`: only the main host has them."""

from django.urls import path

from vacancies.manage import views

urlpatterns = [
    path("openapi.json", views.openapi, name="manage-openapi"),
    path("<str:brand>/vacancies", views.VacanciesView.as_view(), name="managed-vacancies"),
    path(
        "<str:brand>/vacancies/<str:reference>", views.VacancyView.as_view(), name="managed-vacancy"
    ),
    path("<str:brand>/values", views.ValuesView.as_view(), name="values"),
]
