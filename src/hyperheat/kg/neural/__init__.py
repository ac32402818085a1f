"""Neural models of statements, which need torch. Read `model.py` first, then the files in the order it names them."""
