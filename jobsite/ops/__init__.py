"""Kernel: running a site. Health, metrics, logs, system checks, backups, online migrations."""
