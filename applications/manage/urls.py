"""URLs of applications below /v1/manage/."""

from django.urls import path

from applications.manage import views

urlpatterns = [
    path("<str:brand>/applications", views.ApplicationsView.as_view(), name="applications"),
    path(
        "<str:brand>/applications/<int:pk>",
        views.ApplicationView.as_view(),
        name="managed-application",
    ),
    path(
        "<str:brand>/applications/<int:pk>/files/<int:number>",
        views.ApplicationFileView.as_view(),
        name="application-file",
    ),
]
