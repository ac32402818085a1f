"""Neural models of statements, which need torch. Read `statement_model.py` first; it names the other files in order."""
