"""Demo content: a fictitious company with vacancies, forms and applications in four languages."""
