"""Makes the runner of flows that are Python files: `python build.py OUT.wasm WIT`.

The one place that knows how componentize-py is called. It wants `componentize-py` of VERSION beside the Python that runs it.
"""

import pathlib
import subprocess
import sys

#: Another one may bring another event loop, which flowhost/_loop.py stands in for.
VERSION = "0.25.1"
HERE = pathlib.Path(__file__).resolve().parent


def main(out: str, wit: str) -> int:
    program = pathlib.Path(sys.executable).parent / "componentize-py"
    words = [str(program), "--quiet", "--wit-path", wit, "--world", "runner", "componentize", "flowhost_runner", "--output", out]
    for folder in (HERE, HERE / "runner"):
        words += ["--python-path", str(folder)]
    return subprocess.run(words).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
