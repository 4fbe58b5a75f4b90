"""Charts of the lab; one file each."""
