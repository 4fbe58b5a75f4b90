"""An alignment as a page on this machine: words and their translations, and a picture of both languages."""
