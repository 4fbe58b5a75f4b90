"""One file = one finding of a paper, named paper_finding."""
