"""Opt-outs and languages of emails to colleagues, by kind."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("applications", "0006_mail_templates"),
        ("vacancies", "0006_approval"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # The table keeps its name, so that the previous release can still write. Its rows become opt-outs of
        # the digest.
        migrations.AlterModelTable(name="digestoptout", table="applications_digestoptout"),
        migrations.RenameModel(old_name="DigestOptOut", new_name="EmailOptOut"),
        migrations.CreateModel(
            name="ClosingNotice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("publish_until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="EmailLanguage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("language", models.CharField(max_length=2)),
            ],
        ),
        migrations.AddField(
            model_name="emailoptout",
            name="kind",
            field=models.CharField(
                choices=[
                    ("receipt", "receipt"),
                    ("template", "email from a recruiter"),
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
            model_name="emailoptout",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AlterField(
            model_name="message",
            name="kind",
            field=models.CharField(
                choices=[
                    ("receipt", "receipt"),
                    ("template", "email from a recruiter"),
                    ("withdrawal", "confirmation of a withdrawal"),
                    ("mention", "mention in a note"),
                    ("digest", "daily digest"),
                    ("closing", "vacancies that close soon"),
                    ("approval", "request for approval"),
                    ("decision", "decision on a request for approval"),
                    ("invitation", "invitation of a colleague"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="emailoptout",
            constraint=models.UniqueConstraint(fields=("user", "kind"), name="one_opt_out_per_kind"),
        ),
        migrations.AddField(
            model_name="closingnotice",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="closingnotice",
            name="vacancy",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="vacancies.vacancy"
            ),
        ),
        migrations.AddField(
            model_name="emaillanguage",
            name="user",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="closingnotice",
            constraint=models.UniqueConstraint(
                fields=("user", "vacancy", "publish_until"), name="one_closing_notice"
            ),
        ),
    ]
