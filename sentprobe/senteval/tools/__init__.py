"""Classifiers and rankers, under the names that SentEval's clients and forks import."""
