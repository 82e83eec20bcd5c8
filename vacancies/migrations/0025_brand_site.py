"""The host and the color of the career site of a brand.

Stored items contain the address of the page of a vacancy: a new host gives the vacancies new row versions.
"""

from django.db import migrations, models

import vacancies.validators
from jobsite.ops.online_migrations import AddColumnOnline, AddConstraintOnline

TRIGGER = """
CREATE OR REPLACE TRIGGER listed_vacancy_brand_address AFTER UPDATE ON vacancies_brand
  FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION listed_vacancy_brand_address()
"""


def watch(condition):
    def replace_trigger(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(TRIGGER.format(condition=condition), params=None)

    return replace_trigger


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0024_saved_view_page")]
    operations = [
        AddColumnOnline(
            model_name="brand",
            name="host",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The host of this brand’s own career site, such as jobs.example.com. Its vacancies have their pages there.",
                max_length=255,
                validators=[vacancies.validators.validate_host],
                verbose_name="host",
            ),
        ),
        AddColumnOnline(
            model_name="brand",
            name="accent",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The color of the header and the buttons of its career site, such as #0b57b0. Their text is black or white, whichever is easier to read.",
                max_length=7,
                validators=[vacancies.validators.validate_color],
                verbose_name="color",
            ),
        ),
        AddConstraintOnline(
            model_name="brand",
            constraint=models.UniqueConstraint(
                condition=models.Q(("host", ""), _negated=True),
                fields=("host",),
                name="brand_host_once",
                violation_error_message="Another brand has this host.",
            ),
        ),
        migrations.RunPython(
            watch("OLD.vacancy_url <> NEW.vacancy_url OR OLD.host <> NEW.host"),
            watch("OLD.vacancy_url <> NEW.vacancy_url"),
        ),
    ]
