"""The `.agent` file format v1 as a pure package: floor 1, beside `descriptor`, without I/O.

The reader, the writer and the projection to a draft Descriptor live here.
"""
