"""`hyperheat kg demo`: questions to the small model that comes with the package."""

import sys

from hyperheat.kg.demo import DATA, QUESTIONS
from hyperheat.kg.models import load

__all__ = ["demo"]


def demo() -> None:
    """Ask a small model of scientists, universities and prizes: what it knows, what it finds, and why."""
    model = load("demo")
    sys.stdout.write(f"{len(model.statements):,} statements, {len(model.entities.names):,} entities\n")
    for question in QUESTIONS:
        found = model.ask(question, k=3)
        sys.stdout.write(f"\n{found}\n{model.explain(found, support=2)}\n")
    sys.stdout.write(
        "\nnew: not in the statements of the model. Ask your own:\n"
        f"  hyperheat kg complete --model demo '{QUESTIONS[0]}' --explain 1\n"
        f"The statements are in {DATA}\n"
    )
