"""One file = one annotator."""
