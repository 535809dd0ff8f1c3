"""What is run: methods, streams, options, and which of them an experiment selects."""
