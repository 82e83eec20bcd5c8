"""Kernel: HTML, formats of dates, names, and texts of other packages."""
