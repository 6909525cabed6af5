"""The book and the slides: executed sources, read by mystmd, written as pages and decks."""
