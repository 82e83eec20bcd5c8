"""The closed lists of application forms: types of fields, widths, and the levels of a range."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

CHECKED = "1"  # the one value of a checkbox
# docs/decisions.md #40; what they mean is said in the language of the form.
LEVELS = {
    "0": pgettext_lazy("language level", "no"),
    "1": pgettext_lazy("language level", "weak"),
    "2": pgettext_lazy("language level", "moderate"),
    "3": pgettext_lazy("language level", "good"),
    "4": pgettext_lazy("language level", "very good"),
    "5": pgettext_lazy("language level", "native speaker"),
}


class FieldType(TextChoices):
    """The kinds of input. The first five are the interface's own; the others appear only where a
    recruiter picks them."""

    TEXT = "text", _("Short text")
    SELECT = "select", _("Drop-down list")
    RANGE = "range", _("Language level")
    CHECKBOX_GROUP = "checkbox-group", _("Checkboxes")
    CHECKBOX = "checkbox", _("Checkbox")
    RADIO_GROUP = "radio-group", _("Radio buttons")
    TEXTAREA = "textarea", _("Long text")
    EMAIL = "email", _("E-mail address")
    TEL = "tel", _("Telephone number")
    DATE = "date", _("Date")
    FILE = "file", _("File")

    @property
    def has_options(self) -> bool:
        """Whether its options are the recruiter's."""
        return self in (self.SELECT, self.CHECKBOX_GROUP, self.RADIO_GROUP)

    @property
    def fixed_values(self) -> tuple[str, ...]:
        """The values of a type that brings its own."""
        return {self.RANGE: tuple(LEVELS), self.CHECKBOX: (CHECKED,)}.get(self, ())

    @property
    def is_conditional_owner(self) -> bool:
        """Whether other fields can depend on what is chosen here."""
        return self.has_options or bool(self.fixed_values)


class Width(TextChoices):
    """How much of a row a field takes, as classes of the usual grid of twelve columns."""

    FULL = "col-12", _("Full width")
    TWO_THIRDS = "col-8", _("Two thirds")
    HALF = "col-6", _("Half")
    THIRD = "col-4", _("A third")
    QUARTER = "col-3", _("A quarter")


class Language(TextChoices):
    """The languages in which the generated parts of a form can be said."""

    ENGLISH = "en", _("English")
    DUTCH = "nl", _("Dutch")
    FRENCH = "fr", _("French")
    GERMAN = "de", _("German")
