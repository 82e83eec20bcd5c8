"""The recruiters' side of applications: one module per noun, registered by being imported."""

from applications.admin import (  # noqa: F401 - importing registers
    access,
    application,
    stage,
    step,
    vacancy,
)
