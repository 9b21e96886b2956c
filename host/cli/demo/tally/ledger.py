import csv
from collections import defaultdict
from decimal import Decimal

from tally import money


def read(path):
    with open(path, newline="") as file:
        return [(row["who"], money.parse(row["paid"])) for row in csv.DictReader(file)]


def balances(payments):
    paid = defaultdict(Decimal)
    for who, amount in payments:
        paid[who] += amount
    shares = money.split(sum(paid.values()), len(paid))
    return {who: paid[who] - share for who, share in zip(sorted(paid), shares)}
