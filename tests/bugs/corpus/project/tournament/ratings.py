"""Ratings that follow results."""


def expected_score(own, other, scale=400):
    difference = other - own
    return 1 / (1 + 10 ** (difference / scale))


def update_rating(own, other, score, games):
    step = 40 if games < 30 else 20
    gain = step * (score - expected_score(own, other))
    return own + gain


def performance(results, start):
    low, high = start - 1000, start + 1000
    while high - low > 1:
        middle = (low + high) / 2
        expected = 0
        achieved = 0
        for opponent, score in results:
            expected += expected_score(middle, opponent)
            achieved += score
        if expected < achieved:
            low = middle
        else:
            high = middle
    return low


def streak(scores):
    longest = current = 0
    for score in scores:
        if score == 1:
            current += 1
            longest = max(longest, current)
        else:
            current = 0
    return longest
