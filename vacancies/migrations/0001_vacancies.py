"""Vacancies, their child tables, and what they refer to."""

from django.conf import settings
from django.core import validators
from django.db import migrations, models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint, functions
from django.utils import timezone

from jobsite.db.tables import EMPTY, EMPTY_IN_SQL, NULL, CreateModels, fields
from jobsite.fields import WebURLField
from jobsite.languages import site_language
from vacancies import validators as checks
from vacancies.uploads import validators as uploads

USER = settings.AUTH_USER_MODEL
EMPLOYMENT_TYPES = (
    "FULL_TIME PART_TIME CONTRACTOR TEMPORARY INTERN VOLUNTEER PER_DIEM OTHER".split()
)
LANGUAGES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu "
    "cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he "
    "hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko "
    "kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd "
    "ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se "
    "sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty "
    "ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
).split()
COUNTRIES = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN "
    "BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ "
    "DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL "
    "GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM "
    "JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME "
    "MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP "
    "NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD "
    "SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO "
    "TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW "
).split()
REPLACED = (
    "0001_initial 0005_apply_url 0012_wording 0015_field_names 0017_vacancy_facts "
    "0018_vacancy_facts_constraints 0019_fact_indexes 0022_drop_fact_indexes 0023_requisition "
    "0025_brand_site 0027_brand_links 0029_video_validator "
).split()
TABLES = [
    migrations.CreateModel(
        "Brand",
        fields(
            name=models.CharField(max_length=200, unique=True),
            slug=models.SlugField(max_length=200, **EMPTY_IN_SQL),
            description=models.TextField(**EMPTY),
            url=WebURLField(max_length=1000, **EMPTY),
            vacancy_url=WebURLField(max_length=1000, **EMPTY_IN_SQL),
            host=models.CharField(
                max_length=255,
                **EMPTY_IN_SQL,
                validators=[
                    validators.RegexValidator(
                        "^(?=.{1,253}\\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:[0-9]{1,5})?\\Z",
                        "Enter a host in lower case, such as jobs.example.com, without https:// and path.",
                    )
                ],
            ),
            accent=models.CharField(
                max_length=7,
                **EMPTY_IN_SQL,
                validators=[
                    validators.RegexValidator("^#[0-9a-f]{6}\\Z", "Enter a color such as #0b57b0.")
                ],
            ),
            form=models.ForeignKey(
                "forms_structure.form", models.PROTECT, related_name="brands", **NULL
            ),
            requires_approval=models.BooleanField(default=False, db_default=False),
            icon_small=models.ImageField(
                upload_to="brands", blank=True, validators=[uploads.validate_image]
            ),
            icon_small_url=WebURLField(max_length=1000, **EMPTY),
            icon_large=models.ImageField(
                upload_to="brands", blank=True, validators=[uploads.validate_image]
            ),
            icon_large_url=WebURLField(max_length=1000, **EMPTY),
            members=models.ManyToManyField(
                USER, related_name="brands", blank=True, limit_choices_to={"is_staff": True}
            ),
        ),
        {
            "verbose_name": "brand",
            "verbose_name_plural": "brands",
            "ordering": ["name"],
            "permissions": [("work_for_every_brand", "Works for every brand")],
            "constraints": [
                UniqueConstraint(
                    fields=("slug",),
                    condition=~Q(slug=""),
                    name="brand_slug_once",
                    violation_error_message="Another brand has this value.",
                ),
                UniqueConstraint(
                    fields=("host",),
                    condition=~Q(host=""),
                    name="brand_host_once",
                    violation_error_message="Another brand has this host.",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "BrandLink",
        fields(
            brand=models.ForeignKey(
                "vacancies.brand", models.CASCADE, related_name="links", **NULL
            ),
            kind=models.CharField(max_length=13),
            label=models.CharField(max_length=100, **EMPTY),
            url=WebURLField(max_length=1000, **EMPTY),
            language=models.CharField(max_length=2, default=site_language),
        ),
        {
            "verbose_name": "link of a brand",
            "verbose_name_plural": "links of brands",
            "ordering": ["brand", "language", "pk"],
            "constraints": [
                UniqueConstraint(
                    "kind",
                    "language",
                    functions.Coalesce("brand", 0),
                    condition=~Q(kind="other"),
                    name="brand_link_once",
                    violation_error_message="There is a link of this kind in this language already.",
                ),
                CheckConstraint(
                    condition=~Q(kind="other", label=""),
                    name="other_link_has_text",
                    violation_error_message="Enter the link text.",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Recruiter",
        fields(
            name=models.CharField(max_length=200),
            function=models.CharField(max_length=200, **EMPTY),
            email=models.EmailField(max_length=254, **EMPTY),
            is_email_public=models.BooleanField(default=False),
            phone=models.CharField(max_length=50, **EMPTY),
            is_phone_public=models.BooleanField(default=False),
            image=models.ImageField(
                upload_to="recruiters", blank=True, validators=[uploads.validate_image]
            ),
            image_url=WebURLField(max_length=1000, **EMPTY),
        ),
        {
            "verbose_name": "recruiter",
            "verbose_name_plural": "recruiters",
            "ordering": ["name", "pk"],
            "indexes": [Index(fields=["image"], name="recruiter_image")],
        },
    ),
    migrations.CreateModel(
        "Filter",
        fields(
            keyword=models.CharField(max_length=30, unique=True),
            label=models.CharField(max_length=200),
            is_active=models.BooleanField(default=False),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "filter",
            "verbose_name_plural": "filters",
            "ordering": ["position", "pk"],
        },
    ),
    migrations.CreateModel(
        "FilterOption",
        fields(
            filter=models.ForeignKey("vacancies.filter", models.PROTECT, related_name="options"),
            label=models.CharField(max_length=200),
            value=models.SlugField(max_length=200, blank=True),
            employment_type=models.CharField(max_length=10, **EMPTY_IN_SQL),
            is_active=models.BooleanField(default=True),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "filter option",
            "verbose_name_plural": "filter options",
            "ordering": ["position", "label", "pk"],
            "constraints": [
                UniqueConstraint(
                    "filter",
                    "label",
                    name="option_label_once",
                    violation_error_message="This filter already has an option with this label.",
                ),
                UniqueConstraint(
                    "filter",
                    "value",
                    name="option_value_once",
                    violation_error_message="This filter already has an option with this value.",
                ),
                CheckConstraint(
                    condition=Q(employment_type__in=["", *EMPLOYMENT_TYPES]),
                    name="employment_type_known",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Vacancy",
        fields(
            title=models.CharField(max_length=300),
            title_internal=models.CharField(max_length=300, **EMPTY),
            brand=models.ForeignKey(
                "vacancies.brand", models.PROTECT, related_name="vacancies", **NULL
            ),
            is_hot=models.BooleanField(default=False),
            is_permanent=models.BooleanField(default=False),
            location=models.CharField(max_length=200, **EMPTY),
            reference=models.CharField(max_length=100, **EMPTY_IN_SQL),
            language=models.CharField(max_length=2, **EMPTY_IN_SQL),
            work_place=models.CharField(max_length=10, **EMPTY_IN_SQL),
            pay_min=models.DecimalField(
                max_digits=12,
                decimal_places=2,
                **NULL,
                validators=[validators.MinValueValidator(0)],
            ),
            pay_max=models.DecimalField(
                max_digits=12,
                decimal_places=2,
                **NULL,
                validators=[validators.MinValueValidator(0)],
            ),
            pay_currency=models.CharField(
                max_length=3, **EMPTY_IN_SQL, validators=[checks.validate_currency]
            ),
            pay_period=models.CharField(max_length=10, **EMPTY_IN_SQL),
            pay_note=models.CharField(max_length=300, **EMPTY_IN_SQL),
            is_pay_public=models.BooleanField(default=True, db_default=True),
            description=models.TextField(**EMPTY),
            short_description=models.TextField(**EMPTY),
            profile=models.TextField(**EMPTY),
            offer=models.TextField(**EMPTY),
            contact=models.TextField(**EMPTY),
            company=models.TextField(**EMPTY),
            postcustom1=models.TextField(**EMPTY),
            image=models.ImageField(
                upload_to="vacancies",
                blank=True,
                validators=[uploads.validate_image, uploads.validate_picture],
            ),
            image_url=WebURLField(max_length=1000, **EMPTY),
            video=models.CharField(
                max_length=1000,
                **EMPTY,
                validators=[
                    validators.RegexValidator(
                        "^(https?://\\S+|[\\w.\\-][^:\\s\\\\]*)\\Z",
                        "Enter an http or https URL, or the ID of a video.",
                    )
                ],
            ),
            head_recruiter=models.ForeignKey(
                "vacancies.recruiter", models.PROTECT, related_name="headed_vacancies", **NULL
            ),
            form=models.ForeignKey(
                "forms_structure.form", models.PROTECT, related_name="vacancies", **NULL
            ),
            apply_url=WebURLField(max_length=1000, **EMPTY_IN_SQL),
            applications_kept_days=models.PositiveSmallIntegerField(
                **NULL, validators=[validators.MinValueValidator(1)]
            ),
            audience=models.CharField(max_length=10, default="public"),
            status=models.CharField(max_length=20, default="draft"),
            publish_from=models.DateTimeField(**NULL, validators=[checks.validate_datetime]),
            publish_until=models.DateTimeField(**NULL, validators=[checks.validate_datetime]),
            created_at=models.DateTimeField(default=timezone.now, editable=False),
            updated_at=models.DateTimeField(default=timezone.now, editable=False),
            title_folded=models.TextField(default="", editable=False),
            search_text=models.TextField(default="", editable=False),
            options=models.ManyToManyField(
                "vacancies.filteroption",
                through="vacancies.VacancyOption",
                related_name="vacancies",
            ),
            recruiters=models.ManyToManyField(
                "vacancies.recruiter",
                through="vacancies.VacancyRecruiter",
                related_name="vacancies",
            ),
        ),
        {
            "verbose_name": "vacancy",
            "verbose_name_plural": "vacancies",
            "permissions": [
                ("see_internal", "Reads internal vacancies where they are limited"),
                ("approve_vacancy", "Approves vacancies of brands with approval"),
            ],
            "indexes": [
                Index(
                    F("publish_from").desc(),
                    F("id").desc(),
                    condition=Q(status="published"),
                    name="published_newest",
                ),
                Index("publish_until", condition=Q(status="published"), name="published_until"),
                Index(F("id").desc(), condition=Q(status="draft"), name="draft_newest"),
                Index(F("id").desc(), condition=Q(status="unpublished"), name="unpublished_newest"),
                Index(F("id").desc(), condition=Q(status="archived"), name="archived_newest"),
                Index(
                    "publish_until",
                    condition=Q(description="", status="published"),
                    name="published_without_text",
                ),
                Index(
                    "publish_until",
                    condition=Q(is_permanent=True, publish_until__isnull=False, status="published"),
                    name="published_permanent_ends",
                ),
                Index(
                    "publish_until",
                    condition=Q(status="published", title=functions.Upper("title")),
                    name="published_in_capitals",
                ),
                Index(fields=["image"], name="vacancy_image"),
            ],
            "constraints": [
                CheckConstraint(
                    condition=~Q(status="published")
                    | Q(head_recruiter__isnull=False, publish_from__isnull=False),
                    name="published_has_start_and_head",
                    violation_error_message="A published vacancy needs a lead recruiter and a publication date.",
                ),
                CheckConstraint(
                    condition=Q(publish_until__isnull=True)
                    | Q(publish_until__gt=F("publish_from")),
                    name="until_after_from",
                    violation_error_message="The vacancy would close before it goes live.",
                ),
                CheckConstraint(
                    condition=Q(audience__in=["public", "internal", "both"]), name="audience_known"
                ),
                CheckConstraint(
                    condition=Q(status__in=["draft", "published", "unpublished", "archived"]),
                    name="status_known",
                ),
                UniqueConstraint(
                    fields=("brand", "reference"),
                    condition=~Q(reference=""),
                    name="reference_once_per_brand",
                    violation_error_message="Another vacancy of this brand has this reference.",
                ),
                UniqueConstraint(
                    fields=("reference",),
                    condition=Q(brand=None) & ~Q(reference=""),
                    name="reference_once_without_brand",
                    violation_error_message="Another vacancy of this brand has this reference.",
                ),
                CheckConstraint(condition=Q(language__in=["", *LANGUAGES]), name="language_known"),
                CheckConstraint(
                    condition=Q(work_place__in=["", "onsite", "hybrid", "remote"]),
                    name="work_place_known",
                ),
                CheckConstraint(
                    condition=Q(pay_period__in=["", "hour", "day", "week", "month", "year"]),
                    name="pay_period_known",
                ),
                CheckConstraint(
                    condition=(Q(pay_min=None) | Q(pay_min__gte=0))
                    & (Q(pay_max=None) | Q(pay_max__gte=0))
                    & (Q(pay_min=None) | Q(pay_max=None) | Q(pay_max__gte=F("pay_min"))),
                    name="pay_range",
                    violation_error_message="The highest pay is below the lowest.",
                ),
                CheckConstraint(
                    condition=Q(pay_currency="", pay_max=None, pay_min=None, pay_period="")
                    | ~Q(pay_max=None, pay_min=None) & ~Q(pay_currency="") & ~Q(pay_period=""),
                    name="pay_complete",
                    violation_error_message="Pay needs an amount, a currency and a period. Without an amount, leave all empty.",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Requisition",
        fields(
            vacancy=models.OneToOneField(
                "vacancies.vacancy", models.CASCADE, related_name="requisition"
            ),
            client=models.CharField(max_length=200, **EMPTY, db_index=True),
            note=models.TextField(max_length=10000, **EMPTY),
            positions=models.PositiveSmallIntegerField(
                default=1,
                validators=[validators.MinValueValidator(1), validators.MaxValueValidator(999)],
            ),
            filled_at=models.DateTimeField(**NULL),
            is_for_open_applications=models.BooleanField(default=False),
            criteria=models.JSONField(blank=True, default=list),
            updated_at=models.DateTimeField(default=timezone.now),
        ),
        {
            "verbose_name": "internal data",
            "verbose_name_plural": "internal data",
            "default_permissions": ("view", "change"),
            "constraints": [
                CheckConstraint(
                    condition=Q(positions__gte=1, positions__lte=999),
                    name="positions_from_1_to_999",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "VacancyOption",
        fields(
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="choices"),
            option=models.ForeignKey(
                "vacancies.filteroption", models.PROTECT, related_name="choices"
            ),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "option of a vacancy",
            "verbose_name_plural": "options of a vacancy",
            "indexes": [Index(fields=["option", "vacancy"], name="vacancies_with_option")],
            "constraints": [
                UniqueConstraint(fields=("vacancy", "option"), name="option_once_per_vacancy")
            ],
        },
    ),
    migrations.CreateModel(
        "VacancyRecruiter",
        fields(
            vacancy=models.ForeignKey(
                "vacancies.vacancy", models.CASCADE, related_name="recruiter_links"
            ),
            recruiter=models.ForeignKey(
                "vacancies.recruiter", models.PROTECT, related_name="links"
            ),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "vacancy recruiter",
            "verbose_name_plural": "vacancy recruiters",
            "ordering": ["position", "pk"],
            "constraints": [
                UniqueConstraint(fields=("vacancy", "recruiter"), name="recruiter_once_per_vacancy")
            ],
        },
    ),
    migrations.CreateModel(
        "Attachment",
        fields(
            vacancy=models.ForeignKey(
                "vacancies.vacancy", models.CASCADE, related_name="attachments"
            ),
            name=models.CharField(max_length=200),
            file=models.FileField(
                upload_to="attachments", blank=True, validators=[uploads.validate_document]
            ),
            url=WebURLField(max_length=1000, **EMPTY),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "attachment",
            "verbose_name_plural": "attachments",
            "ordering": ["position", "pk"],
            "indexes": [Index(fields=["file"], name="attachment_file")],
            "constraints": [
                CheckConstraint(
                    condition=Q(file="", url__gt="") | Q(file__gt="", url=""),
                    name="attachment_file_or_url",
                    violation_error_message="Upload a file or enter a URL, not both.",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "Place",
        fields(
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="places"),
            position=models.PositiveIntegerField(default=0),
            kind=models.CharField(max_length=10, default="site"),
            street=models.CharField(max_length=200, **EMPTY),
            postal_code=models.CharField(max_length=20, **EMPTY),
            locality=models.CharField(max_length=100, **EMPTY),
            region=models.CharField(max_length=100, **EMPTY),
            country=models.CharField(max_length=2),
            latitude=models.DecimalField(
                max_digits=9,
                decimal_places=6,
                **NULL,
                validators=[validators.MinValueValidator(-90), validators.MaxValueValidator(90)],
            ),
            longitude=models.DecimalField(
                max_digits=9,
                decimal_places=6,
                **NULL,
                validators=[validators.MinValueValidator(-180), validators.MaxValueValidator(180)],
            ),
        ),
        {
            "verbose_name": "place",
            "verbose_name_plural": "places",
            "ordering": ["position", "pk"],
            "indexes": [Index(fields=["latitude", "longitude"], name="place_coordinates_index")],
            "constraints": [
                CheckConstraint(
                    condition=Q(kind__in=["site", "applicant"]), name="place_kind_known"
                ),
                CheckConstraint(
                    condition=Q(country__in=COUNTRIES),
                    name="place_country_known",
                    violation_error_message="Choose a country.",
                ),
                CheckConstraint(
                    condition=Q(kind="site") & ~Q(locality="")
                    | Q(
                        kind="applicant",
                        latitude=None,
                        locality="",
                        postal_code="",
                        region="",
                        street="",
                    ),
                    name="place_complete",
                    violation_error_message="A place of work needs a city. A country for remote work has no address.",
                ),
                CheckConstraint(
                    condition=Q(latitude=None, longitude=None)
                    | Q(latitude__range=(-90, 90), longitude__range=(-180, 180)),
                    name="place_coordinates",
                    violation_error_message="Enter both coordinates or none: latitude from -90 to 90, longitude from -180 to 180.",
                ),
            ],
        },
    ),
]


class Migration(migrations.Migration):
    replaces = [("vacancies", name) for name in REPLACED]
    initial = True
    dependencies = [("forms_structure", "0001_tables"), migrations.swappable_dependency(USER)]
    operations = [CreateModels(TABLES)]
