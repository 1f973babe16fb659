"""The patterns that reach further than they look, as rules about single nodes of Python code."""

import ast
import re

# Attributes that lead from any object to all others. __name__, __doc__, __init__ and their like do not.
DUNDERS = frozenset(
    "__base__ __bases__ __mro__ __subclasses__ __globals__ __builtins__ __code__ __closure__ __func__ __self__ __import__ "
    "__loader__ __spec__ __reduce__ __reduce_ex__ __getattribute__ __subclasshook__ __init_subclass__ __build_class__ "
    "__objclass__ __wrapped__ __traceback__ mro".split())
# Harmless by itself (self.__class__.__name__), but not as a text that is looked up.
LOOKED_UP = DUNDERS | {"__class__", "__dict__", "__init__"}
FRAMES = frozenset(
    "gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await ag_frame ag_code ag_await f_back f_globals f_locals f_builtins f_code "
    "tb_frame tb_next".split())
BUILTINS = frozenset("eval exec compile __import__ breakpoint".split())
# Those that only a program without a profile has.
NAMESPACES = frozenset("globals locals vars".split())
GUARDS = frozenset(
    "_getattr_ _getitem_ _getiter_ _iter_unpack_sequence_ _unpack_sequence_ _write_ _print_ _print _inplacevar_ _apply_ "
    "__builtins__ __build_class__ __metaclass__ __import__".split())
INDIRECT = frozenset(
    "typing.get_type_hints inspect.get_annotations timeit.timeit timeit.repeat timeit.Timer profile.run cProfile.run pdb.run "
    "pdb.runeval trace.Trace runpy.run_path runpy.run_module code.interact code.InteractiveInterpreter "
    "code.InteractiveConsole types.FunctionType types.CodeType types.LambdaType doctest.testmod bdb.Bdb "
    "importlib.import_module importlib.reload".split())
LOADERS = frozenset(
    "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads shelve.open dill.loads joblib.load "
    "yaml.load yaml.unsafe_load yaml.full_load".split())
SHELLS = frozenset("os.system os.popen subprocess.getoutput subprocess.getstatusoutput pty.spawn".split())
READERS = frozenset(
    "configparser.ConfigParser.read configparser.RawConfigParser.read xml.etree.ElementTree.parse "
    "xml.etree.ElementTree.iterparse xml.etree.ElementTree.ElementTree io.open io.FileIO codecs.open zipfile.ZipFile "
    "tarfile.open gzip.open bz2.open lzma.open fileinput.input logging.FileHandler".split())
# Modules that reach the system: what another module happens to have imported must not hand them out.
SYSTEM = frozenset(
    "os sys subprocess ctypes importlib builtins shutil socket pty signal multiprocessing threading _thread inspect io "
    "pathlib tempfile posix platform codecs warnings copyreg _imp imp runpy code gc types".split())
LOOKUPS = frozenset("getattr setattr delattr hasattr operator.attrgetter operator.methodcaller".split())
TRAVERSAL = re.compile(r"\{[^{}]*(?:\.|\[)\s*(?:__\w+__|%s)" % "|".join(sorted(FRAMES)))


