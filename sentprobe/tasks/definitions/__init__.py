"""The built-in probing tasks, one file each; the name of the file is the name of the task on the command line."""
