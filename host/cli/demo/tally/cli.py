import sys

from tally import ledger, report


def main(argv):
    if len(argv) != 2:
        print("usage: tally FILE.csv", file=sys.stderr)
        return 2
    print(report.text(ledger.balances(ledger.read(argv[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
