"""When to order, and how much."""

from inventory.stock import find_shelf


def reorder_point(daily_use, delay, safety_days=2):
    base = daily_use * delay
    reserve = daily_use * safety_days
    return base + reserve


def order_size(demand, cost_of_order, cost_of_storage, pack):
    if demand <= 0 or cost_of_storage <= 0:
        return 0
    ideal = (2 * demand * cost_of_order / cost_of_storage) ** 0.5
    packs = ideal // pack
    if ideal % pack > 0:
        packs += 1
    return int(packs * pack)


def plan_delivery(shelves, article, count, limit):
    parts = []
    left = count
    while left > 0:
        part = min(left, limit)
        shelf = find_shelf(shelves, article, part)
        if shelf is None and part == 1:
            break
        if shelf is None:
            limit = part // 2
            continue
        shelf.put(article, part)
        parts.append((shelf.label, part))
        left -= part
    return parts, left


def late_orders(orders, today, grace=1):
    late = []
    for order in orders:
        overdue = today - order.due
        if overdue > grace and not order.cancelled:
            late.append((overdue, order))
    late.sort(key=lambda pair: pair[0], reverse=True)
    return [order for _, order in late]
