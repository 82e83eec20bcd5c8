"""Texts of third-party packages that our catalogs translate. django-unfold has no catalog at all,
and Django's lacks some texts in some languages. `LOCALE_PATHS` gives our translations precedence.
"""

from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext_lazy

UNFOLD = [
    _("After you've created a user, you’ll be able to edit more user options."),
    _("Apply Filters"),
    _("Cancel"),
    _("Choose file to upload"),
    _("Click to cancel"),
    _("Click to download"),
    _("Dark"),
    _("Date"),
    _("Expand row"),
    _("False"),
    _("Filters"),
    _("Forgotten your password or username?"),
    _("General"),
    _("Go back"),
    _("Image preview"),
    _("Light"),
    _("Loading more results..."),
    _("More actions"),
    _("Next"),
    _("No data"),
    _("No recent searches"),
    _("No results found"),
    _("No results matching your query"),
    _("Nothing matched your search"),
    _("Previous"),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you "
        "can change the"
        ' password using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'
    ),
    _("Recent searches"),
    _("Record picture"),
    _("Reset filters"),
    _("Return to site"),
    _("Run"),
    _("Search apps and models..."),
    _("Select"),
    _("Select action"),
    _("Select action to run"),
    _("Select all rows"),
    _("Select record"),
    _("Select value"),
    _("Submit"),
    _("System"),
    _("This item will be deleted."),
    _("This page yielded into no results."),
    _("This page yielded into no results. Create a new item or reset your filters."),
    _("Toggle password visibility"),
    _("True"),
    _("Type to search"),
    _("Welcome"),
    _("Welcome back to"),
    _("You have been successfully logged out from the administration"),
    # its list of keyboard shortcuts
    _("Available shortcuts"),
    _("Changelist shortcuts"),
    _("Command tool shortcuts"),
    _("Create new record"),
    _("Global shortcuts"),
    _("Navigate"),
    _("Open command tool"),
    _("Open selection"),
    _("Open selection in new tab"),
    _("Open shortcuts list"),
    _("Toggle dark/light mode"),
    _("Toggle filter"),
    _("Toggle sidebar"),
]

DJANGO = [
    _("- Select an option -"),  # of Django 6.1
    _("Conflicting form data submitted. Please try again."),
    _("Disabled"),
    _("Enable password-based authentication for this user by setting a password."),
    _("Enabled"),
    _("History"),  # German: Django's "Geschichte" is the wrong word
    _("Password-based authentication"),
    _("Password-based authentication was disabled."),
    _("Raw passwords are not stored, so there is no way to see the user’s password."),
    _("Reset password"),
    _("Run the selected action"),
    _("Set password"),
    _("Set password: %s"),
    _(
        "Whether the user will be able to authenticate using a password or not. If disabled, "
        "they may still"
        " be able to authenticate using other backends, such as Single Sign-On or LDAP."
    ),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
]
