"""Brands, recruiters, filters and filter options: the rows that vacancies refer to."""

from collections.abc import Iterable

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from forms_structure.choices import Language
from forms_structure.models import ConsentText, Form
from jobsite.fields import WebURLField
from jobsite.languages import LANGUAGES, site_language
from jobsite.unseen import plain_number
from vacancies.choices import EmploymentType, Keyword
from vacancies.fields import HtmlField, LabelsField, SlugFromField, free_value
from vacancies.querysets import FilterQuerySet
from vacancies.uploads.fields import ImageField
from vacancies.uploads.validators import validate_image
from vacancies.validators import validate_color, validate_host


class Brand(models.Model):
    """An employer brand: the name, text, icons and website that are shown with its vacancies."""

    name = models.CharField(_("name"), max_length=200, unique=True)
    slug = SlugFromField(
        source="name",
        verbose_name=_("value"),
        help_text=_("Used in links. If empty, it is derived from the name."),
    )
    description = HtmlField(_("description"))
    url = WebURLField(_("website"))
    vacancy_url = WebURLField(
        _("address of a vacancy"),
        db_default="",
        help_text=_(
            "The address of a vacancy on the website of this brand, up to its ID, which is added: "
            "https://www.example.com/jobs/. {language} stands for the language of its texts."
        ),
    )
    host = models.CharField(
        _("host"),
        max_length=255,
        blank=True,
        default="",
        db_default="",
        validators=[validate_host],
        help_text=_(
            "The host of this brand’s own career site, such as jobs.example.com. Its vacancies "
            "have their pages there."
        ),
    )
    accent = models.CharField(
        _("color"),
        max_length=7,
        blank=True,
        default="",
        db_default="",
        validators=[validate_color],
        help_text=_(
            "The color of the header and the buttons of its career site, such as #0b57b0. Their "
            "text is black or white, whichever is easier to read."
        ),
    )
    form = models.ForeignKey(
        Form,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="brands",
        verbose_name=_("application form"),
        help_text=_(
            "Used for vacancies of this brand that have no form of their own. If empty, the "
            "site's form is used."
        ),
    )
    requires_approval = models.BooleanField(
        _("publish with approval only"),
        default=False,
        db_default=False,
        help_text=_(
            "A vacancy of this brand becomes public, or changes in public, when a colleague has "
            "approved it."
        ),
    )
    icon_small = ImageField(
        _("small icon"), upload_to="brands", blank=True, validators=[validate_image]
    )
    icon_small_url = WebURLField(_("small icon URL"), help_text=_("Used when no file is uploaded."))
    icon_large = ImageField(
        _("large icon"), upload_to="brands", blank=True, validators=[validate_image]
    )
    icon_large_url = WebURLField(_("large icon URL"), help_text=_("Used when no file is uploaded."))

    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        limit_choices_to={"is_staff": True},
        related_name="brands",
        help_text=_(
            "Recruiters with access to this brand. Recruiters with access to every brand are not "
            "listed."
        ),
        verbose_name=_("members"),
    )

    class Meta:
        verbose_name = _("brand")
        verbose_name_plural = _("brands")
        ordering = ["name"]
        permissions = [("work_for_every_brand", "Works for every brand")]
        constraints = [
            # SQL can insert brands without one.
            models.UniqueConstraint(
                fields=["slug"],
                condition=~models.Q(slug=""),
                name="brand_slug_once",
                violation_error_message=_("Another brand has this value."),
            ),
            models.UniqueConstraint(
                fields=["host"],
                condition=~models.Q(host=""),
                name="brand_host_once",
                violation_error_message=_("Another brand has this host."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of_slug(cls, slug: str) -> "Brand | None":
        """Return the brand `slug`, None for "" and for what PostgreSQL does not take (NUL)."""
        is_possible = slug != "" and slug.isprintable()
        return cls._default_manager.filter(slug=slug).first() if is_possible else None

    def address_in(self, language: str) -> str:
        """Return `vacancy_url` for vacancies with texts in `language`."""
        return self.vacancy_url.replace("{language}", language)


class BrandLink(models.Model):
    """A link that the pages of a brand and its emails have at the end, or
    those of the whole site.
    """

    MAX = 6  # of a brand, or of the site, in a language

    class Kind(models.TextChoices):
        PRIVACY = "privacy", _("Privacy statement")
        IMPRINT = "imprint", _("Imprint")
        ACCESSIBILITY = "accessibility", _("Accessibility statement")
        OTHER = "other", pgettext_lazy("a link", "Other")

    brand = models.ForeignKey(
        Brand,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="links",
        verbose_name=_("brand"),
        help_text=_("If empty: for the site, and for brands without a link of this kind."),
    )
    kind = models.CharField(_("kind"), max_length=13, choices=Kind.choices)
    label = models.CharField(
        _("link text"),
        max_length=100,
        blank=True,
        default="",
        help_text=_("If empty: the name of its kind."),
    )
    url = WebURLField(_("address"), blank=False, help_text=_("Of a web page: https://…"))
    language = models.CharField(
        _("language"), max_length=2, choices=Language.choices, default=site_language
    )

    class Meta:
        verbose_name = _("link of a brand")
        verbose_name_plural = _("links of brands")
        ordering = ["brand", "language", "pk"]
        constraints = [
            models.UniqueConstraint(
                "kind",
                "language",
                Coalesce("brand", 0),
                condition=~models.Q(kind="other"),
                name="brand_link_once",
                violation_error_message=_("There is a link of this kind in this language already."),
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="other", label=""),
                name="other_link_has_text",
                violation_error_message=_("Enter the link text."),
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.get_kind_display()

    def clean(self) -> None:
        others = BrandLink.objects.filter(brand=self.brand_id, language=self.language).exclude(
            pk=self.pk
        )
        if others.count() >= self.MAX:
            raise ValidationError(
                _("There are %(max)d links in this language already.") % {"max": self.MAX}
            )

    @classmethod
    def shown(cls, language: str, brand: int | None = None) -> "list[BrandLink]":
        """Return the links of `brand`, an id, in `language`; in place of a kind that it lacks,
        those of the site. The right employer comes before the right language (docs/decisions.md
        #289), and the privacy statement of the consent text after a link of the same employer.
        """
        found = list(
            BrandLink.objects.filter(models.Q(brand=brand) | models.Q(brand=None)).order_by("pk")
        )
        consent = ConsentText.objects.current(language, brand)
        if consent.statement_url:
            own = {"brand_id": consent.brand_number, "language": consent.language}
            texts = {"label": consent.statement_label, "url": consent.statement_url}
            found.append(BrandLink(kind=cls.Kind.PRIVACY, **own, **texts))
        codes = (language, site_language(), *LANGUAGES)
        found.sort(key=lambda link: (link.brand_id != brand, codes.index(link.language)))
        best: dict[str, list[BrandLink]] = {kind: [] for kind in cls.Kind.values}
        for link in found:
            kept, place = best[link.kind], (link.brand_id, link.language)
            if not kept or (
                link.kind == cls.Kind.OTHER and place == (kept[0].brand_id, kept[0].language)
            ):
                kept.append(link)
        return [link for kept in best.values() for link in kept]


class Recruiter(models.Model):
    """A contact for vacancies: a person or an office."""

    name = models.CharField(_("name"), max_length=200)
    function = models.CharField(_("function"), max_length=200, blank=True, default="")
    email = models.EmailField(_("e-mail"), blank=True, default="")
    is_email_public = models.BooleanField(
        _("show e-mail"), default=False, help_text=_("Visible to everyone on the public sites.")
    )
    phone = models.CharField(_("phone"), max_length=50, blank=True, default="")
    is_phone_public = models.BooleanField(
        _("show phone"), default=False, help_text=_("Visible to everyone on the public sites.")
    )
    image = ImageField(_("image"), upload_to="recruiters", blank=True, validators=[validate_image])
    image_url = WebURLField(_("image URL"), help_text=_("Used when no file is uploaded."))

    class Meta:
        verbose_name = _("recruiter")
        verbose_name_plural = _("recruiters")
        ordering = ["name", "pk"]
        indexes = [models.Index(fields=["image"], name="recruiter_image")]  # see vacancies/media

    def clean(self) -> None:
        self.phone = plain_number(self.phone)

    def __str__(self) -> str:
        return self.name

    @property
    def shown_email(self) -> str:
        return self.email if self.is_email_public else ""

    @property
    def shown_phone(self) -> str:
        return self.phone if self.is_phone_public else ""


class Filter(models.Model):
    """One of the nine vocabularies, with its label and options.
    Sites show it as a filter if it is active.
    """

    keyword = models.CharField(_("keyword"), max_length=30, unique=True, choices=Keyword.choices)
    label = models.CharField(_("label"), max_length=200)
    is_active = models.BooleanField(
        _("offered as a filter"),
        default=False,
        help_text=_("Public sites show it as a filter on their lists."),
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    translations = LabelsField()

    objects = FilterQuerySet.as_manager()

    class Meta:
        verbose_name = _("filter")
        verbose_name_plural = _("filters")
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.label

    def next_position(self) -> int:
        """Return the position after all options."""
        return (self.options.aggregate(last=models.Max("position"))["last"] or 0) + 1

    def add_option(self, label: str, *, beside: "Iterable[FilterOption]") -> "FilterOption":
        """Create the option `label` with a value that none of the options `beside` it has."""
        return self.options.create(
            label=label, value=free_value(label, {option.value for option in beside})
        )


class FilterOption(models.Model):
    """A term of a vocabulary. Renaming it changes every vacancy that has it."""

    filter = models.ForeignKey(
        Filter, on_delete=models.PROTECT, related_name="options", verbose_name=_("filter")
    )
    label = models.CharField(_("label"), max_length=200)
    value = models.SlugField(
        _("value"),
        max_length=200,
        blank=True,
        help_text=_("Used in links. If empty, it is derived from the label."),
    )
    employment_type = models.CharField(
        _("employment type (search engines)"),
        max_length=10,
        blank=True,
        default="",
        db_default="",
        choices=EmploymentType.choices,
        help_text=_("What the option means to search engines and job boards."),
    )
    is_active = models.BooleanField(
        _("available to recruiters"),
        default=True,
        help_text=_(
            "If off, vacancies with this option keep it, and other vacancies cannot get it."
        ),
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    translations = LabelsField()

    class Meta:
        verbose_name = _("filter option")
        verbose_name_plural = _("filter options")
        ordering = ["position", "label", "pk"]
        constraints = [
            models.UniqueConstraint(
                "filter",
                "label",
                name="option_label_once",
                violation_error_message=_("This filter already has an option with this label."),
            ),
            models.UniqueConstraint(
                "filter",
                "value",
                name="option_value_once",
                violation_error_message=_("This filter already has an option with this value."),
            ),
            models.CheckConstraint(
                condition=models.Q(employment_type__in=["", *EmploymentType.values]),
                name="employment_type_known",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if not self.value and self.filter_id:
            others = FilterOption.objects.filter(filter=self.filter_id).exclude(pk=self.pk)
            self.value = free_value(self.label, set(others.values_list("value", flat=True)))
