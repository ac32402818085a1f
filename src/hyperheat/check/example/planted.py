"""Five functions with a planted bug each."""

import re


def to_text(value, encoding="utf-8"):
    """Bytes or anything else as text."""
    if isinstance(bytes, value):
        return value.decode(encoding)
    return str(value)


def is_number(text, signed=True):
    """Whether a text is a number."""
    if signed and text.startswith("-"):
        text = text[1:]
    return re.match(text, r"\d+(\.\d+)?$") is not None


def first_or(items, default=None):
    """The first item, if there is one."""
    for item in items:
        return items
    return default


def lookup(options, name, default=None):
    """The value of an option."""
    try:
        return options[name]
    except KeyError:
        return not default


class Basket:
    """What a customer wants to buy."""

    def __init__(self, customer, items=()):
        self.customer = customer
        self.items += list(items)

    def total(self):
        """The price of everything in it."""
        return sum(item.price * item.count for item in self.items)
