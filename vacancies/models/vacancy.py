"""Vacancies, with their options, recruiters, places and attachments."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from forms_structure.models import Form
from forms_structure.roles import accepts_applications
from jobsite.api.absolute_urls import host_url
from jobsite.fields import WebURLField
from jobsite.languages import LANGUAGES, site_language, supported, text_languages
from jobsite.text.language import recognised_language
from vacancies.choices import (
    Audience,
    EmploymentType,
    Keyword,
    PayPeriod,
    PlaceKind,
    State,
    VacancyStatus,
    WorkPlace,
    language_choices,
)
from vacancies.facts.pay import Pay
from vacancies.fields import FoldedField, HtmlField, slug_of
from vacancies.models.catalogue import Brand, FilterOption, Recruiter
from vacancies.models.vacancy_constraints import CONSTRAINTS, INDEXES
from vacancies.querysets import VacancyQuerySet, is_live
from vacancies.uploads.fields import ImageField
from vacancies.uploads.validators import PICTURE_RULE, validate_image, validate_picture
from vacancies.validators import validate_currency, validate_datetime, validate_video

if TYPE_CHECKING:
    from vacancies.models.vacancy_rows import Place, VacancyOption, VacancyRecruiter


class Vacancy(models.Model):
    """A job opening: its texts, classification, audience and publication."""

    title = models.CharField(_("title"), max_length=300)
    title_internal = models.CharField(
        _("internal title"),
        max_length=300,
        blank=True,
        default="",
        help_text=_("For your own employees. It is public too. If empty, they read the title."),
    )
    brand = models.ForeignKey(
        Brand,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="vacancies",
        verbose_name=_("brand"),
    )
    is_hot = models.BooleanField(
        _("featured"),
        default=False,
        help_text=_("Also appears in the lists of featured (“hot”) vacancies."),
    )
    is_permanent = models.BooleanField(
        _("continuously open"), default=False, help_text=_("Recruitment has no end date.")
    )
    options = models.ManyToManyField(
        FilterOption, through="VacancyOption", related_name="vacancies", verbose_name=_("options")
    )
    location = models.CharField(_("location"), max_length=200, blank=True, default="")
    reference = models.CharField(
        _("reference"),
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text=_("The number or code of the vacancy in your own records. Once per brand."),
    )
    language = models.CharField(
        _("language of the texts"),
        max_length=2,
        blank=True,
        default="",
        db_default="",
        choices=language_choices,
        help_text=_("If empty, the language of the site."),
    )
    work_place = models.CharField(
        _("work place"),
        max_length=10,
        blank=True,
        default="",
        db_default="",
        choices=WorkPlace.choices,
    )
    pay_min = models.DecimalField(
        _("pay from"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    pay_max = models.DecimalField(
        _("pay to"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    pay_currency = models.CharField(
        _("currency"),
        max_length=3,
        blank=True,
        default="",
        db_default="",
        validators=[validate_currency],
        help_text=_("Code of three letters, such as EUR."),
    )
    pay_period = models.CharField(
        _("pay period"),
        max_length=10,
        blank=True,
        default="",
        db_default="",
        choices=PayPeriod.choices,
    )
    pay_note = models.CharField(
        _("pay note"),
        max_length=300,
        blank=True,
        default="",
        db_default="",
        help_text=_("Gross or net, collective agreement, benefits."),
    )
    is_pay_public = models.BooleanField(
        _("show pay"),
        default=True,
        db_default=True,
        help_text=_("Public sites show the pay. If off, emails to applicants can contain it."),
    )

    description = HtmlField(_("description"))
    short_description = HtmlField(_("short description"))
    profile = HtmlField(_("profile"))
    offer = HtmlField(_("offer"))
    contact = HtmlField(_("contact"))
    company = HtmlField(_("company"))
    postcustom1 = HtmlField(_("extra information"))

    image = ImageField(
        _("image"),
        upload_to="vacancies",
        blank=True,
        validators=[validate_image, validate_picture],
        help_text=PICTURE_RULE,
    )
    image_url = WebURLField(_("image URL"), help_text=_("Used when no file is uploaded."))
    video = models.CharField(
        _("video"),
        max_length=1000,
        blank=True,
        default="",
        validators=[validate_video],
        help_text=_("URL of a video."),
    )
    head_recruiter = models.ForeignKey(
        Recruiter,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="headed_vacancies",
        verbose_name=_("lead recruiter (contact)"),
    )
    recruiters = models.ManyToManyField(
        Recruiter,
        through="VacancyRecruiter",
        related_name="vacancies",
        verbose_name=_("recruiters"),
    )

    form = models.ForeignKey(
        Form,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="vacancies",
        verbose_name=_("application form"),
        help_text=_("If empty, the form of the brand or the site is used."),
    )
    apply_url = WebURLField(
        _("application URL"),
        db_default="",
        help_text=_("Applicants apply at this address instead of through the application form."),
    )
    applications_kept_days = models.PositiveSmallIntegerField(
        _("days that applications are kept"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_(
            "After the last change of an application. If empty, the site's period applies."
        ),
    )

    audience = models.CharField(
        _("audience"), max_length=10, choices=Audience.choices, default=Audience.PUBLIC
    )
    status = models.CharField(
        _("status"), max_length=20, choices=VacancyStatus.choices, default=VacancyStatus.DRAFT
    )
    publish_from = models.DateTimeField(
        _("publish from"),
        null=True,
        blank=True,
        validators=[validate_datetime],
        help_text=_("Public from this time."),
    )
    publish_until = models.DateTimeField(
        _("closing date"),
        null=True,
        blank=True,
        validators=[validate_datetime],
        help_text=_("Public until this time. If empty, there is no closing date."),
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    # No auto_now: imports and saves without a change would look like an edit.
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now, editable=False)

    title_folded = FoldedField(sources=("title",))
    search_text = FoldedField(
        sources=(
            "title",
            "title_internal",
            "reference",
            "location",
            "description",
            "short_description",
            "profile",
            "offer",
            "contact",
            "company",
            "postcustom1",
        )
    )

    objects = VacancyQuerySet.as_manager()

    translated_from: "Vacancy | None" = None  # of a copy in another language (`shown_in`)
    served_form_id: int | None  # set by `with_form()`
    ordered_choices: "list[VacancyOption]"  # set by `with_related()`, as the next
    ordered_recruiter_links: "list[VacancyRecruiter]"

    class Meta:
        verbose_name = _("vacancy")
        verbose_name_plural = _("vacancies")
        permissions = [
            ("see_internal", "Reads internal vacancies where they are limited"),
            ("approve_vacancy", "Approves vacancies of brands with approval"),
        ]
        constraints = CONSTRAINTS
        indexes = INDEXES

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("vacancy", args=[self.pk])

    @property
    def slug(self) -> str:
        """ASCII slug of the title with the id in brackets; the id alone when no ASCII is left."""
        return "-".join(filter(None, (slug_of(self.title), f"({self.pk})")))

    @property
    def state(self) -> State:
        return self.state_at(timezone.now())

    def state_at(self, at: datetime) -> State:
        """Return the state at `at`."""
        if self.status != VacancyStatus.PUBLISHED or self.publish_from is None:
            return State(self.status)
        if is_live(self.publish_from, self.publish_until, at=at):
            return State.PUBLISHED
        return State.SCHEDULED if at < self.publish_from else State.EXPIRED

    @property
    def shown_title_internal(self) -> str:
        return self.title_internal or self.title

    @property
    def shown_brand(self) -> Brand | None:
        return self.brand if settings.MULTI_BRANDING else None

    @property
    def shown_language(self) -> str:
        return self.language or site_language()

    def recognised_language(self) -> str:
        """Return the language of the title and the texts about the job, or "" if it is not
        recognised. Texts about the employer, often the same in all languages, are left out."""
        texts = (self.title, self.description, self.profile, self.offer, self.short_description)
        return recognised_language(texts)

    @property
    def sites(self) -> "list[Place]":
        """The places where the work is done, in order. Requires `with_related()`."""
        return [place for place in self.places.all() if place.kind == PlaceKind.SITE]

    @property
    def remote_countries(self) -> list[str]:
        """The codes of countries where remote workers may live. Requires `with_related()`."""
        return [place.country for place in self.places.all() if place.kind == PlaceKind.APPLICANT]

    @property
    def employment_types(self) -> list[str]:
        """The employment types of its options, in order. Requires `with_related()`."""
        found = {choice.employment_type for choice in self.ordered_choices}
        return [each for each in EmploymentType.values if each in found]

    @property
    def pay(self) -> Pay:
        return Pay(self.pay_min, self.pay_max, self.pay_currency, self.pay_period, self.pay_note)

    @property
    def url(self) -> str:
        """The address of its page for people: on the website of its brand or on the career site. A
        path if that has the host of this service; "" if there is no page."""
        return self.url_in(self.language if self.translated_from else "")

    def url_in(self, language: str | None = None) -> str:
        """Return the address of its page in `language`, by default the active one; "": its own."""
        if self.brand and self.brand.vacancy_url:
            return f"{self.brand.address_in(self.shown_language)}{self.pk}"
        has_page = settings.CAREER_SITE and self.is_external
        path = self.path_in(get_language() or "" if language is None else language)
        return f"{self.site_base}{path}" if has_page else ""

    def path_in(self, language: str) -> str:
        """Return the path of its page on the career site in `language`. In its own, it has no
        prefix: the one address that search engines get (docs/decisions.md #290). With
        TEXT_LANGUAGES, another page is one of a translation (`shown_in`)."""
        row = self.translated_from or self
        has_page = language in LANGUAGES and (self.translated_from or not text_languages())
        is_other = has_page and language != supported(row.shown_language)
        return f"/{language}{self.site_path}" if is_other else row.site_path

    @property
    def is_external(self) -> bool:
        return self.audience != Audience.INTERNAL

    @property
    def site_path(self) -> str:
        """The path of its page on the career site."""
        return "/jobs/" + "-".join(filter(None, (str(self.pk), slug_of(self.title))))

    @property
    def site_base(self) -> str:
        """The base URL of the career site that has its page: of the host of its brand, else ""."""
        return host_url(self.brand.host) if self.brand else ""

    @property
    def shown_recruiters(self) -> list[Recruiter] | None:
        """The recruiters without the head recruiter, or None. Requires `with_related()`."""
        return [link.recruiter for link in self.ordered_recruiter_links] or None

    @property
    def served_form(self) -> Form | None:
        """The form that applicants get, with the one that it extends. One query.
        Requires `with_form()`."""
        return Form.objects.select_related("extends").filter(pk__in=[self.served_form_id]).first()

    def accepts_applications(self, form: Form | None) -> bool:
        """Whether the service takes applications with `form`, the `served_form`, while it is
        published."""
        return (
            not self.apply_url and form is not None and accepts_applications(form.whole_structure)
        )

    def labels(self, keyword: Keyword, language: str = "") -> list[str]:
        """Return the labels of one vocabulary in order, in `language` where they are translated.
        Requires `with_related()`."""
        found = (each for each in self.ordered_choices if each.keyword == keyword)
        return [(language and each.translations.get(language)) or each.label for each in found]

    def missing_to_publish(self) -> dict[str, str]:
        """Return the reasons why it cannot be published, by field (docs/decisions.md #6, #9)."""
        missing = {}
        if not self.head_recruiter_id:
            missing["head_recruiter"] = gettext("A vacancy needs a lead recruiter to be published.")
        if settings.MULTI_BRANDING and not self.brand_id:
            missing["brand"] = gettext("A vacancy needs a brand to be published.")
        return missing
