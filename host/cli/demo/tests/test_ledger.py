from decimal import Decimal

from tally import ledger


def test_what_is_paid_is_shared():
    balances = ledger.balances([("ann", Decimal("30.00")), ("bob", Decimal("10.00"))])
    assert balances == {"ann": Decimal("10.00"), "bob": Decimal("-10.00")}
