"""URLs of the applicants' pages and of invitations, below account/."""

from django.urls import path

from applications.pages import application as pages
from applications.pages.application import by_account, by_link
from applications.pages.calendar import calendar_address, calendar_feed
from applications.pages.invitation import invitation

LINK, OWN = "receipt/<str:token>", "applications/<int:pk>"

urlpatterns = [
    path("", pages.account, name="account"),
    path("export", pages.export_account, name="account-export"),
    path("delete", pages.delete_account, name="account-delete"),
    path("deleted", pages.deleted, name="application-deleted"),
    path("calendar", calendar_address, name="account-calendar"),
    path("calendar/<str:secret>.ics", calendar_feed, name="calendar-feed"),
    path("invitation/<str:token>", invitation, name="invitation"),
    path(LINK, by_link(pages.receipt), name="application-receipt"),
    path(f"{LINK}/withdraw", by_link(pages.withdraw), name="application-receipt-withdraw"),
    path(f"{LINK}/reply", by_link(pages.reply), name="application-receipt-reply"),
    path(f"{LINK}/choose", by_link(pages.choose_time), name="application-receipt-choose"),
    path(f"{LINK}/delete", by_link(pages.delete), name="application-receipt-delete"),
    path(f"{LINK}/consent", by_link(pages.consent), name="application-receipt-consent"),
    path(f"{LINK}/export", by_link(pages.export), name="application-receipt-export"),
    path(f"{LINK}/account", by_link(pages.create_account), name="application-receipt-account"),
    path(f"{LINK}/claim", by_link(pages.claim), name="application-receipt-claim"),
    path(OWN, by_account(pages.application), name="application-own"),
    path(f"{OWN}/withdraw", by_account(pages.withdraw), name="application-own-withdraw"),
    path(f"{OWN}/reply", by_account(pages.reply), name="application-own-reply"),
    path(f"{OWN}/choose", by_account(pages.choose_time), name="application-own-choose"),
    path(f"{OWN}/delete", by_account(pages.delete), name="application-own-delete"),
    path(f"{OWN}/consent", by_account(pages.consent), name="application-own-consent"),
    path(f"{OWN}/export", by_account(pages.export), name="application-own-export"),
]
