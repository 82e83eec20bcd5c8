from django.db import migrations, models

import vacancies.validators
from jobsite.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0008_search_index")]

    operations = [
        AddIndexOnline("vacancy", models.Index(fields=["image"], name="vacancy_image")),
        AddIndexOnline("attachment", models.Index(fields=["file"], name="attachment_file")),
        AddIndexOnline("recruiter", models.Index(fields=["image"], name="recruiter_image")),
        migrations.AlterField(  # which rule a new file is under; nothing in the database
            "attachment",
            "file",
            models.FileField(
                blank=True, upload_to="attachments", validators=[vacancies.validators.validate_document]
            ),
        ),
    ]
