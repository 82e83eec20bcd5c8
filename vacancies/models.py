"""A vacancy, what it shows, and the one vocabulary it is classified and filtered by."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from forms_structure.models import Form
from jobsite.fields import WebURLField
from vacancies.fields import FoldedField, HtmlField
from vacancies.querysets import FilterQuerySet, VacancyQuerySet
from vacancies.uploads import DocumentField, ImageField
from vacancies.validators import (
    PICTURE_RULE,
    validate_document,
    validate_image,
    validate_moment,
    validate_picture,
    validate_video,
)
from vacancies.vocabulary import Keyword


class Brand(models.Model):
    """An employer's face: the name, text, icons and site shown with its vacancies."""

    name = models.CharField(max_length=200, unique=True)
    description = HtmlField()
    url = WebURLField(_("website"))
    form = models.ForeignKey(
        Form,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="brands",
        verbose_name=_("application form"),
        help_text=_("For its vacancies that have none of their own. The site's form when left empty."),
    )
    icon_small = ImageField(_("small icon"), upload_to="brands", blank=True, validators=[validate_image])
    icon_small_url = WebURLField(_("small icon elsewhere"), help_text=_("Used when no file is uploaded."))
    icon_large = ImageField(_("large icon"), upload_to="brands", blank=True, validators=[validate_image])
    icon_large_url = WebURLField(_("large icon elsewhere"), help_text=_("Used when no file is uploaded."))

    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        limit_choices_to={"is_staff": True},
        related_name="brands",
        help_text=_("Recruiters who work for this brand, unless they work for every one."),
    )

    class Meta:
        ordering = ["name"]
        permissions = [("work_for_every_brand", "Works for every brand")]

    def __str__(self) -> str:
        return self.name


class Recruiter(models.Model):
    """A person or office that answers for vacancies."""

    name = models.CharField(max_length=200)
    function = models.CharField(max_length=200, blank=True, default="")
    email = models.EmailField(_("e-mail"), blank=True, default="")
    is_email_public = models.BooleanField(
        _("show e-mail"), default=False, help_text=_("Shown to everybody on the public sites.")
    )
    phone = models.CharField(max_length=50, blank=True, default="")
    is_phone_public = models.BooleanField(
        _("show phone"), default=False, help_text=_("Shown to everybody on the public sites.")
    )
    image = ImageField(upload_to="recruiters", blank=True, validators=[validate_image])
    image_url = WebURLField(_("image elsewhere"), help_text=_("Used when no file is uploaded."))

    class Meta:
        ordering = ["name", "pk"]
        indexes = [models.Index(fields=["image"], name="recruiter_image")]  # see media.py

    def __str__(self) -> str:
        return self.name

    @property
    def shown_email(self) -> str:
        return self.email if self.is_email_public else ""

    @property
    def shown_phone(self) -> str:
        return self.phone if self.is_phone_public else ""


class Filter(models.Model):
    """One of the nine vocabularies: its label, whether sites offer it as a filter, its options."""

    keyword = models.CharField(max_length=30, unique=True, choices=Keyword.choices)
    label = models.CharField(max_length=200)
    is_active = models.BooleanField(
        _("offered as a filter"),
        default=False,
        help_text=_("Public sites show it as a filter on their lists."),
    )
    position = models.PositiveIntegerField(default=0)

    objects = FilterQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.label

    def next_position(self) -> int:
        """The place behind all its options."""
        return (self.options.aggregate(last=models.Max("position"))["last"] or 0) + 1

    def add_option(self, label: str, *, beside: "Iterable[FilterOption]") -> "FilterOption":
        """Create the option `label` with a value that those `beside` it, which are here, leave free."""
        return self.options.create(label=label, value=free_value(label, {option.value for option in beside}))


