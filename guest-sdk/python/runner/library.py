"""The standard library of source flows: a component imports nothing but what was there when it was built, so it is all here.

Left out is what a flow cannot use: processes, sockets, files, threads, terminals, and tools for Python itself.
"""

import importlib

#: By what one looks for.
MODULES = """
    abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections collections.abc
    colorsys concurrent.futures configparser contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib
    email.message email.utils encodings.ascii encodings.cp1252 encodings.idna encodings.latin_1 encodings.punycode encodings.utf_16
    encodings.utf_32 enum errno filecmp fnmatch fractions functools gc getopt gettext glob graphlib gzip hashlib heapq hmac html
    html.entities html.parser http importlib importlib.util inspect io ipaddress itertools json keyword linecache locale logging math
    mimetypes numbers operator optparse os os.path pathlib pickle platform plistlib pprint queue quopri random re reprlib
    secrets shlex shutil stat statistics string string.templatelib stringprep struct sys tempfile textwrap threading time timeit token
    tokenize tomllib traceback types typing unicodedata unittest unittest.mock urllib.parse uuid warnings weakref xml.dom.minidom
    xml.etree.ElementTree xml.sax.saxutils zipfile zlib zoneinfo _strptime
""".split()

HAD: list[str] = []
for name in MODULES:
    try:
        importlib.import_module(name)
    except ImportError:
        # Python for WebAssembly is built without some libraries (compression among them).
        continue
    HAD.append(name)


def missing(module: str) -> str:
    """What to say of a module that is not here."""
    return (
        f"No module named {module!r}: a flow imports files beside it and the part of the standard library that flows can use; "
        "packages and what reaches files, processes or the network are not there"
    )
