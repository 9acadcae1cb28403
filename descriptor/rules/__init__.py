"""The rules of the checker: one module for each section of chapter 6. `chapter` has them all, in its order."""
