"""The choices of application forms: field types, roles, widths, language levels and languages."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

CHECKED = "1"  # the only value of a checkbox
# docs/decisions.md #40. The labels are shown in the language of the form.
LEVELS = {
    "0": pgettext_lazy("language level", "no"),
    "1": pgettext_lazy("language level", "weak"),
    "2": pgettext_lazy("language level", "moderate"),
    "3": pgettext_lazy("language level", "good"),
    "4": pgettext_lazy("language level", "very good"),
    "5": pgettext_lazy("language level", "native speaker"),
}


class FieldType(TextChoices):
    """The types of inputs. The specification defines the first five;
    recruiters can choose the others too.
    """

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
        """Whether recruiters define its options."""
        return self in (self.SELECT, self.CHECKBOX_GROUP, self.RADIO_GROUP)

    @property
    def fixed_values(self) -> tuple[str, ...]:
        """The values of a type whose options are predefined."""
        return {self.RANGE: tuple(LEVELS), self.CHECKBOX: (CHECKED,)}.get(self, ())

    @property
    def is_conditional_owner(self) -> bool:
        """Whether other fields can depend on its value."""
        return self.has_options or bool(self.fixed_values)


class FieldRole(TextChoices):
    """What a field says about the applicant, for this service: `/form` leaves it out, because the
    interface fixes the keys of a field (2.9). A form has each role at most once.
    """

    EMAIL = "email", _("E-mail address of the applicant")
    GIVEN_NAME = "given_name", _("First name of the applicant")
    FAMILY_NAME = "family_name", _("Last name of the applicant")
    PHONE = "phone", _("Telephone number of the applicant")
    CV = "cv", _("CV of the applicant")
    POOL = "pool", _("Consent to the talent pool")

    @property
    def types(self) -> tuple[FieldType, ...]:
        """The types of fields that can have the role. The first one is the usual type."""
        return {
            self.EMAIL: (FieldType.EMAIL,),
            self.PHONE: (FieldType.TEL, FieldType.TEXT),
            self.CV: (FieldType.FILE,),
            self.POOL: (FieldType.CHECKBOX,),
        }.get(self, (FieldType.TEXT,))

    @property
    def may_be_conditional(self) -> bool:
        """Whether a field that is not always visible can have the role."""
        return self is not self.EMAIL

    @property
    def may_be_required(self) -> bool:
        """Whether applicants may have to fill in the field. A consent is free."""
        return self is not self.POOL


class Width(TextChoices):
    """The width of a field, as a CSS class of a grid of twelve columns."""

    FULL = "col-12", _("Full width")
    TWO_THIRDS = "col-8", _("Two thirds")
    HALF = "col-6", _("Half")
    THIRD = "col-4", _("A third")
    QUARTER = "col-3", _("A quarter")


class Language(TextChoices):
    """The languages of the generated parts of a form."""

    ENGLISH = "en", _("English")
    DUTCH = "nl", _("Dutch")
    FRENCH = "fr", _("French")
    GERMAN = "de", _("German")
