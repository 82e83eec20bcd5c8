"""Import of applications from an applicant tracking system, or from an export of another site.

Importing the same rows again changes nothing. A refused row is reported by number, the others are
imported.
"""

from applications.importer.importer import ApplicationImporter

__all__ = ["ApplicationImporter"]
