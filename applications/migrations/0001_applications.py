"""Applications, what they are made of, and their stages."""

from django.conf import settings
from django.core import validators
from django.db import migrations, models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint, functions
from django.utils import timezone

from jobsite.db.tables import EMPTY, EMPTY_IN_SQL, NULL, CreateModels, fields
from jobsite.languages import site_language

USER = settings.AUTH_USER_MODEL
# References of figures, which are kept when the row is deleted
LOOSE = {"related_name": "+", "null": True, "db_index": False, "db_constraint": False}
REPLACED = (
    "0001_initial 0003_submissions 0004_application_indexes 0008_figures 0011_wording 0012_field_names "
    "0016_access_erase 0018_reasons 0019_stage_change_reason 0021_stage_email 0022_origins "
    "0023_duplicate_indexes 0024_tags 0025_owner "
).split()
TABLES = [
    # --- Stages
    migrations.CreateModel(
        "Status",
        fields(
            label_en=models.CharField(max_length=200, **EMPTY),
            label_nl=models.CharField(max_length=200, **EMPTY),
            label_fr=models.CharField(max_length=200, **EMPTY),
            label_de=models.CharField(max_length=200, **EMPTY),
        ),
        {
            "verbose_name": "candidate-facing status",
            "verbose_name_plural": "candidate-facing statuses",
            "ordering": ["pk"],
            "constraints": [
                CheckConstraint(
                    condition=~Q(label_de="", label_en="", label_fr="", label_nl=""),
                    name="status_says_something",
                    violation_error_message="Enter the text in at least one language.",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "MailTemplate",
        fields(
            name=models.CharField(max_length=200, unique=True),
            subject_en=models.CharField(max_length=200, **EMPTY),
            body_en=models.TextField(max_length=10000, **EMPTY),
            subject_nl=models.CharField(max_length=200, **EMPTY),
            body_nl=models.TextField(max_length=10000, **EMPTY),
            subject_fr=models.CharField(max_length=200, **EMPTY),
            body_fr=models.TextField(max_length=10000, **EMPTY),
            subject_de=models.CharField(max_length=200, **EMPTY),
            body_de=models.TextField(max_length=10000, **EMPTY),
        ),
        {
            "verbose_name": "email template",
            "verbose_name_plural": "email templates",
            "ordering": ["name"],
        },
    ),
    migrations.CreateModel(
        "Stage",
        fields(
            name=models.CharField(max_length=200, unique=True),
            status=models.ForeignKey("applications.status", models.PROTECT, related_name="stages"),
            embargo_days=models.PositiveSmallIntegerField(default=0),
            kind=models.CharField(max_length=10, default="open", db_default="open"),
            asks_reason=models.CharField(max_length=5, default="never", db_default="never"),
            email=models.ForeignKey(
                "applications.mailtemplate", models.PROTECT, related_name="stages", **NULL
            ),
            email_after_hours=models.PositiveSmallIntegerField(
                default=1, db_default=1, validators=[validators.MaxValueValidator(720)]
            ),
            remind_days=models.PositiveSmallIntegerField(
                default=0, db_default=0, validators=[validators.MaxValueValidator(365)]
            ),
            position=models.PositiveIntegerField(default=0),
        ),
        {"verbose_name": "stage", "verbose_name_plural": "stages", "ordering": ["position", "pk"]},
    ),
    migrations.CreateModel(
        "Reason",
        fields(
            name=models.CharField(max_length=100),
            kind=models.CharField(max_length=10, default="rejected"),
            is_active=models.BooleanField(default=True),
            position=models.PositiveIntegerField(default=0),
        ),
        {
            "verbose_name": "reason",
            "verbose_name_plural": "reasons",
            "ordering": ["kind", "position", "pk"],
            "constraints": [
                UniqueConstraint(
                    "kind",
                    "name",
                    name="one_reason_per_name",
                    violation_error_message="There is such a reason already.",
                )
            ],
        },
    ),
    # --- Applications
    migrations.CreateModel(
        "Application",
        fields(
            user=models.ForeignKey(USER, models.PROTECT, related_name="applications", **NULL),
            vacancy=models.ForeignKey(
                "vacancies.vacancy", models.PROTECT, related_name="applications"
            ),
            reference=models.CharField(max_length=12, null=True, unique=True, editable=False),
            given_name=models.CharField(max_length=200, **EMPTY_IN_SQL, editable=False),
            family_name=models.CharField(max_length=200, **EMPTY_IN_SQL, editable=False),
            email=models.EmailField(max_length=254, **EMPTY_IN_SQL, editable=False),
            email_folded=models.CharField(max_length=254, **EMPTY_IN_SQL, editable=False),
            phone=models.CharField(max_length=200, **EMPTY_IN_SQL, editable=False),
            phone_digits=models.CharField(max_length=9, **NULL, editable=False),
            owner=models.ForeignKey(
                USER, models.SET_NULL, related_name="+", **NULL, editable=False
            ),
            language=models.CharField(
                max_length=2, default=site_language, db_default="", editable=False
            ),
            is_spontaneous=models.BooleanField(default=False),
            is_repeated=models.BooleanField(default=False, db_default=False, editable=False),
            rating=models.PositiveSmallIntegerField(**NULL),
            read_at=models.DateTimeField(**NULL, editable=False),
            verified_at=models.DateTimeField(**NULL, editable=False),
            withdrawn_at=models.DateTimeField(**NULL, editable=False),
            created_at=models.DateTimeField(default=timezone.now),
            updated_at=models.DateTimeField(default=timezone.now, editable=False),
        ),
        {
            "verbose_name": "application",
            "verbose_name_plural": "applications",
            "ordering": ["-created_at", "-pk"],
            "permissions": [("export_application", "Exports applications")],
            "indexes": [
                Index("email_folded", name="applications_of_address"),
                Index("vacancy", F("created_at").desc(), name="applications_of_vacancy"),
                Index(
                    "phone_digits", condition=Q(phone_digits__gt=""), name="applications_of_phone"
                ),
                Index(
                    functions.Upper("family_name"),
                    functions.Upper("given_name"),
                    name="applications_of_name",
                ),
                Index(
                    "vacancy",
                    F("created_at").desc(),
                    condition=Q(read_at=None),
                    name="applications_unread",
                ),
            ],
            "constraints": [
                UniqueConstraint(fields=("user", "vacancy", "created_at"), name="application_once")
            ],
        },
    ),
    migrations.CreateModel(
        "StageChange",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="changes"
            ),
            stage=models.ForeignKey("applications.stage", models.PROTECT, related_name="changes"),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            at=models.DateTimeField(default=timezone.now),
            is_exempt_from_embargo=models.BooleanField(default=False),
            reason=models.ForeignKey(
                "applications.reason", models.PROTECT, related_name="+", **NULL, db_index=False
            ),
            is_undo=models.BooleanField(default=False, db_default=False),
        ),
        {
            "verbose_name": "stage change",
            "verbose_name_plural": "stage changes",
            "ordering": ["at", "pk"],
            "indexes": [
                Index(fields=["application", "-at", "-id", "stage"], name="stage_changes_latest")
            ],
        },
    ),
    migrations.CreateModel(
        "Note",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="notes"
            ),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            text=models.TextField(max_length=10000),
            created_at=models.DateTimeField(default=timezone.now),
            mentioned=models.ManyToManyField(USER, related_name="+", blank=True),
        ),
        {"verbose_name": "note", "verbose_name_plural": "notes", "ordering": ["created_at", "pk"]},
    ),
    migrations.CreateModel(
        "Tag",
        fields(
            brand=models.ForeignKey("vacancies.brand", models.CASCADE, related_name="+", **NULL),
            name=models.CharField(max_length=40),
            folded=models.CharField(max_length=80),
        ),
        {
            "verbose_name": "tag",
            "verbose_name_plural": "tags",
            "ordering": ["folded", "pk"],
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("brand", "folded"), name="one_tag_per_brand"),
                UniqueConstraint(
                    fields=("folded",), condition=Q(brand=None), name="one_tag_without_brand"
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "ApplicationTag",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="tag_links"
            ),
            tag=models.ForeignKey("applications.tag", models.CASCADE, related_name="links"),
        ),
        {
            "verbose_name": "tag of an application",
            "verbose_name_plural": "tags of applications",
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("application", "tag"), name="application_tag_once")
            ],
        },
    ),
    migrations.CreateModel(
        "Origin",
        fields(
            application=models.OneToOneField(
                "applications.application", models.CASCADE, related_name="origin"
            ),
            channel=models.CharField(max_length=10),
            basis=models.CharField(max_length=10),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            added_at=models.DateTimeField(default=timezone.now),
            informed_at=models.DateTimeField(**NULL),
        ),
        {
            "verbose_name": "origin",
            "verbose_name_plural": "origins",
            "default_permissions": (),
            "indexes": [
                Index(
                    "added_at",
                    condition=Q(basis="interest", informed_at=None),
                    name="origins_not_informed",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "ConsentRequest",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="consent_requests"
            ),
            purpose=models.CharField(max_length=11),
            text=models.TextField(),
            version=models.PositiveIntegerField(),
            asked_at=models.DateTimeField(default=timezone.now),
            due_on=models.DateField(),
            reminded_at=models.DateTimeField(**NULL),
            answered_at=models.DateTimeField(**NULL),
            answer=models.CharField(max_length=3, **EMPTY),
            until=models.DateField(**NULL),
        ),
        {
            "verbose_name": "consent request",
            "verbose_name_plural": "consent requests",
            "ordering": ["asked_at", "pk"],
            "default_permissions": (),
            "indexes": [Index("due_on", condition=Q(answer=""), name="consent_requests_due")],
            "constraints": [
                UniqueConstraint(
                    fields=("application", "purpose"),
                    condition=Q(answer=""),
                    name="one_open_consent_request",
                ),
                CheckConstraint(
                    condition=Q(answer="", answered_at=None)
                    | Q(answer__in=("yes", "no"), answered_at__isnull=False),
                    name="consent_answer_has_time",
                ),
            ],
        },
    ),
    # --- Submissions of the form
    migrations.CreateModel(
        "FormSnapshot",
        fields(
            digest=models.CharField(max_length=64, unique=True),
            sections=models.JSONField(),
        ),
        {"verbose_name": "form snapshot", "verbose_name_plural": "form snapshots"},
    ),
    migrations.CreateModel(
        "Submission",
        fields(
            application=models.OneToOneField(
                "applications.application", models.CASCADE, related_name="submission"
            ),
            values=models.JSONField(),
            snapshot=models.ForeignKey(
                "applications.formsnapshot", models.PROTECT, related_name="submissions"
            ),
            consent_text=models.TextField(),
            consent_version=models.PositiveIntegerField(),
            consented_at=models.DateTimeField(),
            source=models.CharField(max_length=200, **EMPTY),
            fingerprint=models.CharField(max_length=64),
        ),
        {"verbose_name": "submission", "verbose_name_plural": "submissions"},
    ),
    migrations.CreateModel(
        "SubmissionFile",
        fields(
            submission=models.ForeignKey(
                "applications.submission", models.CASCADE, related_name="files"
            ),
            field=models.CharField(max_length=64),
            original_name=models.TextField(),
            path=models.CharField(max_length=100, unique=True),
            size=models.PositiveBigIntegerField(),
            sha256=models.CharField(max_length=64),
            kind=models.CharField(max_length=10),
            scan_state=models.CharField(max_length=10, default="off"),
        ),
        {
            "verbose_name": "submission file",
            "verbose_name_plural": "submission files",
            "ordering": ["pk"],
            "indexes": [Index("sha256", name="files_of_content")],
        },
    ),
    migrations.CreateModel(
        "IdempotencyKey",
        fields(
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="+"),
            key_hash=models.CharField(max_length=64),
            fingerprint=models.CharField(max_length=64),
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="idempotency_keys"
            ),
            created_at=models.DateTimeField(default=timezone.now, db_index=True),
        ),
        {
            "verbose_name": "idempotency key",
            "verbose_name_plural": "idempotency keys",
            "constraints": [
                UniqueConstraint(fields=("vacancy", "key_hash"), name="idempotency_key_once")
            ],
        },
    ),
    migrations.CreateModel(
        "UsedProof",
        fields(
            digest=models.CharField(max_length=64, unique=True),
            expires_at=models.DateTimeField(db_index=True),
        ),
        {"verbose_name": "used proof", "verbose_name_plural": "used proofs"},
    ),
    # --- Access and statistics
    migrations.CreateModel(
        "Token",
        fields(
            digest=models.CharField(max_length=128, primary_key=True, serialize=False),
            token_key=models.CharField(max_length=25, db_index=True),
            user=models.ForeignKey(USER, models.CASCADE, related_name="auth_token_set"),
            created=models.DateTimeField(auto_now_add=True),
            expiry=models.DateTimeField(**NULL),
            password_mark=models.CharField(max_length=64, editable=False),
        ),
        {"verbose_name": "token", "verbose_name_plural": "tokens", "ordering": ["-created"]},
    ),
    migrations.CreateModel(
        "AccessLog",
        fields(
            actor=models.ForeignKey(USER, models.SET_NULL, related_name="+", null=True),
            application=models.PositiveBigIntegerField(),
            action=models.CharField(max_length=20),
            at=models.DateTimeField(default=timezone.now, db_index=True),
        ),
        {"verbose_name": "access", "verbose_name_plural": "access log", "ordering": ["-at", "-pk"]},
    ),
    migrations.CreateModel(
        "DailyApplications",
        fields(
            day=models.DateField(),
            brand=models.ForeignKey("vacancies.brand", models.DO_NOTHING, **LOOSE),
            option=models.ForeignKey("vacancies.filteroption", models.DO_NOTHING, **LOOSE),
            source=models.CharField(max_length=200),
            received=models.PositiveIntegerField(),
        ),
        {"indexes": [Index(fields=["option", "day"], name="daily_applications_option")]},
    ),
]


class Migration(migrations.Migration):
    replaces = [("applications", name) for name in REPLACED]
    initial = True
    dependencies = [("vacancies", "0001_vacancies"), migrations.swappable_dependency(USER)]
    operations = [CreateModels(TABLES)]
