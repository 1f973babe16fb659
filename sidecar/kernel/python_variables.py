"""`Variables` describes the variables of a Python kernel's code. Loaded when the sidecar first asks for them."""

import reprlib
import time
import types


class Variables:
    """The variables of the code, for display, as application/json."""

    MAX_VARIABLES = 500
    MAX_TEXT = 200
    BUDGET = 0.5  # seconds for the reprs of all values

    # Types whose shape is known without running foreign code.
    ARRAYS = ("numpy", "pandas", "polars", "torch", "tensorflow", "jax", "jaxlib", "xarray", "scipy")
    # Types shown by their repr, with their contents.
    PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None), range)
    COLLECTIONS = (list, tuple, dict, set, frozenset)

    def __init__(self, shell):
        hidden = getattr(shell, "user_ns_hidden", {})
        self._shown = [
            (name, value)
            for name, value in list(shell.user_ns.items())
            if not name.startswith("_")
            and hidden.get(name, self) is not value
            and not isinstance(value, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType))
        ]
        self._until = time.monotonic() + self.BUDGET
        self._repr = reprlib.Repr()
        self._repr.maxstring = self._repr.maxother = self.MAX_TEXT
        self._repr.repr_instance = lambda value, level: self._of_instance(value)

    def _repr_json_(self):
        shown = [self._describe(name, value) for name, value in self._shown[: self.MAX_VARIABLES]]
        return {"variables": shown, "truncated": len(self._shown) > self.MAX_VARIABLES}

    def _describe(self, name, value):
        kind = type(value)
        package = kind.__module__
        described = {
            "name": name[: self.MAX_TEXT],
            "type": kind.__qualname__ if package == "builtins" else "%s.%s" % (package, kind.__qualname__),
            "value": "",
        }
        try:
            if package.partition(".")[0] in self.ARRAYS and hasattr(value, "shape"):
                described["size"] = str(tuple(value.shape))
                described["value"] = str(getattr(value, "dtype", ""))[: self.MAX_TEXT]
                return described
            if kind in self.COLLECTIONS or kind in (str, bytes, bytearray):
                described["size"] = str(len(value))
            described["value"] = self._repr.repr(value)[: self.MAX_TEXT]
        except Exception as error:  # of a __repr__, say
            described["value"] = "<%s while it was looked at>" % type(error).__name__
        return described

    def _of_instance(self, value):
        if time.monotonic() > self._until:
            return "…"
        return repr(value)[: self.MAX_TEXT]
