"""Job alerts: whoever confirms an address gets emails about new vacancies that match a query (CAREER_SITE)."""
