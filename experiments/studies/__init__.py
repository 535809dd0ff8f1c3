"""The experiments: each module plans its runs and tells what came out."""
