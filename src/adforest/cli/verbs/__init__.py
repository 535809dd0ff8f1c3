"""One module a verb: its function is the command."""
