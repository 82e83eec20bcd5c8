"""URLs of the applicants' pages and of invitations, below account/."""

from django.urls import path

from applications.pages import account, application, changes, interviews
from applications.pages.access import by_account, by_link
from applications.pages.calendar import calendar_address, calendar_feed
from applications.pages.invitation import invitation

LINK, OWN = "receipt/<str:token>", "applications/<int:pk>"

urlpatterns = [
    path("", account.account, name="account"),
    path("export", account.export_account, name="account-export"),
    path("delete", account.delete_account, name="account-delete"),
    path("deleted", account.deleted, name="application-deleted"),
    path("calendar", calendar_address, name="account-calendar"),
    path("calendar/<str:secret>.ics", calendar_feed, name="calendar-feed"),
    path("invitation/<str:token>", invitation, name="invitation"),
    path(LINK, by_link(application.receipt), name="application-receipt"),
    path(f"{LINK}/withdraw", by_link(changes.withdraw), name="application-receipt-withdraw"),
    path(f"{LINK}/reply", by_link(interviews.reply), name="application-receipt-reply"),
    path(f"{LINK}/choose", by_link(interviews.choose_time), name="application-receipt-choose"),
    path(f"{LINK}/delete", by_link(changes.delete), name="application-receipt-delete"),
    path(f"{LINK}/consent", by_link(changes.consent), name="application-receipt-consent"),
    path(f"{LINK}/pool", by_link(changes.pool), name="application-receipt-pool"),
    path(f"{LINK}/leave", by_link(changes.leave, max_age=None), name="application-receipt-leave"),
    path(f"{LINK}/export", by_link(application.export), name="application-receipt-export"),
    path(f"{LINK}/account", by_link(account.create_account), name="application-receipt-account"),
    path(f"{LINK}/claim", by_link(account.claim), name="application-receipt-claim"),
    path(OWN, by_account(application.application), name="application-own"),
    path(f"{OWN}/withdraw", by_account(changes.withdraw), name="application-own-withdraw"),
    path(f"{OWN}/reply", by_account(interviews.reply), name="application-own-reply"),
    path(f"{OWN}/choose", by_account(interviews.choose_time), name="application-own-choose"),
    path(f"{OWN}/delete", by_account(changes.delete), name="application-own-delete"),
    path(f"{OWN}/consent", by_account(changes.consent), name="application-own-consent"),
    path(f"{OWN}/pool", by_account(changes.pool), name="application-own-pool"),
    path(f"{OWN}/export", by_account(application.export), name="application-own-export"),
]
