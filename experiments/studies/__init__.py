"""The experiments: each module plans its parts and tells what came out."""
