"""The built-in checks of the audit, one file each."""
