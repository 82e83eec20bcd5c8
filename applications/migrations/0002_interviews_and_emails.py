"""Interviews, scorecards, emails and job alerts."""

from django.conf import settings
from django.core import validators
from django.db import migrations, models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint, functions
from django.utils import timezone

from jobsite.db.tables import EMPTY, EMPTY_IN_SQL, NULL, CreateModels, fields
from jobsite.fields import WebURLField

USER = settings.AUTH_USER_MODEL
REPLACED = (
    "0007_email_kinds 0009_invitations 0013_personal_links_and_exports 0015_message_stage_change "
    "0017_brand_mail 0026_scorecards 0027_interviews 0028_interview_references 0029_email_kinds "
    "0030_job_alerts 0031_message_html 0032_web_urls 0033_message_has_pay "
).split()
PROXY = {"proxy": True, "default_permissions": (), "indexes": [], "constraints": []}
TABLES = [
    # --- Interviews
    migrations.CreateModel(
        "HistoryEntry",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="history"
            ),
            name=models.CharField(max_length=200),
            result=models.CharField(max_length=200, **EMPTY),
            planned_at=models.DateTimeField(),
            is_visible=models.BooleanField(default=False),
            is_imported=models.BooleanField(default=False, editable=False),
            ends_at=models.DateTimeField(**NULL, editable=False),
            zone=models.CharField(max_length=64, **EMPTY_IN_SQL, editable=False),
            place=models.CharField(max_length=300, **EMPTY_IN_SQL, editable=False),
            video_url=WebURLField(max_length=500, **EMPTY_IN_SQL, editable=False),
            details=models.TextField(max_length=2000, **EMPTY_IN_SQL, editable=False),
            uid=models.CharField(max_length=32, **EMPTY_IN_SQL, editable=False),
            sequence=models.PositiveIntegerField(default=0, db_default=0, editable=False),
            is_cancelled=models.BooleanField(default=False, db_default=False, editable=False),
            author=models.ForeignKey(
                USER, models.SET_NULL, related_name="+", **NULL, editable=False
            ),
            created_at=models.DateTimeField(default=timezone.now, editable=False),
            updated_at=models.DateTimeField(default=timezone.now, editable=False),
        ),
        {
            "verbose_name": "interview or task",
            "verbose_name_plural": "interviews and tasks",
            "ordering": ["planned_at", "created_at", "pk"],
            "indexes": [Index("planned_at", condition=~Q(uid=""), name="interviews_by_time")],
            "constraints": [
                CheckConstraint(
                    condition=Q(ends_at__gt=F("planned_at")), name="step_ends_after_start"
                ),
                UniqueConstraint(fields=("uid",), condition=~Q(uid=""), name="step_uid_once"),
            ],
        },
    ),
    # These two have no tables.
    migrations.CreateModel(
        "Interview",
        [],
        {"verbose_name": "interview", **PROXY},
        bases=("applications.historyentry",),
    ),
    migrations.CreateModel(
        "Task",
        [],
        {
            "verbose_name": "interview or task",
            "verbose_name_plural": "interviews and tasks",
            **PROXY,
        },
        bases=("applications.historyentry",),
    ),
    migrations.CreateModel(
        "Participant",
        fields(
            entry=models.ForeignKey(
                "applications.interview", models.CASCADE, related_name="participants"
            ),
            user=models.ForeignKey(USER, models.CASCADE, related_name="+", **NULL),
            address=models.EmailField(max_length=254),
            sequence=models.PositiveIntegerField(default=0),
            reply=models.CharField(max_length=10, **EMPTY),
            replied_at=models.DateTimeField(**NULL),
            reminded_for=models.DateTimeField(**NULL),
        ),
        {
            "verbose_name": "participant",
            "verbose_name_plural": "participants",
            "ordering": ["pk"],
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("entry", "user"), name="one_participant_per_user"),
                UniqueConstraint(
                    fields=("entry",),
                    condition=Q(user=None),
                    name="one_participant_is_the_applicant",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "Scorecard",
        fields(
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="scorecards"
            ),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            entry=models.ForeignKey(
                "applications.historyentry", models.SET_NULL, related_name="scorecards", **NULL
            ),
            recommendation=models.PositiveSmallIntegerField(**NULL),
            scores=models.JSONField(blank=True, default=list),
            text=models.TextField(max_length=10000, **EMPTY),
            asked_at=models.DateTimeField(**NULL),
            sent_at=models.DateTimeField(**NULL),
        ),
        {
            "verbose_name": "scorecard",
            "verbose_name_plural": "scorecards",
            "ordering": ["sent_at", "pk"],
            "default_permissions": ("view", "add"),
            "constraints": [
                UniqueConstraint(fields=("application", "author", "entry"), name="one_scorecard"),
                CheckConstraint(
                    condition=Q(recommendation=None)
                    | Q(recommendation__gte=1, recommendation__lte=4),
                    name="recommendation_from_1_to_4",
                ),
                CheckConstraint(
                    condition=Q(sent_at=None) | Q(recommendation__isnull=False),
                    name="sent_scorecard_recommends",
                ),
            ],
        },
    ),
    migrations.CreateModel(
        "CalendarFeed",
        fields(
            user=models.OneToOneField(USER, models.CASCADE, related_name="+"),
            digest=models.CharField(max_length=64, unique=True),
            read_at=models.DateTimeField(**NULL),
        ),
        {
            "verbose_name": "calendar address",
            "verbose_name_plural": "calendar addresses",
            "default_permissions": (),
        },
    ),
    migrations.CreateModel(
        "SlotSet",
        fields(
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="+"),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            name=models.CharField(max_length=200),
            minutes=models.PositiveSmallIntegerField(),
            zone=models.CharField(max_length=64),
            place=models.CharField(max_length=300, **EMPTY),
            video_url=WebURLField(max_length=500, **EMPTY),
            details=models.TextField(max_length=2000, **EMPTY),
            notice_hours=models.PositiveSmallIntegerField(
                default=24, validators=[validators.MaxValueValidator(336)]
            ),
            closes_at=models.DateTimeField(),
            colleagues=models.ManyToManyField(USER, related_name="+", blank=True),
        ),
        {
            "verbose_name": "times to choose from",
            "verbose_name_plural": "times to choose from",
            "default_permissions": (),
        },
    ),
    migrations.CreateModel(
        "Offer",
        fields(
            set=models.ForeignKey("applications.slotset", models.CASCADE, related_name="offers"),
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="offers"
            ),
            entry=models.ForeignKey(
                "applications.interview", models.SET_NULL, related_name="+", **NULL
            ),
        ),
        {
            "verbose_name": "offer of times",
            "verbose_name_plural": "offers of times",
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("set", "application"), name="one_offer_per_set")
            ],
        },
    ),
    migrations.CreateModel(
        "Slot",
        fields(
            set=models.ForeignKey("applications.slotset", models.CASCADE, related_name="slots"),
            starts_at=models.DateTimeField(),
            offer=models.OneToOneField(
                "applications.offer", models.SET_NULL, related_name="slot", **NULL
            ),
        ),
        {
            "verbose_name": "time to choose",
            "verbose_name_plural": "times to choose",
            "ordering": ["starts_at", "pk"],
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("set", "starts_at"), name="one_slot_per_time")
            ],
        },
    ),
    # --- Emails
    migrations.CreateModel(
        "JobAlert",
        fields(
            address=models.EmailField(max_length=254),
            address_folded=models.CharField(max_length=254),
            query=models.CharField(max_length=1000, blank=True),
            language=models.CharField(max_length=2),
            brand=models.ForeignKey("vacancies.brand", models.CASCADE, related_name="+", **NULL),
            frequency=models.CharField(max_length=6),
            created_at=models.DateTimeField(default=timezone.now),
            confirmed_at=models.DateTimeField(**NULL),
            told_at=models.DateTimeField(default=timezone.now),
            ends_at=models.DateTimeField(),
        ),
        {
            "verbose_name": "job alert",
            "verbose_name_plural": "job alerts",
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(
                    "address_folded",
                    "query",
                    "frequency",
                    functions.Coalesce("brand", 0),
                    name="job_alert_once",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "ToldVacancy",
        fields(
            alert=models.ForeignKey(
                "applications.jobalert", models.CASCADE, related_name="told", db_index=False
            ),
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="+"),
        ),
        {
            "verbose_name": "vacancy of a job alert",
            "verbose_name_plural": "vacancies of job alerts",
            "default_permissions": (),
            "constraints": [
                UniqueConstraint(fields=("alert", "vacancy"), name="vacancy_told_once")
            ],
        },
    ),
    migrations.CreateModel(
        "Message",
        fields(
            kind=models.CharField(max_length=20),
            application=models.ForeignKey(
                "applications.application", models.CASCADE, related_name="messages", **NULL
            ),
            stage_change=models.ForeignKey(
                "applications.stagechange",
                models.CASCADE,
                related_name="messages",
                **NULL,
                editable=False,
            ),
            author=models.ForeignKey(USER, models.SET_NULL, related_name="+", **NULL),
            recipient=models.ForeignKey(USER, models.CASCADE, related_name="+", **NULL),
            sender=models.CharField(max_length=320, **EMPTY_IN_SQL, editable=False),
            reply_to=models.EmailField(max_length=254, **EMPTY_IN_SQL, editable=False),
            to=models.EmailField(max_length=254),
            language=models.CharField(max_length=2),
            subject=models.CharField(max_length=400),
            body=models.TextField(),
            html=models.TextField(**EMPTY_IN_SQL, editable=False),
            has_pay=models.BooleanField(default=False, db_default=False, editable=False),
            link_marker=models.CharField(max_length=32, **EMPTY_IN_SQL, editable=False),
            calendar=models.TextField(**EMPTY_IN_SQL, editable=False),
            participant=models.ForeignKey(
                "applications.participant",
                models.SET_NULL,
                related_name="messages",
                **NULL,
                editable=False,
            ),
            alert=models.ForeignKey(
                "applications.jobalert",
                models.CASCADE,
                related_name="messages",
                **NULL,
                editable=False,
            ),
            is_bulk=models.BooleanField(default=False, db_default=False, editable=False),
            vacancies=models.JSONField(default=list, db_default=[], editable=False),
            state=models.CharField(max_length=10, default="queued"),
            attempts=models.PositiveSmallIntegerField(default=0),
            error=models.CharField(max_length=500, **EMPTY),
            queued_at=models.DateTimeField(default=timezone.now),
            next_at=models.DateTimeField(default=timezone.now),
            finished_at=models.DateTimeField(**NULL),
        ),
        {
            "verbose_name": "email",
            "verbose_name_plural": "emails",
            "ordering": ["queued_at", "pk"],
            "indexes": [
                Index(fields=["state", "next_at"], name="messages_by_state"),
                Index(
                    fields=["state", "next_at"],
                    condition=Q(is_bulk=False),
                    name="messages_not_bulk",
                ),
            ],
            "constraints": [
                CheckConstraint(
                    condition=Q(state__in=("queued", "sending", "sent", "failed")),
                    name="message_state_known",
                )
            ],
        },
    ),
    migrations.CreateModel(
        "BrandMail",
        fields(
            brand=models.OneToOneField("vacancies.brand", models.CASCADE, related_name="mail"),
            sender_name=models.CharField(max_length=80, **EMPTY),
            sender_address=models.EmailField(max_length=200, **EMPTY),
            reply_to=models.EmailField(max_length=254, **EMPTY),
            has_names_in_invitations=models.BooleanField(default=False, db_default=False),
            signature_en=models.TextField(max_length=1000, **EMPTY),
            signature_nl=models.TextField(max_length=1000, **EMPTY),
            signature_fr=models.TextField(max_length=1000, **EMPTY),
            signature_de=models.TextField(max_length=1000, **EMPTY),
        ),
        {
            "verbose_name": "emails of a brand",
            "verbose_name_plural": "emails of brands",
            "default_permissions": (),
        },
    ),
    migrations.CreateModel(
        "EmailLanguage",
        fields(
            user=models.OneToOneField(USER, models.CASCADE, related_name="+"),
            language=models.CharField(max_length=2),
        ),
        {"verbose_name": "email language", "verbose_name_plural": "email languages"},
    ),
    migrations.CreateModel(
        "EmailOptOut",
        fields(
            user=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            kind=models.CharField(max_length=20, default="digest", db_default="digest"),
        ),
        {
            "verbose_name": "email opt out",
            "verbose_name_plural": "email opt outs",
            "db_table": "applications_digestoptout",
            "constraints": [UniqueConstraint(fields=("user", "kind"), name="one_opt_out_per_kind")],
        },
    ),
    migrations.CreateModel(
        "ClosingNotice",
        fields(
            user=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            vacancy=models.ForeignKey("vacancies.vacancy", models.CASCADE, related_name="+"),
            publish_until=models.DateTimeField(),
        ),
        {
            "verbose_name": "closing notice",
            "verbose_name_plural": "closing notices",
            "constraints": [
                UniqueConstraint(
                    fields=("user", "vacancy", "publish_until"), name="one_closing_notice"
                )
            ],
        },
    ),
    migrations.CreateModel(
        "Invitation",
        fields(
            email=models.EmailField(max_length=254),
            first_name=models.CharField(max_length=150, **EMPTY),
            last_name=models.CharField(max_length=150, **EMPTY),
            role=models.ForeignKey("auth.group", models.CASCADE, related_name="+"),
            language=models.CharField(max_length=2),
            author=models.ForeignKey(USER, models.CASCADE, related_name="+"),
            message=models.ForeignKey(
                "applications.message", models.SET_NULL, related_name="+", null=True
            ),
            sent_at=models.DateTimeField(),
            brands=models.ManyToManyField("vacancies.brand", related_name="+", blank=True),
        ),
        {
            "verbose_name": "invitation",
            "verbose_name_plural": "invitations",
            "ordering": ["-sent_at", "-pk"],
        },
    ),
]


class Migration(migrations.Migration):
    replaces = [("applications", name) for name in REPLACED]
    initial = True
    dependencies = [
        ("applications", "0001_applications"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(USER),
    ]
    operations = [CreateModels(TABLES)]
