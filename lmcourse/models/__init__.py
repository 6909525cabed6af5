"""The models of the course, one idea a file, each equal to its reference implementation."""
