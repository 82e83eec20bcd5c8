"""Composition: the commands of manage.py that are not about one app."""