class FilterOption(models.Model):
    """A term of a vocabulary; renaming it changes every vacancy that carries it."""

    filter = models.ForeignKey(Filter, on_delete=models.PROTECT, related_name="options")
    label = models.CharField(max_length=200)
    value = models.SlugField(
        max_length=200,
        blank=True,
        help_text=_("Stands in links, e.g. filter[regions]=antwerp; made from the label when left empty."),
    )
    is_active = models.BooleanField(
        _("offered to recruiters"),
        default=True,
        help_text=_("When off, vacancies that carry it keep it, and no other one can get it."),
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        ordering = ["position", "label", "pk"]
        constraints = [
            models.UniqueConstraint(
                "filter", "label", name="option_label_once",
                violation_error_message=_("This filter already has an option with this label."),
            ),
            models.UniqueConstraint(
                "filter", "value", name="option_value_once",
                violation_error_message=_("This filter already has an option with this value."),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        if not self.value and self.filter_id:
            others = FilterOption.objects.filter(filter=self.filter_id).exclude(pk=self.pk)
            self.value = free_value(self.label, set(others.values_list("value", flat=True)))


def free_value(label: str, taken: set[str]) -> str:
    """Return the slug of `label`, numbered when `taken` holds it: "full-time", "full-time-2"."""
    base = slugify(label)[:180] or "option"
    return next(
        value for n in range(1, len(taken) + 2) if (value := base if n == 1 else f"{base}-{n}") not in taken
    )


class Audience(models.TextChoices):
    PUBLIC = "public", _("Public sites")
    INTERNAL = "internal", _("Internal only")
    BOTH = "both", _("Public sites and internal")


class Status(models.TextChoices):
    """What a recruiter decided; whether it is public now depends on the clock too."""

    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    ARCHIVED = "archived", _("Archived")


class State(models.TextChoices):
    """Where a vacancy stands at a moment: its status seen against the clock."""

    DRAFT = "draft", _("Draft")
    SCHEDULED = "scheduled", _("Scheduled")
    PUBLISHED = "published", _("Published")
    EXPIRED = "expired", _("Expired")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    ARCHIVED = "archived", _("Archived")


class Vacancy(models.Model):
    """A job on offer, its texts and classification, and when and to whom it shows."""

    title = models.CharField(max_length=300)
    title_internal = models.CharField(
        _("internal title"),
        max_length=300,
        blank=True,
        default="",
        help_text=_("Public: sites receive it as title_internal. The title is sent when left empty."),
    )
    brand = models.ForeignKey(
        Brand, on_delete=models.PROTECT, null=True, blank=True, related_name="vacancies"
    )
    is_hot = models.BooleanField(
        _("hot"), default=False, help_text=_("Deserves more attention: also in the hot lists.")
    )
    is_permanent = models.BooleanField(
        _("continuously open"), default=False, help_text=_("Has no end of recruitment.")
    )
    options = models.ManyToManyField(FilterOption, through="VacancyOption", related_name="vacancies")
    location = models.CharField(max_length=200, blank=True, default="")

    description = HtmlField()
    short_description = HtmlField()
    profile = HtmlField()
    offer = HtmlField()
    contact = HtmlField()
    company = HtmlField()
    postcustom1 = HtmlField(_("extra information"))

    image = ImageField(
        upload_to="vacancies",
        blank=True,
        validators=[validate_image, validate_picture],
        help_text=PICTURE_RULE,
    )
    image_url = WebURLField(_("image elsewhere"), help_text=_("Used when no file is uploaded."))
    video = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        validators=[validate_video],
        help_text=_("Address of a video."),
    )
    head_recruiter = models.ForeignKey(
        Recruiter, on_delete=models.PROTECT, null=True, blank=True, related_name="headed_vacancies"
    )
    recruiters = models.ManyToManyField(Recruiter, through="VacancyRecruiter", related_name="vacancies")

    form = models.ForeignKey(
        Form,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="vacancies",
        verbose_name=_("application form"),
        help_text=_("The brand's form when left empty, or the site's."),
    )

    audience = models.CharField(max_length=10, choices=Audience.choices, default=Audience.PUBLIC)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    publish_from = models.DateTimeField(
        null=True, blank=True, validators=[validate_moment], help_text=_("Shown from this moment on.")
    )
    publish_until = models.DateTimeField(
        null=True,
        blank=True,
        validators=[validate_moment],
        help_text=_("Not shown from this moment on; never ends when left empty."),
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    title_folded = FoldedField(sources=("title",))
    search_text = FoldedField(
        sources=(
            "title", "title_internal", "location", "description", "short_description",
            "profile", "offer", "contact", "company", "postcustom1",
        )
    )  # fmt: skip

    objects = VacancyQuerySet.as_manager()

    served_form_id: int | None  # set by `with_form()`
    # Set by `with_related()`.
    ordered_choices: "list[VacancyOption]"
    ordered_recruiter_links: "list[VacancyRecruiter]"

    class Meta:
        verbose_name_plural = _("vacancies")
        permissions = [("see_internal", "Reads internal vacancies where they are limited")]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="published")
                | Q(publish_from__isnull=False, head_recruiter__isnull=False),
                name="published_has_start_and_head",
                violation_error_message=_(
                    "A published vacancy needs a head recruiter and a moment to appear."
                ),
            ),
            models.CheckConstraint(
                condition=Q(publish_until__isnull=True) | Q(publish_until__gt=F("publish_from")),
                name="until_after_from",
                violation_error_message=_("The vacancy would vanish before it appears."),
            ),
            models.CheckConstraint(condition=Q(audience__in=Audience.values), name="audience_known"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="status_known"),
        ]
        indexes = [
            models.Index(
                F("publish_from").desc(),
                F("id").desc(),
                condition=Q(status="published"),
                name="published_newest",
            ),
            models.Index("publish_until", condition=Q(status="published"), name="published_until"),
            # For the workplace: what is put away or not out yet, and what is rare among what is out.
            *(
                models.Index(F("id").desc(), condition=Q(status=status), name=f"{status}_newest")
                for status in ("draft", "withdrawn", "archived")
            ),
            models.Index(
                "publish_until",
                condition=Q(status="published", description=""),
                name="published_without_text",
            ),
            models.Index(
                "publish_until",
                condition=Q(status="published", is_permanent=True, publish_until__isnull=False),
                name="published_permanent_ends",
            ),
            models.Index(
                "publish_until",
                condition=Q(status="published", title=Upper("title")),
                name="published_in_capitals",
            ),
            models.Index(fields=["image"], name="vacancy_image"),  # for media.py, which gets a name
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("v1:single-vacancy-detail", args=[self.pk])

    @property
    def slug(self) -> str:
        """ASCII slug of the title with the id in brackets; the id alone when no ASCII is left."""
        return "-".join(filter(None, (slugify(self.title), f"({self.pk})")))

    @property
    def state(self) -> State:
        return self.state_at(timezone.now())

    def state_at(self, at: datetime) -> State:
        """The state at the moment `at`, by the rule of `VacancyQuerySet.published`."""
        if self.status != Status.PUBLISHED or self.publish_from is None:
            return State(self.status)
        if at < self.publish_from:
            return State.SCHEDULED
        if self.publish_until and self.publish_until <= at:
            return State.EXPIRED
        return State.PUBLISHED

    @property
    def shown_title_internal(self) -> str:
        return self.title_internal or self.title

    @property
    def shown_brand(self) -> Brand | None:
        return self.brand if settings.MULTI_BRANDING else None

    @property
    def shown_recruiters(self) -> list[Recruiter] | None:
        """The recruiters beside the head in the recruiter's order, None when there are none; needs
        `with_related()`."""
        return [link.recruiter for link in self.ordered_recruiter_links] or None

    @property
    def served_form(self) -> Form | None:
        """The form that applicants get, with the one that it extends; needs `with_form()`. One query."""
        return Form.objects.select_related("extends").filter(pk__in=[self.served_form_id]).first()

    def labels(self, keyword: Keyword) -> list[str]:
        """Labels of one vocabulary in the recruiter's order; needs `with_related()`."""
        return [c.option.label for c in self.ordered_choices if c.option.filter.keyword == keyword]

    def missing_to_publish(self) -> dict[str, str]:
        """What keeps it from going out, by field (docs/decisions.md #6, #9)."""
        missing = {}
        if not self.head_recruiter_id:
            missing["head_recruiter"] = gettext("A vacancy needs a head recruiter to be published.")
        if settings.MULTI_BRANDING and not self.brand_id:
            missing["brand"] = gettext("A vacancy needs a brand to be published.")
        return missing


class VacancyOption(models.Model):
    """An option chosen for a vacancy, in the recruiter's order."""

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="choices")
    option = models.ForeignKey(FilterOption, on_delete=models.PROTECT, related_name="choices")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("option of a vacancy")
        verbose_name_plural = _("options of a vacancy")
        constraints = [models.UniqueConstraint(fields=["vacancy", "option"], name="option_once_per_vacancy")]
        # for who carries an option, without a look at the rows
        indexes = [models.Index(fields=["option", "vacancy"], name="option_carriers")]

    def __str__(self) -> str:
        return str(self.option)


