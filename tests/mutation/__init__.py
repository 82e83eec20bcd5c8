"""Mutation check: 72 defects, and which tests find each of them."""
