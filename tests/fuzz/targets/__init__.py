"""The targets. Each module says what it promises and asserts it in `one_input`."""
