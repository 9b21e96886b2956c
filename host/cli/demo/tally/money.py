from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def parse(text):
    return Decimal(text.strip().lstrip("$")).quantize(CENT, ROUND_HALF_UP)


def split(total, ways):
    share = (total / ways).quantize(CENT, ROUND_HALF_UP)
    return [total - share * (ways - 1)] + [share] * (ways - 1)
