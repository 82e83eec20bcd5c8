"""Spreadsheet files: CSV and XLSX. Exports never contain formulas, imports never calculate them."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet calculates a text that begins with these
CELL_MAX = 32_767  # characters of a cell in XLSX
BOM = "\ufeff"  # spreadsheets read a CSV file as UTF-8 only with it
