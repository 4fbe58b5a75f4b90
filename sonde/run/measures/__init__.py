"""Built-in measures, one file each; the loop computes and saves them like any cell."""
