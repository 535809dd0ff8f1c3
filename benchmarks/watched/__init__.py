"""Ratios that asv follows over time; see `ratios`."""
