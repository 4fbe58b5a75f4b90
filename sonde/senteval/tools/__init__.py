"""What is trained on vectors, under the names that SentEval's clients and forks import."""