class VacancyRecruiter(models.Model):
    """A recruiter linked to a vacancy beside its head, in the recruiter's order."""

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="recruiter_links")
    recruiter = models.ForeignKey(Recruiter, on_delete=models.PROTECT, related_name="links")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["vacancy", "recruiter"], name="recruiter_once_per_vacancy")
        ]

    def __str__(self) -> str:
        return str(self.recruiter)


class Attachment(models.Model):
    """A file that comes with a vacancy, uploaded here or kept elsewhere."""

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(_("file name"), max_length=200)
    file = DocumentField(upload_to="attachments", blank=True, validators=[validate_document])
    url = WebURLField(_("address elsewhere"))
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(file="", url__gt="") | Q(file__gt="", url=""),
                name="attachment_file_or_url",
                violation_error_message=_("Upload a file or give an address, not both."),
            )
        ]
        indexes = [models.Index(fields=["file"], name="attachment_file")]  # see media.py

    def __str__(self) -> str:
        return self.name


class Change(models.TextChoices):
    """What was done to a vacancy in the workplace."""

    FOUND = "found", _("Changed outside the workplace")
    CREATED = "created", pgettext_lazy("a vacancy", "Created")
    CHANGED = "changed", _("Changed")
    PUBLISHED = "published", _("Published")
    SCHEDULED = "scheduled", _("Planned")
    WITHDRAWN = "withdrawn", _("Taken offline")
    EXTENDED = "extended", _("Extended")
    ARCHIVED = "archived", _("Archived")
    DUPLICATED = "duplicated", _("Made as a copy")
    RESTORED = "restored", _("Restored")
    DELETED = "deleted", _("Deleted")


