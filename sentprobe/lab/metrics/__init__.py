"""The lab's metrics, one file each."""
