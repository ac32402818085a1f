"""How much of every article lies where."""


class Shelf:
    """A shelf with room for some weight."""

    def __init__(self, label, capacity, depth=1):
        self.label = label
        self.capacity = capacity
        self.depth = depth
        self.items = {}

    def weight(self):
        total = 0
        for article, count in self.items.items():
            total += article.weight * count
        return total

    def put(self, article, count):
        free = self.capacity - self.weight()
        if count <= 0 or article.weight * count > free:
            return False
        known = self.items.get(article, 0)
        self.items[article] = known + count
        return True

    def take(self, article, wanted):
        present = self.items.get(article, 0)
        taken = min(present, wanted)
        if taken == present:
            self.items.pop(article, None)
        else:
            self.items[article] = present - taken
        return taken


def find_shelf(shelves, article, count):
    best = None
    smallest = None
    for shelf in shelves:
        free = shelf.capacity - shelf.weight()
        if free < article.weight * count:
            continue
        if best is None or free < smallest:
            best = shelf
            smallest = free
    return best


def take_everywhere(shelves, article, wanted):
    left = wanted
    moves = []
    for shelf in sorted(shelves, key=lambda s: s.depth):
        if left == 0:
            break
        taken = shelf.take(article, left)
        if taken > 0:
            moves.append((shelf.label, taken))
            left -= taken
    return moves, wanted - left
