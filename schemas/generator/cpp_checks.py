"""The limits of the schemas as C++ that checks them. A check takes a value and returns what was expected instead, in
words, or nullptr. A limit that becomes no check is an error, unless a table here says who checks it."""

import json

from generator.cpp_model import RENAMED, SPECIAL_TYPES, enumerator, snake_case
from generator.schema import CONDITIONS, LIMITS, UnknownConstruct, name_of

# Patterns to the function that has the same meaning (protocol/checks.hpp, base/host.hpp), and what it expects.
PATTERNS = {
    "^[A-Za-z][A-Za-z0-9+.-]*:": ("is_uri", "a URI such as file:///home/ada/plan.py"),
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$": (
        "is_time", "a time in UTC such as 2026-01-05T09:30:00Z"),
    "^[^\\u0000]*$": ("has_no_nul", "text without U+0000"),
    "^[^\\u0000-\\u001f\\u007f]*$": ("has_no_controls", "a name without control characters"),
    "^[A-Za-z_][A-Za-z0-9_]{0,127}$": ("is_variable_name", "a name of letters, digits and _, at most 128"),
    "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$": ("is_http_token", "a word of HTTP, such as GET"),
    "^[/*]": ("is_request_path", "a path that begins with /"),
    "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$": (
        "is_identifier", '1 to 64 letters, digits, "_", "-" and ".", of which the first is no "-" or "."'),
    "^[A-Za-z0-9][A-Za-z0-9._:/@-]*$": (
        "is_image_name", 'an image\'s name: letters, digits, ".", "_", "-", ":", "/" and "@", of which the first is a letter or a digit'),
}
# Definitions whose pattern says less than their description.
NAMED = {
    "HostPattern": ("is_host_pattern", "a host such as example.org, *.example.org or 192.0.2.1:8080"),
    "RequestId": ("is_request_id", "an integer or a string"),
    "JsonObject": ("is_object", "an object"),
    "JsonText": ("is_object", "an object, as text"),
}
# Definitions of which nothing is checked where they are read.
CHECKED_ELSEWHERE = {
    # A configuration comes from files too: tools/config.cpp says configInvalid, with the server's name.
    "McpServerConfig", "ServerSandboxChoice",
    # A rule comes from files too: gate/rules.cpp says ruleInvalid.
    "Rule", "RuleSpec", "RuleTests", "TestArguments", "Matcher", "ArgumentMatchers", "Injection",
}
# Limits between fields, and who checks them.
CONDITIONS_CHECKED_ELSEWHERE = {
    "Action",  # gate/payload.cpp: what each kind of action has
    "ApprovalRespondParams",  # gate/answers.cpp: an edit answers one approval, and who has no user denies
    "PackagesInstallParams",  # packages/requirements.cpp, whose grammar is pip's
    "PolicyAddParams",  # gate/policy_engine.cpp: what each scope needs
    "SecretDeleteParams", "SecretSetParams",  # service/handlers_secrets.cpp: what a secret of a session needs
}
FIELDS_CHECKED_ELSEWHERE = {
    ("InitializationOptions", "mcpServers"),  # with their configurations
    ("PackagesInstallParams", "packages"),  # with their grammar
    # tools/argument_check.cpp says argumentsInvalid, gate/answers.cpp editInvalid.
    ("ToolsCallParams", "arguments"), ("ChannelCallParams", "arguments"), ("ApprovalRespondParams", "argumentsText"),
}


def text(value):
    return json.dumps(value, ensure_ascii=False)


def any_of(values):
    return " or ".join(text(value) if isinstance(value, str) else str(value) for value in values)


def range_condition(node):
    """The C++ condition on a number, and its words."""
    low, above, high = node.get("minimum"), node.get("exclusiveMinimum"), node.get("maximum")
    parts = []
    if above is not None:
        parts.append(f"value > {above}")
        low = None
    if low is not None:
        parts.append(f"value >= {low}")
    if high is not None:
        parts.append(f"value <= {high}")
    if above is not None:
        words = f"more than {above}" + (f", and at most {high}" if high is not None else "")
    elif low is not None:
        words = f"{low} or more" if high is None else f"{low} to {high}"
    else:
        words = f"at most {high}"
    return " && ".join(parts), words


def number_conditions(node, kind):
    if node.keys() & {"minimum", "exclusiveMinimum", "maximum"}:
        condition, words = range_condition(node)
        if not (kind == "std::uint64_t" and condition == "value >= 0"):
            yield condition, words


def string_conditions(node):
    if node.get("minLength") == 1:
        yield "!value.empty()", "text that is not empty"
    elif "minLength" in node:
        raise UnknownConstruct(f"minLength {node['minLength']}: C++ has no check for it")
    if "maxLength" in node:
        yield f"has_at_most(value, {node['maxLength']})", f"at most {node['maxLength']} characters"
    if "pattern" in node:
        if node["pattern"] not in PATTERNS:
            raise UnknownConstruct(f"{node['pattern']}: PATTERNS in cpp_checks.py has no function for this pattern")
        function, words = PATTERNS[node["pattern"]]
        yield f"{function}(value)", words


def list_conditions(node):
    low, high = node.get("minItems"), node.get("maxItems")
    if low is not None:
        yield f"value.size() >= {low}", "at least one" if low == 1 else f"at least {low}"
    if high is not None:
        yield f"value.size() <= {high}", f"at most {high}"
    if node.get("uniqueItems"):
        yield "all_different(value)", "no value twice"


