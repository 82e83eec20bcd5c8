"""Job alerts: emails about new vacancies that match a query, to addresses that were confirmed."""
