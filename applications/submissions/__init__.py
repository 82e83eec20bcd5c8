"""Submissions of application forms: validation, files, proof of work, and links for applicants."""
