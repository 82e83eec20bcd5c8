import django.core.validators
import jobsite.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("vacancies", "0004_bucket_counts"),
    ]

    operations = [
        migrations.AddField(
            model_name="vacancy",
            name="applications_kept_days",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="After the last change of an application. If empty, the site's period applies.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="days that applications are kept",
            ),
        ),
        migrations.AddField(
            model_name="vacancy",
            name="apply_url",
            field=jobsite.fields.WebURLField(
                blank=True,
                db_default="",
                default="",
                help_text="Applicants apply at this address instead of through the application form.",
                max_length=1000,
                verbose_name="application URL",
            ),
        ),
    ]
