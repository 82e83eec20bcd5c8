"""URLs of the applicants' pages, below account/."""

from django.urls import path

from applications import pages

urlpatterns = [
    path("receipt/<str:token>", pages.receipt, name="application-receipt"),
]
