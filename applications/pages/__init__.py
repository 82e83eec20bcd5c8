"""The pages of applicants and of accounts, below account/."""
