"""What XNLI's authors did with their corpus: votes, lengths, cue words, a second annotation."""
