"""How it is run: evaluation protocols, the runner, run records, fingerprints of code and data, timing."""
