"""Who plays whom."""

from tournament.ratings import expected_score


def round_robin(players):
    circle = list(players)
    if len(circle) % 2 == 1:
        circle.append(None)
    half = len(circle) // 2
    rounds = []
    for number in range(len(circle) - 1):
        left, right = circle[:half], circle[half:]
        games = list(zip(left, reversed(right), strict=True))
        rounds.append([(a, b) if number % 2 == 0 else (b, a) for a, b in games])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def balance(games, ratings, tolerance):
    unfair = []
    for white, black in games:
        if white is None or black is None:
            continue
        chance = expected_score(ratings[white], ratings[black])
        if abs(chance - 0.5) > tolerance and white != black:
            unfair.append((white, black, chance))
    return unfair


def swiss(scores, played):
    order = sorted(scores, key=lambda player: scores[player], reverse=True)
    games = []
    while len(order) > 1:
        first = order.pop(0)
        for place, second in enumerate(order):
            if (first, second) not in played and (second, first) not in played:
                games.append((first, second))
                order.pop(place)
                break
        else:
            games.append((first, None))
    return games
