"""The Agent Descriptor as a document: strict parsing, digest, keys and signatures, the checker, publishing, difference.

Pure: no I/O and no clock. One idea is one module, and each is imported by its name: a node that serves a document does
not wait for the rules it was once checked by.
"""
