"""The pages of those who judge applications without deciding about them (applications/access.py)."""
