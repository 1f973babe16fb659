"""Patches that only make a kernel faster. Without them it behaves the same: CELLGATE_KERNEL_SPEEDUPS=0 in the kernel's
environment, or this file's absence, turns all of them off (bootstrap.py).

- The pause before each reply is off.
- The debugger is not loaded: no client of cellgate uses it, and it takes a quarter of the start time.
- jedi, another tenth, is loaded at the first completion.
- Garbage is not collected during the start.
- What IPython makes at the first cell is made before it, once the kernel has waited for one.
- Where the home directory does not outlive the kernel, IPython keeps its history in memory instead of a file.
"""

import contextlib
import gc
import importlib
import importlib.util
import inspect
import os
import sys
import types

IDLE = 0.2  # seconds until a kernel that waits for its first cell makes ready for it


@contextlib.contextmanager
def without_debugger():
    """Hides debugpy while ipykernel is imported; a cell can import it as usual."""
    absent = sys.modules.setdefault("debugpy", None) is None
    try:
        yield
    finally:
        if absent:
            del sys.modules["debugpy"]


class LateModule(types.ModuleType):
    """A placeholder for a module until it is used; then `holder`, which imported it, gets the real one."""

    def __init__(self, name, holder):
        super().__init__(name)
        self.settings = types.SimpleNamespace()  # attributes set earlier are set on the real one
        self._holder = holder

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        module = importlib.import_module(self.__name__)
        vars(module.settings).update(vars(self.settings))
        setattr(sys.modules[self._holder], self.__name__, module)
        return getattr(module, attribute)


@contextlib.contextmanager
def with_late_completion():
    """Replaces jedi by a placeholder while IPython is imported; a cell can import it as usual."""
    names = ["jedi", "jedi.api.helpers", "jedi.api.classes"]  # as IPython imports them
    if "jedi" in sys.modules or importlib.util.find_spec("jedi") is None:
        names = []
    stand_in = LateModule("jedi", "IPython.core.completer")
    sys.modules.update(dict.fromkeys(names, stand_in))
    try:
        yield
    finally:
        for name in names:
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


def history_ends_with_kernel():
    """Whether IPython's folder would be new, and removed with the sandbox."""
    home = os.environ.get("CELLGATE_HOME")  # the sandbox's own
    return bool(home) and home == os.environ.get("HOME") and "IPYTHONDIR" not in os.environ and not os.path.lexists(
        os.path.join(home, ".ipython"))


@contextlib.contextmanager
def without_collections():
    """Turns off garbage collection during the start, which makes hundreds of thousands of objects and no garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if hasattr(gc, "freeze"):
            gc.freeze()  # later collections skip them, too
        if enabled:
            gc.enable()


@contextlib.contextmanager
def importing():
    """Around the import of ipykernel."""
    with without_debugger(), with_late_completion():
        yield


def starting():
    """Around the whole start."""
    return without_collections()


def configure(config):
    """Before the application is initialized."""
    if history_ends_with_kernel():
        config.HistoryManager.hist_file = ":memory:"


def attach(kernel):
    """When the kernel is initialized."""
    if isinstance(getattr(kernel, "_execute_sleep", None), float):
        kernel._execute_sleep = 0.0  # the pause before each reply
    stock = kernel.start

    def start():
        stock()
        if hasattr(getattr(kernel, "io_loop", None), "call_later"):
            kernel.io_loop.call_later(IDLE, prepare_first_cell, kernel.shell)

    # ipykernel 7 has a coroutine there; a kernel that is not IPython's has no shell.
    if hasattr(kernel, "shell") and not inspect.iscoroutinefunction(stock):
        kernel.start = start


def prepare_first_cell(shell):
    """The tokenizer's expressions, and the formatters of results."""
    if shell.execution_count > 1:  # it has made them, and the formatters may be the user's
        return
    shell.input_transformer_manager.transform_cell("0")
    shell.display_formatter.format(0)
