"""What changes vacancies: one module per act.
`save.save_content` writes a vacancy for all of them.
"""
