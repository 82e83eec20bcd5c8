"""The index that only PostgreSQL has."""

from django.db import migrations

from jobsite.db.folding import folded_sql
from jobsite.ops.online_migrations import AddTrigramIndexOnline

# The search of applicants, as in jobsite/office/search.py
NAMES = folded_sql("(given_name || ' ' || family_name || ' ' || email_folded)")
INDEXES = [
    AddTrigramIndexOnline("applications_folded_search", "applications_application", f"({NAMES})")
]


class Migration(migrations.Migration):
    atomic = False
    replaces = [("applications", "0010_name_search"), ("applications", "0014_folded_name_search")]
    dependencies = [("applications", "0003_initial_rows")]
    operations = [*INDEXES]
