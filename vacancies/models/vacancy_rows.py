"""The rows of a vacancy: its options, recruiters, attachments and places."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobsite.fields import WebURLField
from jobsite.text.iso_names import country_name
from vacancies.choices import (
    COUNTRIES,
    PlaceKind,
    country_choices,
)
from vacancies.models.catalogue import FilterOption, Recruiter
from vacancies.models.vacancy import Vacancy
from vacancies.uploads.fields import DocumentField
from vacancies.uploads.validators import validate_document


class VacancyOption(models.Model):
    """An option of a vacancy, with its position. One relation serves all nine filters, so that one
    query loads the options of a page.
    """

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="choices")
    option = models.ForeignKey(FilterOption, on_delete=models.PROTECT, related_name="choices")
    position = models.PositiveIntegerField(default=0)

    keyword: str  # of its filter; set by `VacancyQuerySet.with_related()`
    label: str  # of the option; the same
    employment_type: str  # of the option; the same
    translations: dict[str, str]  # of its label; the same, with TEXT_LANGUAGES

    class Meta:
        verbose_name = _("option of a vacancy")
        verbose_name_plural = _("options of a vacancy")
        constraints = [
            models.UniqueConstraint(fields=["vacancy", "option"], name="option_once_per_vacancy")
        ]
        # covering index: the vacancies with an option
        indexes = [models.Index(fields=["option", "vacancy"], name="vacancies_with_option")]

    def __str__(self) -> str:
        return str(self.option)


class VacancyRecruiter(models.Model):
    """A recruiter of a vacancy other than the head recruiter, with its position."""

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.CASCADE, related_name="recruiter_links", verbose_name=_("vacancy")
    )
    recruiter = models.ForeignKey(
        Recruiter, on_delete=models.PROTECT, related_name="links", verbose_name=_("recruiter")
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("vacancy recruiter")
        verbose_name_plural = _("vacancy recruiters")
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["vacancy", "recruiter"], name="recruiter_once_per_vacancy"
            )
        ]

    def __str__(self) -> str:
        return str(self.recruiter)


class Attachment(models.Model):
    """A file of a vacancy: an upload or an external URL."""

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.CASCADE, related_name="attachments", verbose_name=_("vacancy")
    )
    name = models.CharField(_("file name"), max_length=200)
    file = DocumentField(
        _("file"), upload_to="attachments", blank=True, validators=[validate_document]
    )
    url = WebURLField(_("link (URL)"))
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(file="", url__gt="") | Q(file__gt="", url=""),
                name="attachment_file_or_url",
                violation_error_message=_("Upload a file or enter a URL, not both."),
            )
        ]
        indexes = [models.Index(fields=["file"], name="attachment_file")]  # see vacancies/media

    def __str__(self) -> str:
        return self.name


class Place(models.Model):
    """A place where the work of a vacancy is done, or a country in which a
    remote worker may live.
    """

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.CASCADE, related_name="places", verbose_name=_("vacancy")
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    kind = models.CharField(
        _("kind"), max_length=10, choices=PlaceKind.choices, default=PlaceKind.SITE
    )
    street = models.CharField(_("street and number"), max_length=200, blank=True, default="")
    postal_code = models.CharField(_("postal code"), max_length=20, blank=True, default="")
    locality = models.CharField(_("city"), max_length=100, blank=True, default="")
    region = models.CharField(_("region"), max_length=100, blank=True, default="")
    country = models.CharField(_("country"), max_length=2, choices=country_choices)
    latitude = models.DecimalField(
        _("latitude"),
        max_digits=9,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(-90), MaxValueValidator(90)],
    )
    longitude = models.DecimalField(
        _("longitude"),
        max_digits=9,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(-180), MaxValueValidator(180)],
    )

    ADDRESS = ("street", "postal_code", "locality", "region", "country", "latitude", "longitude")

    class Meta:
        verbose_name = _("place")
        verbose_name_plural = _("places")
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=PlaceKind.values), name="place_kind_known"),
            models.CheckConstraint(
                condition=Q(country__in=COUNTRIES),
                name="place_country_known",
                violation_error_message=_("Choose a country."),
            ),
            models.CheckConstraint(
                condition=Q(kind=PlaceKind.SITE) & ~Q(locality="")
                | Q(
                    kind=PlaceKind.APPLICANT,
                    street="",
                    postal_code="",
                    locality="",
                    region="",
                    latitude=None,
                ),
                name="place_complete",
                violation_error_message=_(
                    "A place of work needs a city. A country for remote work has no address."
                ),
            ),
            models.CheckConstraint(
                condition=Q(latitude=None, longitude=None)
                | Q(latitude__range=(-90, 90), longitude__range=(-180, 180)),
                name="place_coordinates",
                violation_error_message=_(
                    "Enter both coordinates or none: latitude from -90 to 90, longitude from "
                    "-180 to 180."
                ),
            ),
        ]
        indexes = [
            models.Index(fields=["latitude", "longitude"], name="place_coordinates_index"),
        ]

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.locality, country_name(self.country))))

    @property
    def address(self) -> dict[str, object]:
        """The values of its fields, without the vacancy, the kind and the position."""
        return {name: getattr(self, name) for name in self.ADDRESS}