class Version(models.Model):
    """What one save or decision made of a vacancy: who, when, and the new value of all that changed, so
    that the values up to a version are the vacancy as it was then (docs/decisions.md #57). It outlives
    the vacancy."""

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, related_name="versions"
    )
    # For the walls between brands: whose vacancy it was.
    brand = models.ForeignKey(Brand, on_delete=models.SET_NULL, null=True, related_name="+")
    change = models.CharField(max_length=10, choices=Change.choices)
    content = models.JSONField(default=dict)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["-id"], condition=Q(change=Change.DELETED), name="versions_deleted")]
        constraints = [models.CheckConstraint(condition=Q(change__in=Change.values), name="change_known")]

    def __str__(self) -> str:
        return f"{self.get_change_display()}: {self.vacancy_id}"


class Phase(models.IntegerChoices):
    """Where a published vacancy stood when the clock was last written down."""

    AHEAD = 0
    LISTED = 1
    OVER = 2


IS_LISTED = Q(phase=Phase.LISTED)
FOR_PUBLIC = Q(audience__in=(Audience.PUBLIC, Audience.BOTH))
FOR_INTERNAL = Q(audience__in=(Audience.INTERNAL, Audience.BOTH))
# What is in each list of the interface; `vacancies.listing.LISTS` says the same to triggers.
LISTED = {
    "external": IS_LISTED & FOR_PUBLIC,
    "hot": IS_LISTED & FOR_PUBLIC & Q(is_hot=True),
    "internal": IS_LISTED & FOR_INTERNAL,
    "hot_internal": IS_LISTED & FOR_INTERNAL & Q(is_hot=True),
}
NEWEST = (F("publish_from").desc(), F("vacancy").desc())


class Listing(models.Model):
    """What the public reads of a vacancy whose status is published: what its place in the lists depends on,
    and its item as each version of the interface shows it, made when first asked for. Triggers keep it in
    step with the vacancy, whoever writes that (vacancies/listing.py)."""

    vacancy = models.OneToOneField(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, primary_key=True, related_name="+"
    )
    audience = models.CharField(max_length=10)
    is_hot = models.BooleanField()
    publish_from = models.DateTimeField()
    publish_until = models.DateTimeField(null=True)
    phase = models.SmallIntegerField(choices=Phase.choices)
    brand_id = models.BigIntegerField(null=True)
    form_id = models.BigIntegerField(null=True)
    stamp = models.BigIntegerField()  # another one after every change of what the items show
    v1 = models.BinaryField(null=True)
    v0_1 = models.BinaryField(null=True)

    class Meta:
        indexes = [
            *(models.Index(*NEWEST, condition=rule, name=f"listed_{name}") for name, rule in LISTED.items()),
            models.Index("audience", "is_hot", "publish_from", condition=Q(phase=0), name="listing_appears"),
            models.Index("audience", "is_hot", "publish_until", condition=IS_LISTED, name="listing_vanishes"),
        ]

    def __str__(self) -> str:
        return str(self.vacancy_id)


class Tally(models.Model):
    """How many vacancies that went out on one day (of 1970's first, in UTC) are in each list. On PostgreSQL
    the rows of a day add up: writers only add rows, so that they never wait for each other."""

    day = models.IntegerField()
    external = models.IntegerField()
    hot = models.IntegerField()
    internal = models.IntegerField()
    hot_internal = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="tally_day")]

    def __str__(self) -> str:
        return str(self.day)
