"""Composition: demo content, a fictitious company with vacancies, forms and applications."""
