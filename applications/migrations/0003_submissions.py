import django.db.models.deletion
import django.db.models.functions
import django.utils.timezone
import jobsite.languages
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0002_stages"),
        ("vacancies", "0005_apply_url"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DigestOptOut",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FormSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("sections", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key_hash", models.CharField(max_length=64)),
                ("fingerprint", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="MailTemplate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="For recruiters only.", max_length=200, unique=True)),
                (
                    "subject_en",
                    models.CharField(
                        blank=True, default="", max_length=200, verbose_name="subject in English"
                    ),
                ),
                (
                    "body_en",
                    models.TextField(
                        blank=True, default="", max_length=10000, verbose_name="text in English"
                    ),
                ),
                (
                    "subject_nl",
                    models.CharField(blank=True, default="", max_length=200, verbose_name="subject in Dutch"),
                ),
                (
                    "body_nl",
                    models.TextField(blank=True, default="", max_length=10000, verbose_name="text in Dutch"),
                ),
                (
                    "subject_fr",
                    models.CharField(
                        blank=True, default="", max_length=200, verbose_name="subject in French"
                    ),
                ),
                (
                    "body_fr",
                    models.TextField(blank=True, default="", max_length=10000, verbose_name="text in French"),
                ),
                (
                    "subject_de",
                    models.CharField(
                        blank=True, default="", max_length=200, verbose_name="subject in German"
                    ),
                ),
                (
                    "body_de",
                    models.TextField(blank=True, default="", max_length=10000, verbose_name="text in German"),
                ),
            ],
            options={
                "verbose_name": "email template",
                "verbose_name_plural": "email templates",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("receipt", "receipt"),
                            ("template", "email from a recruiter"),
                            ("withdrawal", "confirmation of a withdrawal"),
                            ("mention", "mention in a note"),
                            ("digest", "daily digest"),
                        ],
                        max_length=20,
                    ),
                ),
                ("to", models.EmailField(max_length=254)),
                ("language", models.CharField(max_length=2)),
                ("subject", models.CharField(max_length=400)),
                ("body", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("sending", "being sent"),
                            ("sent", "sent"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.CharField(blank=True, default="", max_length=500)),
                ("queued_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "email",
                "verbose_name_plural": "emails",
                "ordering": ["queued_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField(max_length=10000)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "verbose_name": "note",
                "verbose_name_plural": "notes",
                "ordering": ["created_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("values", models.JSONField()),
                ("consent_text", models.TextField()),
                ("consent_version", models.PositiveIntegerField()),
                ("consented_at", models.DateTimeField()),
                ("source", models.CharField(blank=True, default="", max_length=200)),
                ("fingerprint", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="SubmissionFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("field", models.CharField(max_length=64)),
                ("original_name", models.TextField()),
                ("path", models.CharField(max_length=100, unique=True)),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("kind", models.CharField(max_length=10)),
                (
                    "scan_state",
                    models.CharField(
                        choices=[
                            ("off", "not scanned: no scanner is configured"),
                            ("clean", "scanned: no virus"),
                            ("failed", "not scanned: the scanner did not respond"),
                        ],
                        default="off",
                        max_length=10,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="UsedProof",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="application",
            name="email",
            field=models.EmailField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                max_length=254,
                verbose_name="e-mail address",
            ),
        ),
        migrations.AddField(
            model_name="application",
            name="email_folded",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=254),
        ),
        migrations.AddField(
            model_name="application",
            name="family_name",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=200),
        ),
        migrations.AddField(
            model_name="application",
            name="given_name",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=200),
        ),
        migrations.AddField(
            model_name="application",
            name="is_repeated",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, verbose_name="applied again"
            ),
        ),
        migrations.AddField(
            model_name="application",
            name="language",
            field=models.CharField(
                db_default="", default=jobsite.languages.site_language, editable=False, max_length=2
            ),
        ),
        migrations.AddField(
            model_name="application",
            name="phone",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=200),
        ),
        migrations.AddField(
            model_name="application",
            name="rating",
            field=models.PositiveSmallIntegerField(
                blank=True, choices=[(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5")], null=True
            ),
        ),
        migrations.AddField(
            model_name="application",
            name="read_at",
            # What exists is not new. Both databases set the default without rewriting rows one by one.
            field=models.DateTimeField(
                blank=True, db_default=django.db.models.functions.Now(), editable=False, null=True
            ),
        ),
        migrations.AlterField(
            model_name="application",
            name="read_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="application",
            name="reference",
            field=models.CharField(editable=False, max_length=12, null=True, unique=True),
        ),
        migrations.AddField(
            model_name="application",
            name="verified_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="application",
            name="withdrawn_at",
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name="withdrawn at"),
        ),
        migrations.AddField(
            model_name="stage",
            name="kind",
            field=models.CharField(
                choices=[
                    ("open", "in progress"),
                    ("hired", "hired"),
                    ("rejected", "rejected"),
                    ("withdrawn", "withdrawn by the applicant"),
                ],
                db_default="open",
                default="open",
                max_length=10,
                verbose_name="result",
            ),
        ),
        migrations.AddField(
            model_name="stagechange",
            name="is_undo",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="accesslog",
            name="action",
            field=models.CharField(
                choices=[
                    ("view", "seen"),
                    ("change", "changed"),
                    ("export", "exported"),
                    ("file", "file opened"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="application",
            name="user",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="applications",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="application",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="idempotency_keys",
                to="applications.application",
            ),
        ),
        migrations.AddField(
            model_name="idempotencykey",
            name="vacancy",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="vacancies.vacancy"
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="application",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="messages",
                to="applications.application",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="recipient",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="note",
            name="application",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notes",
                to="applications.application",
            ),
        ),
        migrations.AddField(
            model_name="note",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="note",
            name="mentioned",
            field=models.ManyToManyField(blank=True, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="submission",
            name="application",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="submission",
                to="applications.application",
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="snapshot",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="submissions",
                to="applications.formsnapshot",
            ),
        ),
        migrations.AddField(
            model_name="submissionfile",
            name="submission",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="files",
                to="applications.submission",
            ),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(fields=("vacancy", "key_hash"), name="idempotency_key_once"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["state", "next_at"], name="messages_by_state"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("queued", "sending", "sent", "failed"))),
                name="message_state_known",
            ),
        ),
    ]
