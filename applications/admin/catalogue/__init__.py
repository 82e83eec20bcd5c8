"""What applications refer to: stages, email templates, emails, the access log."""
