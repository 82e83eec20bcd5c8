"""The page of reports: figures of vacancies, visitors and applications, and their files."""
