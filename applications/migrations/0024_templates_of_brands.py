"""Email templates of a brand. The table has some rows."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0023_message_files"), ("vacancies", "0016_teams")]
    operations = [
        migrations.AddField(
            "mailtemplate",
            "brand",
            models.ForeignKey(
                "vacancies.brand",
                null=True,
                blank=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
            ),
        ),
        migrations.AlterField("mailtemplate", "name", models.CharField(max_length=200)),
        migrations.AlterModelOptions(
            "mailtemplate",
            {
                "verbose_name": "email template",
                "verbose_name_plural": "email templates",
                "ordering": ["name", "pk"],
            },
        ),
        migrations.AddConstraint(
            "mailtemplate",
            models.UniqueConstraint(
                fields=["brand", "name"],
                name="one_template_per_brand",
                violation_error_message="The brand has a template with this name.",
            ),
        ),
        migrations.AddConstraint(
            "mailtemplate",
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(brand=None),
                name="one_template_of_the_site",
                violation_error_message="The site has a template with this name.",
            ),
        ),
    ]
