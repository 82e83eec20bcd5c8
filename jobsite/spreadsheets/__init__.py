"""Kernel: CSV and XLSX files. Exports never contain formulas, imports never calculate them."""

import re

# Where an apostrophe keeps a text of a CSV file from being calculated. A spreadsheet that splits
# the file at semicolons or tabs, as Excel does in many languages, does not see quoted cells: a cell
# can then begin behind each of these, and at each line.
FORMULA = re.compile(r'(^(?=[\t\r])|(?:^|[;\t\r\n])(?="*[=+@-]))')
APOSTROPHE = re.compile(r"""(^|[;\t\r\n])'(?="*[=+@\t\r-])""")
CELL_MAX = 32_767  # characters of a cell in XLSX
BOM = "\ufeff"  # spreadsheets read a CSV file as UTF-8 only with it
