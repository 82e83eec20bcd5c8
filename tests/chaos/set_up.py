"""Sets Django up for the variables of this process. Import this before any model."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
django.setup()
