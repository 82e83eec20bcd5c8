import django.db.models.deletion
import django.utils.timezone
import forms_structure.fields
import jobsite.fields
import jobsite.languages
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ConsentText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("nl", "Dutch"), ("fr", "French"), ("de", "German")],
                        default=jobsite.languages.site_language,
                        max_length=2,
                    ),
                ),
                ("version", models.PositiveIntegerField(editable=False, unique=True)),
                (
                    "text",
                    models.CharField(
                        help_text="Label of the checkbox that applicants must tick.", max_length=1000
                    ),
                ),
                (
                    "statement_url",
                    jobsite.fields.WebURLField(
                        blank=True,
                        default="",
                        help_text="URL of the statement.",
                        max_length=1000,
                        verbose_name="privacy statement",
                    ),
                ),
                (
                    "statement_label",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="If empty: “Privacy statement”.",
                        max_length=200,
                        verbose_name="link text",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                "ordering": ["-version"],
            },
        ),
        migrations.CreateModel(
            name="Form",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(help_text="For recruiters only.", max_length=200, unique=True)),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("nl", "Dutch"), ("fr", "French"), ("de", "German")],
                        default=jobsite.languages.site_language,
                        help_text="Language of the texts that the system adds: language levels and consent.",
                        max_length=2,
                    ),
                ),
                (
                    "is_default",
                    models.BooleanField(
                        default=False,
                        help_text="Used for every vacancy if neither the vacancy nor its brand has a form.",
                        verbose_name="the site's form",
                    ),
                ),
                ("structure", forms_structure.fields.StructureField(blank=True, default=list)),
                ("revision", models.PositiveIntegerField(default=1, editable=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "extends",
                    models.ForeignKey(
                        blank=True,
                        help_text="The sections of this form are shown after the sections of the selected form.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="extensions",
                        to="forms_structure.form",
                        verbose_name="added after form",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("revision", models.PositiveIntegerField()),
                ("structure", forms_structure.fields.StructureField(blank=True, default=list)),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("nl", "Dutch"), ("fr", "French"), ("de", "German")],
                        max_length=2,
                    ),
                ),
                ("origin", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "form",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="snapshots",
                        to="forms_structure.form",
                    ),
                ),
            ],
            options={
                "ordering": ["-revision"],
            },
        ),
        migrations.AddConstraint(
            model_name="form",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)),
                fields=("is_default",),
                name="one_default_form",
                violation_error_message="Another form is already the site's form.",
            ),
        ),
        migrations.AddConstraint(
            model_name="form",
            constraint=models.CheckConstraint(
                condition=models.Q(("extends", models.F("pk")), _negated=True),
                name="form_extends_another",
                violation_error_message="A form cannot be added after itself.",
            ),
        ),
        migrations.AddConstraint(
            model_name="form",
            constraint=models.CheckConstraint(
                condition=models.Q(("extends__isnull", True), ("is_default", False), _connector="OR"),
                name="default_form_extends_none",
                violation_error_message="The site's form cannot be added after another form.",
            ),
        ),
        migrations.AddConstraint(
            model_name="form",
            constraint=models.CheckConstraint(
                condition=models.Q(("language__in", ["en", "nl", "fr", "de"])), name="form_language_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="snapshot",
            constraint=models.UniqueConstraint(
                models.F("form"), models.F("revision"), name="one_snapshot_per_revision"
            ),
        ),
    ]
