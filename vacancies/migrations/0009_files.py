from django.db import migrations, models

import vacancies.validators


class AddIndexBesideTraffic(migrations.AddIndex):
    """Nobody waits for it on PostgreSQL."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor != "postgresql":
            return super().database_forwards(app_label, schema_editor, from_state, to_state)
        model = to_state.apps.get_model(app_label, self.model_name)
        with schema_editor.connection.cursor() as cursor:
            # half made by a run that was ended
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {self.index.name}")
        return schema_editor.add_index(model, self.index, concurrently=True)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor != "postgresql":
            return super().database_backwards(app_label, schema_editor, from_state, to_state)
        model = from_state.apps.get_model(app_label, self.model_name)
        return schema_editor.remove_index(model, self.index, concurrently=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0008_search_index")]

    operations = [
        AddIndexBesideTraffic("vacancy", models.Index(fields=["image"], name="vacancy_image")),
        AddIndexBesideTraffic("attachment", models.Index(fields=["file"], name="attachment_file")),
        AddIndexBesideTraffic("recruiter", models.Index(fields=["image"], name="recruiter_image")),
        migrations.AlterField(  # which rule a new file is under; nothing in the database
            "attachment",
            "file",
            models.FileField(
                blank=True, upload_to="attachments", validators=[vacancies.validators.validate_document]
            ),
        ),
    ]
