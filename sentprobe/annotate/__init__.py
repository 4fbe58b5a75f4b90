"""Raw text → annotated sentences: sources, sentence splitting, annotators."""
