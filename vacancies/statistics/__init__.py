"""Counts and daily statistics of vacancies, recorded so that the start page and the reports do not
count all vacancies again.
"""
