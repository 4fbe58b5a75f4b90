"""Machine translation with a Transformer, as in XLM: from pairs of sentences, from texts alone, or from both."""
