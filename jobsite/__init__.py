"""The composition above the apps, and the kernel below them (docs/architecture.md).

Composition: admin_site, apps, demo, management, office, settings, site, urls, wsgi.
Kernel, which knows no app: everything else. import-linter enforces it (pyproject.toml).
"""
