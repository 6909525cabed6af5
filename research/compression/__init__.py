"""Which compressed models are worth their size: `lmcourse compression` (chapter 18)."""
