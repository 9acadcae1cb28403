"""The `.agent` file format: its rules, its reader and writer, and the helpers beside them."""
