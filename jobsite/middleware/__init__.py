"""Kernel: security headers and cookies."""
