"""One file, one type of folder that a verb of the lab writes."""
