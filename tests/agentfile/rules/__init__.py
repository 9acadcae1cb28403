"""The rules of the `.agent` format, by the modules that hold them."""
