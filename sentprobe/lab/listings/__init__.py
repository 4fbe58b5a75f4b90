"""Lists of the kinds of parts that the lab has."""
