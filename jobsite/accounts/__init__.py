"""Kernel: roles, sign-in, lockout, sessions, second factor and OpenID Connect."""
