"""The vocabularies that classify a vacancy."""

from django.db import models


class Keyword(models.TextChoices):
    """The nine vocabularies of a vacancy: keys of the API and of `filter[...]`."""

    FUNCTIONGROUP = "functiongroup", "Job category"
    TYPES = "types", "Types"
    CONTRACT_TYPES = "contract_types", "Contract types"
    WORK_REGIMES = "work_regimes", "Work regimes"
    REGIONS = "regions", "Regions"
    JOBCUSTOM1 = "jobcustom1_values", "Custom filter 1"
    JOBCUSTOM2 = "jobcustom2_values", "Custom filter 2"
    JOBCUSTOM3 = "jobcustom3_values", "Custom filter 3"
    JOBCUSTOM4 = "jobcustom4_values", "Custom filter 4"

    @property
    def is_single(self) -> bool:
        """Whether a vacancy has at most one of its options."""
        return self is Keyword.FUNCTIONGROUP
