import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0020_initial_reasons"),
    ]

    operations = [
        migrations.AddField(
            model_name="stage",
            name="email",
            field=models.ForeignKey(
                blank=True,
                help_text="Sent to applicants whom a recruiter moves there. If empty, no email is sent.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="stages",
                to="applications.mailtemplate",
                verbose_name="email",
            ),
        ),
        migrations.AddField(
            model_name="stage",
            name="email_after_hours",
            field=models.PositiveSmallIntegerField(
                db_default=1,
                default=1,
                help_text="At most 720. It is never sent before the candidate sees the status.",
                validators=[django.core.validators.MaxValueValidator(720)],
                verbose_name="hours until the email",
            ),
        ),
        migrations.AlterField(
            model_name="emailoptout",
            name="kind",
            field=models.CharField(
                choices=[
                    ("receipt", "receipt"),
                    ("template", "email from a recruiter"),
                    ("stage", "email of a stage"),
                    ("withdrawal", "confirmation of a withdrawal"),
                    ("mention", "mention in a note"),
                    ("digest", "daily digest"),
                    ("closing", "vacancies that close soon"),
                    ("approval", "request for approval"),
                    ("decision", "decision on a request for approval"),
                    ("invitation", "invitation of a colleague"),
                ],
                db_default="digest",
                default="digest",
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="kind",
            field=models.CharField(
                choices=[
                    ("receipt", "receipt"),
                    ("template", "email from a recruiter"),
                    ("stage", "email of a stage"),
                    ("withdrawal", "confirmation of a withdrawal"),
                    ("mention", "mention in a note"),
                    ("digest", "daily digest"),
                    ("closing", "vacancies that close soon"),
                    ("approval", "request for approval"),
                    ("decision", "decision on a request for approval"),
                    ("invitation", "invitation of a colleague"),
                ],
                max_length=20,
                verbose_name="kind",
            ),
        ),
    ]
