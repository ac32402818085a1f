"""Names: what binds them, and which symbol each of them refers to."""
