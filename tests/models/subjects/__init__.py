"""The models that the property kit examines, and the broken ones that it must catch."""

from tests.models.kit import Subject

SUBJECTS: tuple[Subject, ...] = ()
