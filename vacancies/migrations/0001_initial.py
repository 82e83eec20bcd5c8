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
                            ("functiongroup", "Function group"),
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
                        help_text="Public: sites receive it as title_internal. The title is sent when left empty.",
                        max_length=300,
                        verbose_name="internal title",
                    ),
                ),
                (
                    "is_hot",
                    models.BooleanField(
                        default=False,
                        help_text="Deserves more attention: also in the hot lists.",
                        verbose_name="hot",
                    ),
                ),
                (
                    "is_permanent",
                    models.BooleanField(
                        default=False,
                        help_text="Has no end of recruitment.",
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
                        help_text="Sites crop it: at least 300 pixels on its shorter side, at most three times as long as that.",
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
                        verbose_name="image elsewhere",
                    ),
                ),
                (
                    "video",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Address of a video.",
                        max_length=1000,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^(https?://\\S+|[^:\\s]+)\\Z",
                                "Enter an http or https address, or the id of a video.",
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
                            ("unpublished", "Withdrawn"),
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
                        help_text="Shown from this moment on.",
                        null=True,
                        validators=[vacancies.validators.validate_moment],
                    ),
                ),
                (
                    "publish_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Not shown from this moment on; never ends when left empty.",
                        null=True,
                        validators=[vacancies.validators.validate_moment],
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
                        help_text="Shown to everybody on the public sites.",
                        verbose_name="show e-mail",
                    ),
                ),
                ("phone", models.CharField(blank=True, default="", max_length=50)),
                (
                    "is_phone_public",
                    models.BooleanField(
                        default=False,
                        help_text="Shown to everybody on the public sites.",
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
                        verbose_name="image elsewhere",
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
                            ("found", "Changed outside the workplace"),
                            ("created", "Created"),
                            ("changed", "Changed"),
                            ("published", "Published"),
                            ("scheduled", "Planned"),
                            ("unpublished", "Taken offline"),
                            ("extended", "Extended"),
                            ("archived", "Archived"),
                            ("duplicated", "Made as a copy"),
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
                        verbose_name="small icon elsewhere",
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
                        verbose_name="large icon elsewhere",
                    ),
                ),
                (
                    "form",
                    models.ForeignKey(
                        blank=True,
                        help_text="For its vacancies that have none of their own. The site's form when left empty.",
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
                        help_text="Recruiters who work for this brand, unless they work for every one.",
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
                "indexes": [models.Index(fields=["day"], name="tally_day")],
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
                        help_text="Stands in links, e.g. filter[regions]=antwerp; made from the label when left empty.",
                        max_length=200,
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="When off, vacancies that carry it keep it, and no other one can get it.",
                        verbose_name="offered to recruiters",
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
                ("phase", models.SmallIntegerField(choices=[(0, "Ahead"), (1, "Listed"), (2, "Over")])),
                ("brand_id", models.BigIntegerField(null=True)),
                ("form_id", models.BigIntegerField(null=True)),
                ("stamp", models.BigIntegerField()),
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
                help_text="The brand's form when left empty, or the site's.",
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
                        blank=True, default="", max_length=1000, verbose_name="address elsewhere"
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
                condition=models.Q(("phase", 1), ("audience__in", ("public", "both"))),
                name="listed_external",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("phase", 1), ("audience__in", ("public", "both")), ("is_hot", True)),
                name="listed_hot",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("phase", 1), ("audience__in", ("internal", "both"))),
                name="listed_internal",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.OrderBy(models.F("publish_from"), descending=True),
                models.OrderBy(models.F("vacancy"), descending=True),
                condition=models.Q(("phase", 1), ("audience__in", ("internal", "both")), ("is_hot", True)),
                name="listed_hot_internal",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.F("audience"),
                models.F("is_hot"),
                models.F("publish_from"),
                condition=models.Q(("phase", 0)),
                name="listing_appears",
            ),
        ),
        migrations.AddIndex(
            model_name="listedvacancy",
            index=models.Index(
                models.F("audience"),
                models.F("is_hot"),
                models.F("publish_until"),
                condition=models.Q(("phase", 1)),
                name="listing_vanishes",
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
                violation_error_message="Upload a file or give an address, not both.",
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
                violation_error_message="A published vacancy needs a head recruiter and a moment to appear.",
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
                violation_error_message="The vacancy would vanish before it appears.",
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
