"""Where the boxes of a drawing go: no two overlap, and linked ones are close together.

Each connected component is laid out by stress majorisation: points whose distances in the plane are as close
as possible to their distances in the graph. Boxes that still overlap are pushed apart, and the components are
arranged in rows like words on a page.
"""

from dataclasses import dataclass
from itertools import count

import numpy as np

__all__ = ["place"]

_GAP = 10.0  # between two boxes
_COMPONENT_GAP = 36.0
_STRESS_LIMIT = 600  # boxes of one component; beyond it, all-pairs distances cost too much
_ITERATIONS = 150
_POWER_ITERATIONS = 40
_SETTLED = 0.2  # when no box moves further than this, the stress is low enough
_FLATTEN = 0.7  # boxes are wider than high, so rows may be closer than columns
_PATIENCE = 60  # steps of pushing boxes apart before all are spread


def place(sizes: np.ndarray, links: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Centres [V, 2] of boxes of these sizes [V, 2], given links [K, 2] between them and their lengths [K].

    No box reaches below zero.
    """
    centres = np.zeros((len(sizes), 2))
    components = _components(len(sizes), links)
    for members in components:
        centres[members] = _place_component(members, sizes, links, lengths)
    return _set_in_rows(components, centres, sizes)


def _place_component(
    members: np.ndarray, sizes: np.ndarray, links: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    if len(members) == 1:
        return np.zeros((1, 2))
    if len(members) > _STRESS_LIMIT:
        return _grid(sizes[members])
    local = np.full(len(sizes), -1)
    local[members] = np.arange(len(members))
    inside = local[links[:, 0]] >= 0
    near = local[links[inside]]
    distances = _distances(len(members), near, lengths[inside])
    drawings = []
    for start in (_radial_start(distances, _neighbours(len(members), near)), _scaled_start(distances)):
        flattened = _turn(_minimise_stress(start, distances)) * (1.0, _FLATTEN)
        drawings.append(_separate(flattened, sizes[members]))
    return min(drawings, key=lambda centres: _crossings(centres, sizes[members], near))


def _neighbours(boxes: int, links: np.ndarray) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(boxes)]
    for one, other in links.tolist():
        neighbours[one].append(other)
        neighbours[other].append(one)
    return neighbours


def _components(boxes: int, links: np.ndarray) -> list[np.ndarray]:
    """The connected components, largest first, each as a sorted array of boxes."""
    root = np.arange(boxes)
    while True:  # every box takes the smallest root among its neighbours, then follows its root's root
        before = root.copy()
        np.minimum.at(root, links[:, 0], root[links[:, 1]])
        np.minimum.at(root, links[:, 1], root[links[:, 0]])
        root = root[root]
        if np.array_equal(root, before):
            break
    order = np.argsort(root, kind="stable")
    starts = np.flatnonzero(np.diff(root[order], prepend=-1))
    return sorted(np.split(order, starts[1:]), key=len, reverse=True) if boxes else []


def _distances(boxes: int, links: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Lengths of the shortest paths between all pairs."""
    distances = np.full((boxes, boxes), np.inf)
    np.fill_diagonal(distances, 0.0)
    np.minimum.at(distances, (links[:, 0], links[:, 1]), lengths)
    distances = np.minimum(distances, distances.T)
    for via in range(boxes):
        np.minimum(distances, distances[:, via, None] + distances[via], out=distances)
    return distances


def _minimise_stress(centres: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Minimise the sum over pairs of (|x_i - x_j| / d_ij - 1)^2 by repeated Guttman transforms."""
    weights = 1.0 / (distances + np.eye(len(distances))) ** 2
    np.fill_diagonal(weights, 0.0)
    # The Laplacian does not see shifts of all boxes, so a constant may be added to make it invertible.
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + weights.mean())
    for _ in range(_ITERATIONS):
        pull = weights * distances / np.maximum(_apart(centres), 1e-9)
        moved = inverse @ (pull.sum(axis=1)[:, None] * centres - pull @ centres)
        done = np.abs(moved - centres).max() < _SETTLED
        centres = moved
        if done:
            break
    return centres


def _apart(centres: np.ndarray) -> np.ndarray:
    squares = (centres**2).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * centres @ centres.T, 0.0))


def _radial_start(distances: np.ndarray, neighbours: list[list[int]]) -> np.ndarray:
    """A tree around the most central box: each subtree gets a sector as wide as it has leaves, in order."""
    root = int(distances.max(axis=1).argmin())
    order, parent = [root], {root: root}
    for box in order:
        for other in neighbours[box]:
            if other not in parent:
                parent[other] = box
                order.append(other)
    leaves = np.zeros(len(distances))
    for box in reversed(order):
        leaves[box] = max(leaves[box], 1.0)
        if box != root:
            leaves[parent[box]] += leaves[box]
    begin = np.full(len(distances), np.pi / 2)  # two subtrees go left and right
    used = begin.copy()
    for box in order[1:]:
        above = parent[box]
        begin[box] = used[box] = used[above]
        used[above] += 2 * np.pi * leaves[box] / leaves[root]
    angle = begin + np.pi * leaves / leaves[root]
    return distances[root][:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _scaled_start(distances: np.ndarray) -> np.ndarray:
    """Classical scaling by power iteration, plus a small spiral so that no two points coincide."""
    squared = distances**2
    centred = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    number = np.arange(len(distances))
    angle = number * 2.399963  # the golden angle
    spiral = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.sqrt(number + 1.0)[:, None]
    axes = spiral
    for _ in range(_POWER_ITERATIONS):
        axes, _ = np.linalg.qr(centred @ axes)
    values = (axes * (centred @ axes)).sum(axis=0)
    return spiral + axes * np.sqrt(np.maximum(values, 0.0))


def _turn(centres: np.ndarray) -> np.ndarray:
    """If the points extend much more along one line than across it, turn that line to the horizontal."""
    centred = centres - centres.mean(axis=0)
    _, extents, axes = np.linalg.svd(centred)
    if extents[0] < 1.2 * extents[-1]:
        return centred
    along = axes[0] * (1.0 if axes[0, 0] >= 0 else -1.0)
    return centred @ np.array([[along[0], -along[1]], [along[1], along[0]]])


def _separate(centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Push overlapping boxes apart along the axis where they overlap less.

    If many overlap, all are spread first; if pushing takes long, they are spread again.
    """
    centres = centres.copy()
    one, other = np.triu_indices(len(sizes), 1)
    need = (sizes[one] + sizes[other]) / 2 + _GAP
    for step in count():
        offset = centres[one] - centres[other]
        overlap = need - np.abs(offset)
        clash = np.flatnonzero((overlap[:, 0] > 0.01) & (overlap[:, 1] > 0.01))
        if not len(clash):
            break
        if 2 * len(clash) > len(sizes) and step < _PATIENCE:  # crowded: spreading keeps the shape
            centres *= 1.05
            continue
        axis = overlap[clash].argmin(axis=1)
        push = 0.3 * overlap[clash, axis] * np.where(offset[clash, axis] < 0, -1.0, 1.0)
        np.add.at(centres, (one[clash], axis), push)
        np.add.at(centres, (other[clash], axis), -push)
        if step > _PATIENCE:
            centres *= 1.02
    return centres


def _crossings(centres: np.ndarray, sizes: np.ndarray, links: np.ndarray) -> int:
    """How often links cross each other or a box; a link across a box crosses its diagonals."""
    falling, rising = sizes / 2, sizes / 2 * (1.0, -1.0)
    box = np.arange(len(sizes))
    start = np.concatenate([centres[links[:, 0]], centres - falling, centres - rising])
    end = np.concatenate([centres[links[:, 1]], centres + falling, centres + rising])
    owners = np.concatenate([links, np.stack([box, box], axis=1), np.stack([box, box], axis=1)])
    apart = ~(links[:, None, :, None] == owners[None, :, None, :]).any(axis=(2, 3))
    first, last = start[: len(links), None], end[: len(links), None]
    across = _side(first, last, start) != _side(first, last, end)
    along = _side(start, end, first) != _side(start, end, last)
    return int((apart & across & along).sum())


def _side(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Whether a point is left of the line from start to end."""
    line, arm = end - start, point - start
    return line[..., 0] * arm[..., 1] > line[..., 1] * arm[..., 0]


def _grid(sizes: np.ndarray) -> np.ndarray:
    """Rows and columns of equal cells: for components too large for anything better."""
    wide = int(np.ceil(np.sqrt(len(sizes))))
    row, column = np.divmod(np.arange(len(sizes)), wide)
    return np.stack([column, row], axis=1) * (sizes.max(axis=0) + 4 * _GAP)


@dataclass(frozen=True)
class _Box:
    members: np.ndarray
    low: np.ndarray
    size: np.ndarray


def _set_in_rows(components: list[np.ndarray], centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    boxes = []
    for members in components:
        low = (centres[members] - sizes[members] / 2).min(axis=0)
        high = (centres[members] + sizes[members] / 2).max(axis=0)
        boxes.append(_Box(members, low, high - low))
    area = sum(float(np.prod(box.size + _COMPONENT_GAP)) for box in boxes)
    wide = max([1.3 * area**0.5, *(float(box.size[0]) for box in boxes)])
    placed = centres.copy()
    corner, row_height = np.zeros(2), 0.0
    for box in boxes:
        if corner[0] > 0 and corner[0] + box.size[0] > wide:
            corner, row_height = np.array([0.0, corner[1] + row_height + _COMPONENT_GAP]), 0.0
        placed[box.members] = centres[box.members] - box.low + corner
        corner = corner + np.array([box.size[0] + _COMPONENT_GAP, 0.0])
        row_height = max(row_height, float(box.size[1]))
    return placed
