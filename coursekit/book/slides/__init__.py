"""A chapter's slides: laid out from its marks, as one file, as PDF, and live."""
