"""A service that predicts now, gets labels later and learns every one of them once; `adforest serve` starts it."""
