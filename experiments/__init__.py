"""The experiments: config, run, table, figure."""
