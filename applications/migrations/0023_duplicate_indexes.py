from django.db import migrations, models
from django.db.models.functions import Upper

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0022_origins")]

    operations = [
        AddIndexOnline(
            model_name="application",
            index=models.Index(Upper("family_name"), Upper("given_name"), name="applications_of_name"),
        ),
        AddIndexOnline(
            model_name="submissionfile",
            index=models.Index("sha256", name="files_of_content"),
        ),
    ]
