"""Where raw text comes from; one file = one format."""
