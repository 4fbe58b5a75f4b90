"""One file here is one rule of contrast sets."""
