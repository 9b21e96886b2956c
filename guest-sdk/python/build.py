"""Makes components of Python: `python build.py runner OUT.wasm WIT` and `python build.py flow FILE.py OUT.wasm WIT`.

The one place that knows how componentize-py is called. It wants `componentize-py` of VERSION beside the Python that runs it.
"""

import pathlib
import subprocess
import sys
import tempfile

#: Another one may bring another event loop, which flowhost/_loop.py stands in for.
VERSION = "0.25.1"
HERE = pathlib.Path(__file__).resolve().parent


def runner(out: str, wit: str) -> None:
    """The runner of flows that are source text."""
    componentize("flowhost_runner", "runner", out, wit, HERE / "runner")


def flow(file: str, out: str, wit: str) -> None:
    """A component of one flow, with the files beside it."""
    main = pathlib.Path(file)
    files = {each.name: each.read_bytes() for each in sorted(main.parent.glob("*.py")) if each.is_file()}
    with tempfile.TemporaryDirectory() as folder:
        text = f"MAIN = {main.name!r}\nFILES = {files!r}\n"
        pathlib.Path(folder, "flow_files.py").write_text(text, encoding="utf-8")
        componentize("flowhost_component", "flow", out, wit, HERE / "component", pathlib.Path(folder))


def componentize(app: str, world: str, out: str, wit: str, *folders: pathlib.Path) -> None:
    """Builds the module `app` for a world of the contract."""
    program = pathlib.Path(sys.executable).parent / "componentize-py"
    words = [str(program), "--quiet", "--wit-path", wit, "--world", world, "componentize", app, "--output", out]
    for folder in (HERE, *folders):
        words += ["--python-path", str(folder)]
    sys.exit(subprocess.run(words).returncode)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["runner", out, wit]:
            runner(out, wit)
        case ["flow", file, out, wit]:
            flow(file, out, wit)
        case _:
            sys.exit(__doc__)
