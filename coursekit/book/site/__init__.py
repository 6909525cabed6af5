"""The book as a folder of files: pages, what they use, search, and the link checker."""
