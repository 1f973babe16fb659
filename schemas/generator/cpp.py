"""The protocol's messages as structs of C++, with the code that reads, checks and writes them; and the error codes."""

import re
import textwrap

from generator.cpp_checks import Checks
from generator.cpp_model import HEADERS, SPECIAL_HEADERS, Enum, Model, enumerator, snake_case
from generator.schema import UnknownConstruct, name_of

NOTICE = "// Made from schemas/ by schemas/generate.py; a change belongs there.\n"


def comment(words, indent=""):
    lines = textwrap.wrap(words, 117 - len(indent), break_on_hyphens=False, break_long_words=False)
    return "".join(f"{indent}// {line}\n" for line in lines)


def member_type(field):
    if field.nullable and field.required:
        return f"Nullable<{field.type}>"
    return field.type if field.required else f"std::optional<{field.type}>"


def enum_text(enum):
    names = ", ".join(enumerator(value) for value in enum.values)
    pairs = ", ".join(f'{{{enum.name}::{enumerator(value)}, "{value}"}}' for value in enum.values)
    return (f"{comment(enum.node['description'])}enum class {enum.name} {{ {names} }};\n"
            f"inline constexpr EnumNames<{enum.name}, {len(enum.values)}> enum_names({enum.name}) {{\n"
            f"    return {{{{{pairs}}}}};\n}}\n")


def struct_text(struct, model):
    lines = []
    for field in struct.fields:
        if words := field.node.get("description"):
            lines.append(comment(words, "    "))
        initial = model.initial(field)
        lines.append(f"    {member_type(field)} {field.member}{f' = {initial}' if initial else ''};\n")
    return (f"{comment(struct.node['description'])}struct {struct.name} {{\n{''.join(lines)}}};\n"
            f"void read(std::string_view text, const std::string& path, {struct.name}& out);\n"
            f"void write(std::string& out, const {struct.name}& value);\n")


def method_text(model, name, method, entry):
    types = [model.type_of_definition(name_of(entry[key])) for key in ("params", "result") if key in entry]
    kind = "Request" if "result" in entry else "Notification"
    return (f"{comment(entry['summary'])}struct {name} : {kind}<{', '.join(types)}> {{\n"
            f'    static constexpr std::string_view name = "{method}";\n}};\n')


def includes(model, header):
    """The headers of the types that this one uses."""
    texts = [field.type for each in model.headers[header] if not isinstance(each, Enum) for field in each.fields]
    texts += [model.type_of_definition(name_of(entry[key]))
              for _, _, entry in model.methods[header] for key in ("params", "result") if key in entry]
    used = set(re.findall(r"\w+", " ".join(texts)))
    found = {SPECIAL_HEADERS[name] for name in used & SPECIAL_HEADERS.keys()}
    for other, types in model.headers.items():
        if other != header and used & {each.name for each in types}:
            found.add(f"protocol/messages/{other}.hpp")
    return sorted(found)


def header_text(model, header):
    own = "".join(f'#include "{each}"\n' for each in includes(model, header))
    types = [enum_text(each) if isinstance(each, Enum) else struct_text(each, model) for each in model.headers[header]]
    methods = [method_text(model, *each) for each in model.methods[header]]
    return (f'#pragma once\n{NOTICE}\n#include "base/json_codec.hpp"\n#include "protocol/method.hpp"\n{own}\n'
            "#include <cstdint>\n#include <map>\n#include <optional>\n#include <string>\n#include <string_view>\n"
            "#include <vector>\n\nnamespace cellgate::protocol {\n\n"
            + "\n".join(types + methods) + "\n} // namespace cellgate::protocol\n")


def reader(struct, checks):
    """`checks` is None where what is read comes from cellgate itself."""
    lines, after = [], []
    for field in struct.fields:
        arguments = checks.of_field(struct, field) if checks else []
        given = "".join(f", {each}" for each in arguments)
        lines.append(f'field("{field.name}", out.{field.member}{given});')
    if checks:
        after = checks.of_struct(struct)
    body = textwrap.indent("\n".join(lines + after), "    ")
    return (f"void read(std::string_view text, const std::string& path, {struct.name}& out) {{\n"
            f"    codec::FieldReader field(text, path);\n{body}\n}}\n")


def writer(struct):
    lines = "".join(f'    field("{field.name}", value.{field.member});\n' for field in struct.fields)
    return (f"void write(std::string& out, const {struct.name}& value) {{\n    out += '{{';\n"
            f"    codec::FieldWriter field{{out}};\n{lines}    out += '}}';\n}}\n")


def source_text(model, header, read):
    checks = Checks(model)
    parts = []
    for struct in model.headers[header]:
        if not isinstance(struct, Enum):
            try:
                parts += [reader(struct, checks if struct.definition in read else None), writer(struct)]
            except UnknownConstruct as problem:
                raise UnknownConstruct(f"{struct.definition}: {problem}") from problem
    functions = "".join(f"{each}\n" for each in checks.functions.values())
    hidden = f"namespace {{\n\n{functions}\n}} // namespace\n\n" if functions else ""
    return (f'{NOTICE}\n#include "protocol/messages/{header}.hpp"\n\n#include "checks.hpp"\n\n'
            f"namespace cellgate::protocol {{\n\n{hidden}" + "\n".join(parts) + "\n} // namespace cellgate::protocol\n")


def all_text(model):
    """A header with lists of all methods."""
    methods = [each for header in HEADERS for each in model.methods[header]]
    lists = ""
    for name, table in (("Methods", model.contract.methods), ("ChannelMethods", model.contract.channel)):
        types = ", ".join(struct for struct, method, entry in methods if table.get(method) is entry)
        lists += f"using {name} = std::tuple<{types}>;\n"
    own = "".join(f'#include "protocol/messages/{header}.hpp"\n' for header in HEADERS)
    return (f"#pragma once\n{NOTICE}\n{own}\n#include <tuple>\n\nnamespace cellgate::protocol {{\n\n{lists}\n"
            "} // namespace cellgate::protocol\n")


def message_files(contract):
    """File names in protocol's folder of the build to their texts."""
    model = Model(contract)
    read = model.read_definitions()
    files = {"include/protocol/messages/all.hpp": all_text(model)}
    for header in HEADERS:
        files[f"include/protocol/messages/{header}.hpp"] = header_text(model, header)
        files[f"messages/{header}.cpp"] = source_text(model, header, read)
    return files


def error_files(contract):
    """The same for base."""
    codes = "".join(f"    {snake_case(kind)} = {code},\n" for code, kind in contract.errors.items())
    kinds = "".join(f'    case ErrorCode::{snake_case(kind)}:\n        return "{kind}";\n'
                    for kind in contract.errors.values())
    return {
        "include/base/error_code.hpp":
            f"#pragma once\n{NOTICE}\n#include <string_view>\n\nnamespace cellgate {{\n\n"
            f"enum class ErrorCode {{\n{codes}}};\n\n"
            "// The stable camelCase name of a code (\"sessionNotFound\"), used in `data.kind` of a JSON-RPC error.\n"
            "std::string_view kind_of(ErrorCode code);\n\n} // namespace cellgate\n",
        "error_code.cpp":
            f'{NOTICE}\n#include "base/error_code.hpp"\n\nnamespace cellgate {{\n\n'
            f"std::string_view kind_of(ErrorCode code) {{\n    switch (code) {{\n{kinds}    }}\n"
            '    return "internalError"; // a code of another program\n}\n\n} // namespace cellgate\n',
    }
