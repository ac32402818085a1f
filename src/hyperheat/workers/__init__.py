"""Work in processes that may hang, run out of memory or crash without harm to the rest."""
