"""Taxes by brackets."""

from .hours import minutes_between, split_overtime


def tax(income, brackets):
    owed = 0
    lower = 0
    for upper, rate in brackets:
        if income <= lower:
            break
        part = min(income, upper) - lower
        owed += part * rate
        lower = upper
    return owed


def net_pay(shifts, wage, brackets, allowance):
    gross = 0
    for start, end, pause in shifts:
        minutes = minutes_between(start, end, pause)
        regular, extra = split_overtime(minutes, 480, 2)
        gross += (regular + extra) * wage / 60
    taxable = gross - allowance
    if taxable <= 0:
        return gross
    return gross - tax(taxable, brackets)


def cheapest_bracket(brackets, income, step=1):
    best = income
    lowest = tax(income, brackets)
    for candidate in range(income - step, 0, -step):
        owed = tax(candidate, brackets)
        if candidate - owed > best - lowest or owed == 0:
            best, lowest = candidate, owed
        if best == 0 and lowest == 0:
            return None
    return best, lowest
