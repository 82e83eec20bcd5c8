import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import jobsite.fields
import vacancies.validators
from django.conf import settings
from django.db import migrations, models

from jobsite.ops.online_migrations import DropTriggers


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("jobsite", "0001_initial"),
        ("forms_structure", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Filter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "keyword",
                    models.CharField(
                        choices=[
                            ("functiongroup", "Job category"),
                            ("types", "Types"),
                            ("contract_types", "Contract types"),
                            ("work_regimes", "Work regimes"),
                            ("regions", "Regions"),
                            ("jobcustom1_values", "Custom filter 1"),
                            ("jobcustom2_values", "Custom filter 2"),
                            ("jobcustom3_values", "Custom filter 3"),
                            ("jobcustom4_values", "Custom filter 4"),
                        ],
                        max_length=30,
                        unique=True,
                    ),
                ),
                ("label", models.CharField(max_length=200)),
                (
                    "is_active",
                    models.BooleanField(
                        default=False,
                        help_text="Public sites show it as a filter on their lists.",
                        verbose_name="offered as a filter",
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Vacancy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=300)),
                (
                    "title_internal",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Public: the API returns it as title_internal. If empty, the API returns the title.",
                        max_length=300,
                        verbose_name="internal title",
                    ),
                ),
                (
                    "is_hot",
                    models.BooleanField(
                        default=False,
                        help_text="Also appears in the lists of featured (“hot”) vacancies.",
                        verbose_name="featured",
                    ),
                ),
                (
                    "is_permanent",
                    models.BooleanField(
                        default=False,
                        help_text="Recruitment has no end date.",
                        verbose_name="continuously open",
                    ),
                ),
                ("location", models.CharField(blank=True, default="", max_length=200)),
                ("description", models.TextField(blank=True, default="")),
                ("short_description", models.TextField(blank=True, default="")),
                ("profile", models.TextField(blank=True, default="")),
                ("offer", models.TextField(blank=True, default="")),
                ("contact", models.TextField(blank=True, default="")),
                ("company", models.TextField(blank=True, default="")),
                ("postcustom1", models.TextField(blank=True, default="", verbose_name="extra information")),
                (
                    "image",
                    models.ImageField(
                        blank=True,
                        help_text="Sites crop the image. Its shorter side needs at least 300 pixels, its longer side at most three times as many.",
                        upload_to="vacancies",
                        validators=[
                            vacancies.validators.validate_image,
                            vacancies.validators.validate_picture,
                        ],
                    ),
                ),
                (
                    "image_url",
                    jobsite.fields.WebURLField(
                        blank=True,
                        default="",
                        help_text="Used when no file is uploaded.",
                        max_length=1000,
                        verbose_name="image URL",
                    ),
                ),
                (
                    "video",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="URL of a video.",
                        max_length=1000,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^(https?://\\S+|[^:\\s]+)\\Z",
                                "Enter an http or https URL, or the ID of a video.",
                            )
                        ],
                    ),
                ),
                (
                    "audience",
                    models.CharField(
                        choices=[
                            ("public", "Public sites"),
                            ("internal", "Internal only"),
                            ("both", "Public sites and internal"),
                        ],
                        default="public",
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("published", "Published"),
                            ("unpublished", "Unpublished"),
                            ("archived", "Archived"),
                        ],
                        default="draft",
                        max_length=20,
                    ),
                ),
                (
                    "publish_from",
                    models.DateTimeField(
                        blank=True,
                        help_text="Public from this time.",
                        null=True,
                        validators=[vacancies.validators.validate_datetime],
                    ),
                ),
                (
                    "publish_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Public until this time. If empty, there is no closing date.",
                        null=True,
                        validators=[vacancies.validators.validate_datetime],
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("title_folded", models.TextField(default="", editable=False)),
                ("search_text", models.TextField(default="", editable=False)),
            ],
            options={
                "verbose_name_plural": "vacancies",
                "permissions": [("see_internal", "Reads internal vacancies where they are limited")],
            },
        ),
        migrations.CreateModel(
            name="Recruiter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("function", models.CharField(blank=True, default="", max_length=200)),
                ("email", models.EmailField(blank=True, default="", max_length=254, verbose_name="e-mail")),
                (
                    "is_email_public",
                    models.BooleanField(
                        default=False,
                        help_text="Visible to everyone on the public sites.",
                        verbose_name="show e-mail",
                    ),
                ),
                ("phone", models.CharField(blank=True, default="", max_length=50)),
                (
                    "is_phone_public",
                    models.BooleanField(
                        default=False,
                        help_text="Visible to everyone on the public sites.",
                        verbose_name="show phone",
                    ),
                ),
                (
                    "image",
                    models.ImageField(
                        blank=True, upload_to="recruiters", validators=[vacancies.validators.validate_image]
                    ),
                ),
                (
                    "image_url",
                    jobsite.fields.WebURLField(
                        blank=True,
                        default="",
                        help_text="Used when no file is uploaded.",
                        max_length=1000,
                        verbose_name="image URL",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "pk"],
            },
        ),
        migrations.CreateModel(
            name="VacancyOption",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name": "option of a vacancy",
                "verbose_name_plural": "options of a vacancy",
            },
        ),
        migrations.CreateModel(
            name="VacancyRecruiter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "change",
                    models.CharField(
                        choices=[
                            ("found", "Changed outside the admin"),
                            ("created", "Created"),
                            ("changed", "Changed"),
                            ("published", "Published"),
                            ("scheduled", "Scheduled"),
                            ("unpublished", "Unpublished"),
                            ("extended", "Extended"),
                            ("archived", "Archived"),
                            ("duplicated", "Duplicated"),
                            ("restored", "Restored"),
                            ("deleted", "Deleted"),
                        ],
                        max_length=20,
                    ),
                ),
                ("content", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Brand",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                ("description", models.TextField(blank=True, default="")),
                (
                    "url",
                    jobsite.fields.WebURLField(
                        blank=True, default="", max_length=1000, verbose_name="website"
                    ),
                ),
                (
                    "icon_small",
                    models.ImageField(
                        blank=True,
                        upload_to="brands",
                        validators=[vacancies.validators.validate_image],
                        verbose_name="small icon",
                    ),
                ),
                (
                    "icon_small_url",
                    jobsite.fields.WebURLField(
                        blank=True,
                        default="",
                        help_text="Used when no file is uploaded.",
                        max_length=1000,
                        verbose_name="small icon URL",
                    ),
                ),
                (
                    "icon_large",
                    models.ImageField(
                        blank=True,
                        upload_to="brands",
                        validators=[vacancies.validators.validate_image],
                        verbose_name="large icon",
                    ),
                ),
                (
                    "icon_large_url",
                    jobsite.fields.WebURLField(
                        blank=True,
                        default="",
                        help_text="Used when no file is uploaded.",
                        max_length=1000,
                        verbose_name="large icon URL",
                    ),
                ),
                (
                    "form",
                    models.ForeignKey(
                        blank=True,
                        help_text="Used for vacancies of this brand that have no form of their own. If empty, the site's form is used.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="brands",
                        to="forms_structure.form",
                        verbose_name="application form",
                    ),
                ),
                (
                    "members",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Recruiters with access to this brand. Recruiters with access to every brand are not listed.",
                        limit_choices_to={"is_staff": True},
                        related_name="brands",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "permissions": [("work_for_every_brand", "Works for every brand")],
            },
        ),
        migrations.CreateModel(
            name="DailyCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.IntegerField()),
                ("external", models.IntegerField()),
                ("hot", models.IntegerField()),
                ("internal", models.IntegerField()),
                ("hot_internal", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["day"], name="daily_count_day")],
            },
        ),
        migrations.CreateModel(
            name="FilterOption",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=200)),
                (
                    "value",
                    models.SlugField(
                        blank=True,
                        help_text="Used in links, e.g. filter[regions]=antwerp. If empty, it is derived from the label.",
                        max_length=200,
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="If off, vacancies with this option keep it, and other vacancies cannot get it.",
                        verbose_name="available to recruiters",
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0, verbose_name="position")),
                (
                    "filter",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="options",
                        to="vacancies.filter",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "label", "pk"],
            },
        ),
        migrations.CreateModel(
            name="ListedVacancy",
            fields=[
                (
                    "vacancy",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="vacancies.vacancy",
                    ),
                ),
                ("audience", models.CharField(max_length=10)),
                ("is_hot", models.BooleanField()),
                ("publish_from", models.DateTimeField()),
                ("publish_until", models.DateTimeField(null=True)),
                ("state", models.SmallIntegerField(choices=[(0, "Scheduled"), (1, "Live"), (2, "Expired")])),
                ("brand_id", models.BigIntegerField(null=True)),
                ("form_id", models.BigIntegerField(null=True)),
                ("row_version", models.BigIntegerField()),
                ("v1", models.BinaryField(null=True)),
                ("v0_1", models.BinaryField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="vacancy",
            name="brand",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="vacancies",
                to="vacancies.brand",
            ),
        ),
        migrations.AddField(
            model_name="vacancy",
            name="form",
            field=models.ForeignKey(
                blank=True,
                help_text="If empty, the form of the brand or the site is used.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="vacancies",
                to="forms_structure.form",
                verbose_name="application form",
            ),
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, verbose_name="file name")),
                (
                    "file",
                    models.FileField(
                        blank=True,
                        upload_to="attachments",
                        validators=[vacancies.validators.validate_document],
                    ),
                ),
                (
                    "url",
                    jobsite.fields.WebURLField(
                        blank=True, default="", max_length=1000, verbose_name="link (URL)"
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                (
                    "vacancy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="vacancies.vacancy",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.AddField(
            model_name="vacancy",
            name="head_recruiter",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="headed_vacancies",
                to="vacancies.recruiter",
                verbose_name="lead recruiter",
            ),
        ),
        migrations.AddIndex(
            model_name="recruiter",
            index=models.Index(fields=["image"], name="recruiter_image"),
        ),
        migrations.AddField(
            model_name="vacancyoption",
            name="option",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="choices",
                to="vacancies.filteroption",
            ),
        ),
        migrations.AddField(
            model_name="vacancyoption",
            name="vacancy",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="choices", to="vacancies.vacancy"
            ),
        ),
        migrations.AddField(
            model_name="vacancy",
            name="options",
            field=models.ManyToManyField(
                related_name="vacancies", through="vacancies.VacancyOption", to="vacancies.filteroption"
            ),
        ),
        migrations.AddField(
            model_name="vacancyrecruiter",
            name="recruiter",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="links", to="vacancies.recruiter"
            ),
        ),
        migrations.AddField(
            model_name="vacancyrecruiter",
            name="vacancy",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="recruiter_links",
                to="vacancies.vacancy",
            ),
        ),
        migrations.AddField(
            model_name="vacancy",
            name="recruiters",
            field=models.ManyToManyField(
                related_name="vacancies", through="vacancies.VacancyRecruiter", to="vacancies.recruiter"
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="author",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="brand",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="vacancies.brand",
            ),
        ),
        migrations.AddField(
            model_name="version",
            name="vacancy",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="versions",
                to="vacancies.vacancy",
            ),
        ),
        migrations.AddConstraint(
            model_name="filteroption",
            constraint=models.UniqueConstraint(
                models.F("filter"),
                models.F("label"),
                name="option_label_once",
                violation_error_message="This filter already has an option with this label.",
            ),
        ),
        migrations.AddConstraint(
            model_name="filteroption",
            constraint=models.UniqueConstraint(
                models.F("filter"),
                models.F("value"),
                name="option_value_once",
                violation_error_message="This filter already has an option with this value.",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("state", 1), ("audience__in", ("public", "both"))),
                name="listed_external",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("state", 1), ("audience__in", ("public", "both")), ("is_hot", True)),
                name="listed_hot",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("state", 1), ("audience__in", ("internal", "both"))),
                name="listed_internal",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("state", 1), ("audience__in", ("internal", "both")), ("is_hot", True)),
                name="listed_hot_internal",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.F("audience"),
                models.F("is_hot"),
                models.F("publish_from"),
                condition=models.Q(("state", 0)),
                name="listed_next_start",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.F("audience"),
                models.F("is_hot"),
                models.F("publish_until"),
                condition=models.Q(("state", 1)),
                name="listed_next_end",
            ),
        ),
        migrations.AddIndex(
            model_name="attachment",
            index=models.Index(fields=["file"], name="attachment_file"),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("file", ""), ("url__gt", "")),
                    models.Q(("file__gt", ""), ("url", "")),
                    _connector="OR",
                ),
                name="attachment_file_or_url",
                violation_error_message="Upload a file or enter a URL, not both.",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancyoption",
            index=models.Index(fields=["option", "vacancy"], name="vacancies_with_option"),
        ),
        migrations.AddConstraint(
            model_name="vacancyoption",
            constraint=models.UniqueConstraint(fields=("vacancy", "option"), name="option_once_per_vacancy"),
        ),
        migrations.AddConstraint(
            model_name="vacancyrecruiter",
            constraint=models.UniqueConstraint(
                fields=("vacancy", "recruiter"), name="recruiter_once_per_vacancy"
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "published")),
                name="published_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.F("publish_until"), condition=models.Q(("status", "published")), name="published_until"
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "draft")),
                name="draft_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "unpublished")),
                name="unpublished_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "archived")),
                name="archived_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.F("publish_until"),
                condition=models.Q(("description", ""), ("status", "published")),
                name="published_without_text",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.F("publish_until"),
                condition=models.Q(
                    ("is_permanent", True), ("publish_until__isnull", False), ("status", "published")
                ),
                name="published_permanent_ends",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(
                models.F("publish_until"),
                condition=models.Q(
                    ("status", "published"), ("title", django.db.models.functions.text.Upper("title"))
                ),
                name="published_in_capitals",
            ),
        ),
        migrations.AddIndex(
            model_name="vacancy",
            index=models.Index(fields=["image"], name="vacancy_image"),
        ),
        migrations.AddConstraint(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "published"), _negated=True),
                    models.Q(("head_recruiter__isnull", False), ("publish_from__isnull", False)),
                    _connector="OR",
                ),
                name="published_has_start_and_head",
                violation_error_message="A published vacancy needs a lead recruiter and a publication date.",
            ),
        ),
        migrations.AddConstraint(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("publish_until__isnull", True),
                    ("publish_until__gt", models.F("publish_from")),
                    _connector="OR",
                ),
                name="until_after_from",
                violation_error_message="The vacancy would close before it goes live.",
            ),
        ),
        migrations.AddConstraint(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(("audience__in", ["public", "internal", "both"])), name="audience_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="vacancy",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["draft", "published", "unpublished", "archived"])),
                name="status_known",
            ),
        ),
        migrations.AddIndex(
            model_name="version",
            index=models.Index(
                condition=models.Q(("change", "deleted")), fields=["-id"], name="versions_deleted"
            ),
        ),
        migrations.AddConstraint(
            model_name="version",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "change__in",
                        [
                            "found",
                            "created",
                            "changed",
                            "published",
                            "scheduled",
                            "unpublished",
                            "extended",
                            "archived",
                            "duplicated",
                            "restored",
                            "deleted",
                        ],
                    )
                ),
                name="change_known",
            ),
        ),
        DropTriggers("vacancies_listedvacancy|vacancies_dailycount"),
    ]
