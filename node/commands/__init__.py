"""The commands, grouped by what they share. Each takes a `Console` and says one thing."""
