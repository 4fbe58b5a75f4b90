"""Language models over several languages, as in XLM: their texts, tokens, batches and model."""
