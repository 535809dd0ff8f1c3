"""Vote of classifiers of any library, weighted by their results on batches predicted before they were learnt."""

from adforest.next_batch.ensemble import NextBatchVotingClassifier
from adforest.next_batch.voting_report import VotingReport

__all__ = ["NextBatchVotingClassifier", "VotingReport"]
