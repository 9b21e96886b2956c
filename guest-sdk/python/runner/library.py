"""The standard library of source flows: a component imports nothing but what was there when it was built, so it is all here.

Left out is what a flow cannot use: processes, sockets, files, threads, terminals, and tools for Python itself.
"""

import importlib

#: By what one looks for.
MODULES = """
    __future__ _strptime abc annotationlib argparse array ast asyncio atexit base64 binascii bisect builtins calendar cmath cmd code codecs
    codeop collections collections.abc colorsys concurrent.futures concurrent.futures.thread configparser contextlib contextvars copy copyreg
    csv dataclasses datetime decimal difflib dis doctest email email.generator email.header email.headerregistry email.message
    email.mime.multipart email.mime.text email.parser email.policy email.utils encodings.ascii encodings.base64_codec encodings.cp1252
    encodings.cp437 encodings.hex_codec encodings.idna encodings.iso8859_1 encodings.iso8859_15 encodings.latin_1 encodings.punycode
    encodings.raw_unicode_escape encodings.rot_13 encodings.unicode_escape encodings.utf_16 encodings.utf_16_be encodings.utf_16_le
    encodings.utf_32 encodings.utf_32_be encodings.utf_32_le encodings.utf_7 encodings.utf_8 encodings.utf_8_sig enum errno filecmp
    fnmatch fractions functools gc getopt gettext glob graphlib gzip hashlib heapq hmac html html.entities html.parser http http.cookies
    importlib importlib.metadata importlib.resources importlib.util inspect io ipaddress itertools json keyword linecache locale logging
    logging.config logging.handlers marshal math mimetypes numbers opcode operator optparse os os.path pathlib pickle pickletools pkgutil
    platform plistlib pprint pstats queue quopri random re reprlib sched secrets select selectors shlex shutil signal socket sqlite3 stat
    statistics string string.templatelib stringprep struct subprocess symtable sys sysconfig tarfile tempfile textwrap threading time
    timeit token tokenize tomllib trace traceback tracemalloc types typing unicodedata unittest unittest.mock urllib.error urllib.parse
    uuid warnings wave weakref xml.dom.minidom xml.dom.pulldom xml.etree.ElementTree xml.sax xml.sax.expatreader
    xml.sax.saxutils zipfile zipfile._path.glob zlib zoneinfo
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
