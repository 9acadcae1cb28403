"""Losing the process, the disk's cooperation or the power between any two writes of the store."""
