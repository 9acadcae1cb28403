"""The one exception of the bench."""


class BenchError(Exception):
    """The measurement could not be made; the message says why. No figure of this run is worth anything."""
