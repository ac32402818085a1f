"""Hours of work."""


def minutes_between(start, end, pause=0):
    begin = start[0] * 60 + start[1]
    finish = end[0] * 60 + end[1]
    if finish < begin:
        finish += 24 * 60
    worked = finish - begin - pause
    return max(worked, 0)


def split_overtime(minutes, regular, factor):
    if minutes <= regular:
        return minutes, 0
    extra = minutes - regular
    return regular, extra * factor


def round_to(minutes, step, up=False):
    whole = minutes // step
    rest = minutes % step
    if rest > 0 and (up or rest * 2 >= step):
        whole += 1
    return whole * step