def choice_conditions(node, kind):
    values = node.get("enum", [node["const"]] if "const" in node else [])
    if not values:
        return
    if "$ref" in node or kind in (*SPECIAL_TYPES.values(), "std::string", "std::int64_t", "bool"):
        names = [text(each) if isinstance(each, (str, bool)) else str(each) for each in values]
        if "$ref" in node:
            enum = RENAMED.get(name_of(node["$ref"]), name_of(node["$ref"]))
            names = [f"{enum}::{enumerator(each)}" for each in values]
        yield " || ".join(f"value == {each}" for each in names), any_of(values)


class Checks:
    """The checks of a header's structs. `functions`: those of definitions that were asked for, by name."""

    def __init__(self, model):
        self.model = model
        self.functions = {}

    def of_field(self, struct, field):
        """The checks of a field, as the arguments with which it is read."""
        if struct.definition in CHECKED_ELSEWHERE or (struct.definition, field.name) in FIELDS_CHECKED_ELSEWHERE:
            return []
        return self.of(field.node, field.type)

    def of(self, node, kind):
        if "allOf" in node:
            raise UnknownConstruct("allOf: C++ has no check for a value that is read")
        found = []
        if "$ref" in node:
            found += self.of_definition(name_of(node["$ref"]), kind)
        conditions = list(self.conditions(node, kind))
        if conditions:
            found.append(function("[]", kind, conditions))
        if "items" in node and (each := self.of(node["items"], kind[len("std::vector<"):-1])):
            found.append(f"codec::each({', '.join(each)})")
        self.refuse_what_is_left(node, kind)
        return found

    def conditions(self, node, kind):
        if kind in ("std::int64_t", "std::uint64_t", "double"):
            yield from number_conditions(node, kind)
        elif kind == "std::string":
            yield from string_conditions(node)
        elif kind.startswith("std::vector<"):
            yield from list_conditions(node)
        yield from choice_conditions(node, kind)

    def refuse_what_is_left(self, node, kind):
        known = {"enum", "const"}
        if kind in ("std::int64_t", "std::uint64_t", "double"):
            known |= {"minimum", "maximum", "exclusiveMinimum"}
        elif kind == "std::string":
            known |= {"minLength", "maxLength", "pattern"}
        elif kind.startswith("std::vector<"):
            known |= {"minItems", "maxItems", "uniqueItems"}
        elif kind.startswith("std::map<") and isinstance(node.get("additionalProperties"), dict):
            if self.of(node["additionalProperties"], kind[len("std::map<std::string, "):-1]):
                raise UnknownConstruct("additionalProperties: C++ has no check of a map's values")
        if left := node.keys() & (LIMITS | CONDITIONS) - known:
            raise UnknownConstruct(f"{', '.join(sorted(left))}: C++ has no check for it in a {kind}")

    def of_definition(self, name, kind):
        """The check of a definition, as the name of a function; a struct checks itself."""
        if name in CHECKED_ELSEWHERE or name not in NAMED and kind in ("SandboxChoice", RENAMED.get(name, name)):
            return []
        node = self.model.definitions[name]
        if name in NAMED:
            conditions = [(f"{NAMED[name][0]}(value)", NAMED[name][1])]
            conditions[:0] = [each for each in self.conditions({k: v for k, v in node.items() if k != "pattern"}, kind)
                              if "maxLength" in node and each[1].startswith("at most")]
        else:
            checks = self.of(node, kind)
            if len(checks) != 1 or not checks[0].startswith("[]"):
                return checks  # none, or those of a list, which are short
            conditions = list(self.conditions(node, kind))
        called = "check_" + snake_case(name[0].lower() + name[1:])
        self.functions[called] = function(called, kind, conditions)
        return [called]

    def of_struct(self, struct):
        """The statements that check an object after its fields were read."""
        node, definition = struct.node, struct.definition
        if definition in CHECKED_ELSEWHERE:
            return ["field.require_all_known();"] if node.get("additionalProperties") is False else []
        found = []
        if node.get("additionalProperties") is False:
            found.append("field.require_all_known();")
        if "oneOf" in node:
            choices = ", ".join("{" + ", ".join(text(name) for name in each["required"]) + "}" for each in node["oneOf"])
            found.append(f"field.require_one_of({{{choices}}});")
        if node.get("minProperties") == 1:
            found.append("field.require_any();")
        left = node.keys() & (LIMITS | CONDITIONS | {"allOf", "anyOf"}) - {"minProperties"}
        if left and definition not in CONDITIONS_CHECKED_ELSEWHERE:
            raise UnknownConstruct(f"{definition}: C++ has no check for {', '.join(sorted(left))}")
        return found


def function(name, kind, conditions):
    """A function, or with the name [] a lambda, that returns what was expected of a value, or nullptr."""
    parameter = kind if kind in ("std::int64_t", "std::uint64_t", "double", "bool") or "::" not in kind else f"const {kind}&"
    if kind == "RawJson":
        parameter = "const RawJson&"
    *first, (condition, words) = conditions
    lines = [f"    if (!({each})) {{\n        return {text(said)};\n    }}\n" for each, said in first]
    lines.append(f"    return {condition} ? nullptr : {text(words)};\n")
    head = f"[]({parameter} value) -> const char*" if name == "[]" else f"const char* {name}({parameter} value)"
    return f"{head} {{\n{''.join(lines)}}}"