class Names:
    """What the code's names stand for: modules, and what was imported from them."""

    def __init__(self, trees):
        self.origins = {}  # name -> "json", "os.path.join"
        self.bound = set()
        for tree in trees:
            for node in ast.walk(tree):
                self._read(node)

    def _read(self, node):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                self.origins[name] = alias.name if alias.asname else name
                self.bound.add(name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.origins[alias.asname or alias.name] = "%s.%s" % (node.module or "", alias.name)
                self.bound.add(alias.asname or alias.name)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bound.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        elif isinstance(node, ast.arg):
            self.bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self.bound.add(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            self.bound.add(node.name)

    def dotted(self, node):
        """What an expression names, from its origin: "os.system". Instances are named by their class."""
        parts = []
        while True:
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, ast.Name):
                return ".".join([self.origins.get(node.id, node.id)] + parts[::-1])
            else:
                return ""


def folded(node):
    """The text of a constant expression, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = folded(node.left), folded(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.JoinedStr):
        parts = [folded(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values]
        return None if None in parts else "".join(parts)
    if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
            and len(node.args) == 1 and isinstance(node.args[0], (ast.List, ast.Tuple))):
        separator, parts = folded(node.func.value), [folded(each) for each in node.args[0].elts]
        return None if separator is None or None in parts else separator.join(parts)
    return None


class Patterns:
    """The rules about single nodes. One method for each kind of node."""

    def __init__(self, report, modules, names, tree, restricted):
        self.report = report
        self.modules = modules
        self.names = names
        self.restricted = restricted
        self.formats = any(isinstance(node, ast.Attribute) and node.attr in ("format", "format_map", "vformat", "Formatter")
                           for node in ast.walk(tree))
        self.classes = {}  # variable -> class it was made from
        self.optional = {id(node) for each in ast.walk(tree) if isinstance(each, ast.Try) and each.handlers
                         for statement in each.body for node in ast.walk(statement)}
        self.caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}

    def check(self, tree):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                made = self.names.dotted(node.value.func)
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.classes[target.id] = made
        for node in ast.walk(tree):
            look = getattr(self, "on_" + type(node).__name__, None)
            if look:
                look(node)

    def on_Import(self, node):
        for alias in node.names:
            self._import(node, alias.name, alias.asname is None)

    def on_ImportFrom(self, node):
        if node.level:
            self.report.at(node, "import.relative", "a cell belongs to no package: nothing is relative to it")
            return
        if not self._import(node, node.module, False):
            return
        for alias in node.names:
            below = "%s.%s" % (node.module, alias.name)
            target = self.modules.handed_out(node.module, alias.name)
            if alias.name in DUNDERS:
                self._dunder(node, alias.name)
            elif target and self.modules.missing(below):
                self._pivot(node, node.module, alias.name, target)
            elif below in SHELLS | LOADERS | INDIRECT:
                self._called(node, below)

    def _import(self, node, name, binds_top):
        top = name.split(".")[0]
        missing = self.modules.missing(name)
        if not self.modules.offers(name) and not (binds_top and self.modules.may_pass(name)):
            self.report.at(node, "import.not_allowed", "the profile does not offer %s" % name)
            return False
        if missing and id(node) not in self.optional:
            hint = "generate the wrappers of that server" if top == "mcptools" else None
            more = {} if top == "mcptools" or missing != top else {"install": [top]}
            self.report.at(node, "import.not_found", "there is no module %s" % missing + (": " + hint if hint else ""), **more)
        return not missing

    def on_Attribute(self, node):
        attribute = node.attr
        if attribute in DUNDERS:
            if not (attribute == "__init_subclass__" and _is_super(node.value)):
                self._dunder(node, attribute)
        elif attribute in FRAMES:
            self.report.at(node, "attr.frame", "%s gives the frames of the program that runs this" % attribute)
        elif attribute == "obj" and isinstance(node.value, ast.Name) and node.value.id in self.caught:
            self.report.at(node, "attr.exc_obj", "an exception's obj is the object that was asked")
        else:
            self._module_attribute(node)

    def _module_attribute(self, node):
        owner = self.names.dotted(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not (isinstance(root, ast.Name) and root.id in self.names.origins):
            return
        whole = "%s.%s" % (owner, node.attr)
        target = self.modules.handed_out(owner, node.attr)
        if whole == "sys.modules":
            self.report.at(node, "module.pivot", "sys.modules hands out every module")
        elif target and self.modules.missing(whole):
            self._pivot(node, owner, node.attr, target)

    def _pivot(self, node, module, name, target):
        is_hidden = not self.modules.offers(target) if self.modules.lists else target.split(".")[0] in SYSTEM
        if is_hidden:
            self.report.at(node, "module.pivot", "%s.%s is the module %s" % (module, name, target))

    def _dunder(self, node, name):
        self.report.at(node, "attr.dunder", "%s leads from here to every object of the program" % name)

    def on_Name(self, node):
        name = node.id
        if name in GUARDS and not isinstance(node.ctx, ast.Load):
            self.report.at(node, "name.guard", "%s has a meaning of its own for programs that restrict code" % name)
        elif isinstance(node.ctx, ast.Load) and name not in self.names.bound:
            if name in BUILTINS or (self.restricted and name in NAMESPACES):
                self.report.at(node, "builtin.forbidden", "%s() runs text as code, or reaches what code can run" % name)
            elif name in ("__builtins__", "__loader__", "__spec__", "__build_class__"):
                self._dunder(node, name)
            elif name == "get_ipython":
                self.report.at(node, "ipython.shell", "get_ipython() can run a shell")

    def on_arg(self, node):
        if node.arg in GUARDS:
            self.report.at(node, "name.guard", "%s has a meaning of its own for programs that restrict code" % node.arg)

    def on_FunctionDef(self, node):
        if node.name in GUARDS:
            self.report.at(node, "name.guard", "%s has a meaning of its own for programs that restrict code" % node.name)

    on_AsyncFunctionDef = on_FunctionDef
    on_ClassDef = on_FunctionDef

    def on_MatchClass(self, node):
        for name in node.kwd_attrs:
            if name in LOOKED_UP or name in FRAMES:
                self._dunder(node, name)

    def on_Subscript(self, node):
        text = folded(node.slice)
        if text in LOOKED_UP - {"__init__"} | {"eval", "exec"} and self._is_namespace(node.value):
            self._dunder(node, text)

    def _is_namespace(self, node):
        return (isinstance(node, ast.Attribute) and node.attr == "__dict__") or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMESPACES)

    def on_Constant(self, node):
        if self.formats and isinstance(node.value, str):
            self._format(node, node.value)

    def on_BinOp(self, node):
        text = folded(node)
        if self.formats and text:
            self._format(node, text)

    def _format(self, node, text):
        if TRAVERSAL.search(text):
            self.report.at(node, "format.traversal", "format() looks up attributes that the text names")

    def on_Call(self, node):
        name = self.names.dotted(node.func)
        self._called(node, name)
        if name in LOOKUPS:
            for argument in node.args:
                text = folded(argument) or ""
                for part in text.split("."):
                    if part in LOOKED_UP or part in FRAMES:
                        self._dunder(node, part)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            made = self.classes.get(node.func.value.id)
            if made:
                self._called(node, "%s.%s" % (made, node.func.attr))
        if isinstance(node.func, ast.Name) and node.func.id == "open" and "open" not in self.names.bound:
            self.report.at(node, "io.open", "the code opens a file")

    def _called(self, node, name):
        if name in INDIRECT:
            self.report.at(node, "eval.indirect", "%s runs text as code, or brings in a module by its text" % name)
        elif name in LOADERS and not _safe_loader(node):
            self.report.at(node, "data.unsafe_load", "%s can run code that the data holds" % name)
        elif name in SHELLS or (name.startswith("subprocess.") and _has_shell(node)):
            self.report.at(node, "process.shell", "%s runs a shell" % name)
        elif name in READERS:
            self.report.at(node, "io.in_allowed_module", "%s opens a file by its path" % name)


def _is_super(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _has_shell(node):
    return isinstance(node, ast.Call) and any(
        word.arg == "shell" and not (isinstance(word.value, ast.Constant) and not word.value.value) for word in node.keywords)


def _safe_loader(node):
    if not isinstance(node, ast.Call):
        return False
    values = [word.value for word in node.keywords] + node.args[1:]
    return any(isinstance(each, (ast.Name, ast.Attribute)) and "Safe" in (getattr(each, "attr", "") or getattr(each, "id", ""))
               for each in values)
