"""`python -m node` is `agent-node`."""

from node.cli import program

program()
