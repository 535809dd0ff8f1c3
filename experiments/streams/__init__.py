"""Streams of the experiments: public data sets, the paper's scenarios, and streams with one difficulty each."""
