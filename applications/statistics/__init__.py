"""Statistics of applications: what was received each day, and what became of it.

They have no personal data, and remain when applications are deleted.
"""
