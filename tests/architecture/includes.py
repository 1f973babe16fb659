"""Which headers a module may include, beyond what the include roots enforce: an outside library is one module's own,
and no callback and no libuv type leaves sidecar/async."""

import re

from cpp_text import line_of, without_comments_and_literals

# The others use what that module offers. No module's is what only tests need.
LIBRARY_HOME = {
    "uv.h": "async",
    "zmq": None,
    "nettle/": "base",
    "simdjson": "base",
    "nlohmann/": "base",
    "sqlite3.h": "record",
    "openssl/": "tls",
    "CLI/": "cli",
    "seccomp.h": "sandbox",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def module_of(path):
    parts = path.split("/")
    if parts[0] == "sidecar" and len(parts) > 2:
        return parts[1]
    return "protocol" if parts[0] == "protocol" else None


def include_faults(path, text):
    module = module_of(path)
    if module is None:
        return
    for match in INCLUDE.finditer(text):
        quote, name = match.groups()
        line = line_of(text, match.start(2))
        for library, home in LIBRARY_HOME.items():
            if name.startswith(library) and module != home:
                owner = f"the module {home}" if home else "tests and the bench"
                yield line, f"<{name}> belongs to {owner}; use what a module offers"
        if quote == '"' and (".." in name.split("/") or name.startswith("/")):
            yield line, f'"{name}" goes around the include roots; write "<module>/<header>"'


def async_header_faults(path, text):
    if not path.startswith("sidecar/async/include/"):
        return
    code = without_comments_and_literals(text)
    for match in INCLUDE.finditer(text):
        if match[2].startswith("uv.h"):
            yield line_of(text, match.start(2)), f"<{match[2]}> in a public header shows libuv to every module"
    for match in re.finditer(r"\b(?:uv|UV)_\w+", code):
        if match.group() != "uv_loop_s":
            yield line_of(code, match.start()), f"{match.group()} is the module's own matter"
    for match in re.finditer(r"std::(?:move_only_)?function<[^()<>]*\((?!\s*\))", code):
        yield line_of(code, match.start()), "a callback leaves the module: return a Task, and let the caller await it"


def faults(path, text):
    """Yields (line, what)."""
    yield from include_faults(path, text)
    yield from async_header_faults(path, text)
