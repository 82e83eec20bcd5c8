"""Emails about applications: their texts, the outbox and its delivery.

Most kinds of `Message.Kind` have a module of their name. The others: `consent` (pool), `stage_email` (stage),
`interviews` and `reminders` (interview, reminder), `scorecards`, `mentions`, `templates`,
`applications.alerts.mail` (job alerts), and those about vacancies in `jobsite.office`:
`closing_emails` (closing), `approval_emails` (approval, decision).
"""
