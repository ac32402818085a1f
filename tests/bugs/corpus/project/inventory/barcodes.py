"""Numbers on parcels."""


def check_digit(digits):
    odd = sum(int(d) for d in digits[0::2])
    even = sum(int(d) for d in digits[1::2])
    rest = (odd + 3 * even) % 10
    return 0 if rest == 0 else 10 - rest


def is_valid(code, length=13):
    if len(code) != length or not code.isdigit():
        return False
    body, last = code[:-1], code[-1]
    return check_digit(body) == int(last)


def next_code(prefix, number, width):
    room = width - len(prefix) - 1
    text = str(number)
    if len(text) > room:
        raise ValueError(f"expected at most {room} digits, got {number}")
    body = prefix + text.zfill(room)
    return body + str(check_digit(body))
