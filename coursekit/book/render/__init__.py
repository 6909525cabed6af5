"""MyST's syntax trees as HTML: one handler for each type of node."""
