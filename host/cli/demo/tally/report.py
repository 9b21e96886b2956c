def lines(balances):
    for who, balance in sorted(balances.items()):
        verb = "gets" if balance >= 0 else "owes"
        yield f"{who:<12} {verb} {abs(balance):>8}"


def text(balances):
    return "\n".join(lines(balances))
