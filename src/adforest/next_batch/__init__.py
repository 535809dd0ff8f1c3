"""Classifiers of any library that vote on the next batch, weighted by how they did on those before."""

from adforest.next_batch.ensemble import NextBatchVotingClassifier
from adforest.next_batch.voting_report import VotingReport

__all__ = ["NextBatchVotingClassifier", "VotingReport"]
