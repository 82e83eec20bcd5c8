"""Export and import of the vacancies of the list as CSV and XLSX."""
