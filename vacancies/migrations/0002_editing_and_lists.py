"""What recruiters edit with, statistics, and the tables of the lists and the search, which triggers write."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils import timezone

from jobsite.db.tables import EMPTY, NULL, CreateModels, fields
from jobsite.ops.online_migrations import DropTriggers
from vacancies.models.saved_view import keep_shared

USER = settings.AUTH_USER_MODEL
CHANGES = (
    "found created changed published scheduled unpublished extended archived duplicated restored deleted"
).split()
# References of figures, which are kept when the row is deleted
LOOSE = {"related_name": "+", "null": True, "db_index": False, "db_constraint": False}
# Of the lists
NEWEST = (F("publish_from").desc(), F("vacancy").desc())
EXTERNAL = Q(is_expired=False) & Q(audience__in=("public", "both"))
INTERNAL = Q(is_expired=False) & Q(audience__in=("internal", "both"))
HOT = Q(is_hot=True)
REPLACED = (
    "0004_bucket_counts 0006_approval 0007_unsaved_input 0008_version_before 0009_vacancy_list "
    "0010_figures 0013_rendered_items 0016_settled_pages 0020_search_index 0024_saved_view_page "
    "0026_visits "
).split()
TABLES = [
    # --- Editing
    migrations.CreateModel(
        "Version",
        fields(
            vacancy=models.ForeignKey(
                "vacancies.vacancy", models.DO_NOTHING, related_name="versions", db_constraint=False
            ),
            brand=models.ForeignKey(
                "vacancies.brand", models.SET_NULL, related_name="+", null=True
            ),
            change=models.CharField(max_length=20),
            content=models.JSONField(default=dict),
            before=models.JSONField(null=True),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", null=True),
            created_at=models.DateTimeField(),
        ),
        {
            "verbose_name": "version",
            "verbose_name_plural": "versions",
            "ordering": ["-pk"],
            "indexes": [
                Index(fields=["-id"], condition=Q(change="deleted"), name="versions_deleted")
            ],
            "constraints": [CheckConstraint(condition=Q(change__in=CHANGES), name="change_known")],
        },
    ),
    migrations.CreateModel(
        "Approval",
        fields(
            vacancy=models.ForeignKey(
                "vacancies.vacancy",
                models.DO_NOTHING,
                related_name="approvals",
                db_constraint=False,
            ),
            brand=models.ForeignKey(
                "vacancies.brand", models.SET_NULL, related_name="+", null=True
            ),
            changes=models.JSONField(default=dict),
            note=models.TextField(max_length=2000, **EMPTY),
            submitted_by=models.ForeignKey(USER, models.SET_NULL, related_name="+", null=True),
            submitted_at=models.DateTimeField(),
            outcome=models.CharField(max_length=10, default="waiting"),
            decision_note=models.TextField(max_length=2000, **EMPTY),
            decided_by=models.ForeignKey(USER, models.SET_NULL, related_name="+", null=True),
            decided_at=models.DateTimeField(null=True),
            emailed=models.CharField(max_length=10, **EMPTY, db_index=True),
        ),
        {
            "verbose_name": "approval request",
            "verbose_name_plural": "approval requests",
            "ordering": ["-pk"],
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(
                    fields=("vacancy",), condition=Q(outcome="waiting"), name="one_waiting_approval"
                )
            ],
        },
    ),
    migrations.CreateModel(
        "VacancyTemplate",
        fields(
            name=models.CharField(max_length=200),
            brand=models.ForeignKey("vacancies.brand", models.CASCADE, related_name="+", **NULL),
            content=models.JSONField(default=dict),
            updated_by=models.ForeignKey(USER, models.SET_NULL, related_name="+", null=True),
            updated_at=models.DateTimeField(default=timezone.now),
        ),
        {
            "verbose_name": "vacancy template",
            "verbose_name_plural": "vacancy templates",
            "ordering": ["name", "pk"],
            "constraints": [
                UniqueConstraint(
                    fields=("name", "brand"),
                    name="one_template_per_name",
                    violation_error_message="There is a template with this name.",
                ),
                UniqueConstraint(
                    fields=("name",),
                    condition=Q(brand=None),
                    name="one_shared_template_per_name",
                    violation_error_message="There is a template with this name.",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Autosave",
        fields(
            user=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            vacancy=models.ForeignKey(
                "vacancies.vacancy",
                models.DO_NOTHING,
                related_name="+",
                null=True,
                db_constraint=False,
            ),
            page=models.CharField(max_length=32),
            data=models.JSONField(null=True),
            saved_at=models.DateTimeField(),
        ),
        {
            "default_permissions": (),
            "indexes": [Index(fields=["saved_at"], name="autosave_by_age")],
            "constraints": [
                UniqueConstraint(fields=("user", "vacancy"), name="autosave_once_per_vacancy"),
                UniqueConstraint(
                    fields=("user",), condition=Q(vacancy=None), name="autosave_of_one_new_vacancy"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "SettledPage",
        fields(
            user=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            vacancy=models.ForeignKey(
                "vacancies.vacancy",
                models.DO_NOTHING,
                related_name="+",
                null=True,
                db_constraint=False,
            ),
            page=models.CharField(max_length=32),
            settled_at=models.DateTimeField(),
        ),
        {
            "default_permissions": (),
            "indexes": [
                Index(fields=["user", "vacancy"], name="settled_pages_of_user"),
                Index(fields=["settled_at"], name="settled_pages_by_age"),
            ],
        },
    ),
    migrations.CreateModel(
        "Presence",
        fields(
            user=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            vacancy=models.ForeignKey(
                "vacancies.vacancy", models.DO_NOTHING, related_name="+", db_constraint=False
            ),
            window=models.CharField(max_length=32),
            opened_at=models.DateTimeField(),
            seen_at=models.DateTimeField(),
        ),
        {
            "default_permissions": (),
            "indexes": [Index(fields=["seen_at"], name="presence_by_age")],
            "constraints": [
                UniqueConstraint(
                    fields=("vacancy", "user", "window"), name="presence_once_per_window"
                )
            ],
        },
    ),
    migrations.CreateModel(
        "SavedView",
        fields(
            owner=models.ForeignKey(USER, keep_shared, related_name="saved_views", null=True),
            page=models.CharField(
                max_length=50,
                default="vacancies.vacancy",
                db_default="vacancies.vacancy",
                editable=False,
            ),
            name=models.CharField(max_length=80),
            query=models.CharField(max_length=2000, **EMPTY),
            columns=models.JSONField(default=list),
            is_shared=models.BooleanField(default=False),
            created_at=models.DateTimeField(default=timezone.now, editable=False),
        ),
        {
            "verbose_name": "saved view",
            "verbose_name_plural": "saved views",
            "ordering": ["name", "pk"],
            "constraints": [
                UniqueConstraint(fields=("owner", "name"), name="saved_view_name_once")
            ],
        },
    ),
    migrations.CreateModel(
        "ListPreference",
        fields(
            user=models.OneToOneField(
                USER, models.CASCADE, related_name="+", primary_key=True, serialize=False
            ),
            columns=models.JSONField(default=list),
            default_view=models.ForeignKey(
                "vacancies.savedview", models.SET_NULL, related_name="+", null=True
            ),
            has_shortcuts=models.BooleanField(default=True),
        ),
        {"verbose_name": "list preference", "verbose_name_plural": "list preferences"},
    ),
    # --- Statistics
    migrations.CreateModel(
        "StateCount",
        fields(
            brand=models.ForeignKey(
                "vacancies.brand",
                models.DO_NOTHING,
                related_name="+",
                null=True,
                db_constraint=False,
            ),
            code=models.CharField(max_length=30),
            count=models.PositiveIntegerField(),
            counted_at=models.DateTimeField(),
        ),
    ),
    migrations.CreateModel(
        "DailyVacancies",
        fields(
            day=models.DateField(),
            brand=models.ForeignKey("vacancies.brand", models.DO_NOTHING, **LOOSE),
            option=models.ForeignKey("vacancies.filteroption", models.DO_NOTHING, **LOOSE),
            live=models.PositiveIntegerField(),
            went_live=models.PositiveIntegerField(),
            closed=models.PositiveIntegerField(),
            days_live=models.FloatField(),
            closed_in_7=models.PositiveIntegerField(),
            closed_in_30=models.PositiveIntegerField(),
            closed_in_60=models.PositiveIntegerField(),
            closed_in_90=models.PositiveIntegerField(),
        ),
        {"indexes": [Index(fields=["option", "day"], name="daily_vacancies_option")]},
    ),
    migrations.CreateModel(
        "DailyVisits",
        fields(
            day=models.DateField(),
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="+"),
            source=models.CharField(max_length=200),
            views=models.PositiveIntegerField(default=0, db_default=0),
            started=models.PositiveIntegerField(default=0, db_default=0),
        ),
        {
            "constraints": [
                UniqueConstraint(fields=("day", "vacancy", "source"), name="daily_visits_unique")
            ]
        },
    ),
    # --- Lists and search: derived from the vacancies
    migrations.CreateModel(
        "ListedVacancy",
        fields(
            vacancy=models.OneToOneField(
                "vacancies.vacancy",
                models.DO_NOTHING,
                related_name="+",
                db_constraint=False,
                primary_key=True,
                serialize=False,
            ),
            audience=models.CharField(max_length=10),
            is_hot=models.BooleanField(),
            publish_from=models.DateTimeField(),
            publish_until=models.DateTimeField(null=True),
            brand_id=models.BigIntegerField(null=True),
            form_id=models.BigIntegerField(null=True),
            is_expired=models.BooleanField(),
            row_version=models.BigIntegerField(),
        ),
        {
            "indexes": [
                Index(*NEWEST, condition=EXTERNAL, name="listed_external"),
                Index(*NEWEST, condition=EXTERNAL & HOT, name="listed_hot"),
                Index(*NEWEST, condition=INTERNAL, name="listed_internal"),
                Index(*NEWEST, condition=INTERNAL & HOT, name="listed_hot_internal"),
                Index("publish_from", condition=Q(is_expired=False), name="listed_start"),
                Index("is_expired", "publish_until", name="listed_end"),
            ]
        },
    ),
    migrations.CreateModel(
        "RenderedItem",
        fields(
            pk=models.CompositePrimaryKey(
                "vacancy_id",
                "version",
                blank=True,
                editable=False,
                primary_key=True,
                serialize=False,
            ),
            vacancy=models.ForeignKey(
                "vacancies.vacancy",
                models.DO_NOTHING,
                related_name="+",
                db_index=False,
                db_constraint=False,
            ),
            version=models.CharField(max_length=40),
            row_version=models.BigIntegerField(),
            body=models.BinaryField(),
        ),
    ),
    migrations.CreateModel(
        "BucketCount",
        fields(
            start_at=models.DateTimeField(),
            start_id=models.BigIntegerField(),
            external=models.IntegerField(),
            hot=models.IntegerField(),
            internal=models.IntegerField(),
            hot_internal=models.IntegerField(),
        ),
        {"indexes": [Index("start_at", "start_id", name="bucket_start")]},
    ),
    migrations.CreateModel(
        "VacancyCount",
        fields(
            block=models.BigIntegerField(),
            brand=models.ForeignKey("vacancies.brand", models.DO_NOTHING, **LOOSE),
            status=models.CharField(max_length=20),
            count=models.IntegerField(),
        ),
    ),
    migrations.CreateModel(
        "SearchTerm",
        fields(
            term=models.TextField(primary_key=True, serialize=False),
            ids=models.BinaryField(),
        ),
    ),
    migrations.CreateModel(
        "SearchChange",
        fields(
            vacancy_id=models.BigIntegerField(),
        ),
    ),
]


class Migration(migrations.Migration):
    replaces = [("vacancies", name) for name in REPLACED]
    initial = True
    dependencies = [
        ("vacancies", "0001_vacancies"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(USER),
    ]
    operations = [
        CreateModels(TABLES),
        DropTriggers("vacancies_(listedvacancy|bucketcount|vacancycount|searchchange)"),
    ]
