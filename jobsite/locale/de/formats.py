"""Formats of dates (`FORMAT_MODULE_PATH`).
The month is in letters, so that it cannot be read as the day.
"""

DATE_FORMAT = SHORT_DATE_FORMAT = "j. N Y"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j. N Y, H:i"
TIME_FORMAT = "H:i"
