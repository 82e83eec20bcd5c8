"""Formats of dates (`FORMAT_MODULE_PATH`).
The month is in letters, so that it cannot be read as the day.
"""

DATE_FORMAT = SHORT_DATE_FORMAT = "j b Y"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j b Y, H:i"
TIME_FORMAT = "H:i"
