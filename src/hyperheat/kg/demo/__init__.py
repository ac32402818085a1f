"""A small data set of scientists, their universities, teachers and prizes, and a model that was trained on it.

The facts are public knowledge, written down by hand; `data/test.csv` was not trained on.
"""

from pathlib import Path

__all__ = ["DATA", "MODEL", "QUESTIONS"]

DATA = Path(__file__).parent / "data"
MODEL = Path(__file__).parent / "model"
QUESTIONS = (
    "Albert Einstein | educated at | ? | academic degree=diploma",
    "Richard Feynman | doctoral advisor | ?",
    "? | award received | Nobel Prize in Chemistry | point in time=1935 | together with=Irène Joliot-Curie",
    "Marie Curie | award received | Nobel Prize in Physics | point in time=? | together with=Pierre Curie"
    " | together with=Henri Becquerel",
)
"""After an object, an object that is not in the training data, a subject, and the value of a qualifier."""
