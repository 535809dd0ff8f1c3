"""The studies: each module plans its runs, and reports on their results in a chapter."""
