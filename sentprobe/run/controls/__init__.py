"""Built-in controls, one file each. Each changes one thing; the loop probes the result like any other set."""
