"""What crosses the door: HTTP, envelopes, the exchanges, and the client that asks another node.

Strangers read and never run. Rules are pure functions in `envelope`, `codec`, `exchanges` and `protections`;
`server` is the thin shell of trio and sockets around them.
"""
