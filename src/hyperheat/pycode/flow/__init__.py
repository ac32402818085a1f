"""Control flow and data flow of a function."""
