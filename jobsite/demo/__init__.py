"""Believable content to try the job site on: one fictitious company, in four languages."""
