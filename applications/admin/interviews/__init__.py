"""Interviews and tasks: planning, times that applicants choose from, the list of all."""
