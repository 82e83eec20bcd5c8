"""The type of two fields, for Django alone: the columns stay as they are."""

from django.db import migrations

import jobsite.fields


class Migration(migrations.Migration):
    dependencies = [("applications", "0031_message_html")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="historyentry",
                    name="video_url",
                    field=jobsite.fields.WebURLField(
                        blank=True, db_default="", default="", editable=False, max_length=500
                    ),
                ),
                migrations.AlterField(
                    model_name="slotset",
                    name="video_url",
                    field=jobsite.fields.WebURLField(blank=True, default="", max_length=500),
                ),
            ]
        )
    ]
