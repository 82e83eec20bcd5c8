"""The recruiters' side of applications: one module per noun, registered by being imported."""

from applications.admin import access, application, procedure, step, vacancy  # noqa: F401 - importing registers
