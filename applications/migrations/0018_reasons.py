from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0017_brand_mail")]

    operations = [
        migrations.AddField(
            model_name="stage",
            name="asks_reason",
            field=models.CharField(
                choices=[("never", "never asked for"), ("may", "may be given"), ("must", "must be given")],
                db_default="never",
                default="never",
                help_text="Whether a recruiter who moves an application there chooses a reason.",
                max_length=5,
                verbose_name="reason",
            ),
        ),
        migrations.CreateModel(
            name="Reason",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                (
                    "kind",
                    models.CharField(
                        choices=[("rejected", "rejected"), ("withdrawn", "withdrawn by the applicant")],
                        default="rejected",
                        max_length=10,
                        verbose_name="result",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True, help_text="If off, moves that have it keep it.", verbose_name="offered"
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0, verbose_name="position")),
            ],
            options={
                "verbose_name": "reason",
                "verbose_name_plural": "reasons",
                "ordering": ["kind", "position", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("kind"),
                        models.F("name"),
                        name="one_reason_per_name",
                        violation_error_message="There is such a reason already.",
                    )
                ],
            },
        ),
    ]
