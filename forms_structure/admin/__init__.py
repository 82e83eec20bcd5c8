"""The admin of forms. jobsite/office/form.py registers it."""
