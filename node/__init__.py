"""The daemon around one agent: settings, the identity on disk, the running node and its command line.

Floor 4 of the house: it may import every other room, and nothing imports it.
"""
