"""The index of consents to the talent pool."""

from django.db import migrations, models
from django.db.models import Q

from jobsite.ops.online_migrations import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0021_pool")]
    operations = [
        AddIndexOnline(
            "consentrequest",
            models.Index(
                "until",
                condition=Q(purpose="pool", answer="yes", left_at=None),
                name="consents_to_pool",
            ),
        )
    ]
