"""Functions of the same kind without a bug."""

import re


def join_names(names, separator=", "):
    """Names that are not empty as one text."""
    return separator.join(str(name) for name in names if name)


def words(text, pattern=r"\w+"):
    """The words of a text, in lower case."""
    return [match.group().lower() for match in re.finditer(pattern, text)]


def last_or_none(items):
    """The last item, if there is one."""
    last = None
    for item in items:
        last = item
    return last


def remove(options, name, default=None):
    """Take an option out and return its value."""
    if name not in options:
        return default
    return options.pop(name)


class Shelf:
    """Things in the order in which they were put there."""

    def __init__(self, owner, things=()):
        self.owner = owner
        self.things = list(things)

    def find(self, name):
        """The thing of that name, or None."""
        for thing in self.things:
            if thing.name == name:
                return thing
        return None
