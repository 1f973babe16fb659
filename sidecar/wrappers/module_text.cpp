#include "module_text.hpp"

#include "package_writer.hpp"
#include "python_text.hpp"
#include "schema.hpp"
#include "types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

namespace {

constexpr std::array<std::string_view, 9> typing_names{"Any",     "Coroutine", "Dict",     "List", "Literal",
                                                       "Mapping", "Optional",  "Sequence", "Tuple"};
constexpr std::array<std::string_view, 4> runtime_names{"UNSET", "Contents", "Text", "Unset"};
constexpr std::array<std::string_view, 12> private_names{"Answer",  "ContentAnswer", "Struct",   "Tool",
                                                         "dict_of", "first_of",      "list_of",  "read_content",
                                                         "struct",  "structured",    "tuple_of", "variant"};
std::string union_with(const std::string& annotation, std::string_view more) {
    if (annotation.starts_with("Union[")) {
        return fmt::format("{}, {}]", annotation.substr(0, annotation.size() - 1), more);
    }
    return fmt::format("Union[{}, {}]", annotation, more);
}

std::string field_annotation(const Field& field) {
    const std::string& annotation = field.type.annotation;
    return field.required || annotation == "Any" ? annotation : union_with(annotation, "Unset");
}

// Callers may pass None for an absent value where the tool takes no null.
bool takes_none_as_absent(const Field& field) {
    return !field.required && field.type.annotation != "Any" && !field.type.takes_null;
}

std::string parameter_annotation(const Field& field) {
    return takes_none_as_absent(field) ? union_with(field.type.annotation, "None, Unset") : field_annotation(field);
}

std::string describe(const Field& field) {
    std::vector<std::string> notes;
    if (field.wire != field.name) {
        notes.push_back(fmt::format("called {} by the tool", string_literal(field.wire)));
    }
    const std::string text = described(field.parts, std::move(notes));
    std::string out =
        fmt::format("    {}{}{}", field.name, field.required ? " (required)" : "", text.empty() ? "" : ": ");
    for (const char c : text) {
        out += c;
        if (c == '\n') {
            out += "        ";
        }
    }
    return out + '\n';
}

std::string describe_fields(const Class& type, std::string_view heading) {
    std::string out;
    for (const Field& field : type.fields) {
        out += describe(field);
        require_fits(out);
    }
    return out.empty() ? out : fmt::format("\n\n{}:\n{}", heading, out);
}

// A docstring on its own line or lines.
std::string docstring_lines(const std::string& text, int indent) {
    const std::string inside = docstring(text, indent);
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    const bool several = inside.find('\n') != std::string::npos;
    return fmt::format("{}\"\"\"{}{}\"\"\"\n", margin, inside, several ? "\n" + margin : "");
}

// A Result has the blocks beside its structure as `content`, unless the structure has a property of that name.
std::string_view base_of(const Class& type) {
    if (type.name != "Result") {
        return "_Struct";
    }
    const bool taken =
        std::any_of(type.fields.begin(), type.fields.end(), [](const Field& field) { return field.name == "content"; });
    return taken ? "_ContentAnswer" : "_Answer";
}

class ModuleWriter {
  public:
    ModuleWriter(const std::string& server, const protocol::ToolSpec& tool) : server_(server), tool_(tool) {}

    std::string write();

  private:
    std::string class_text(const Class& type) const;
    // The parameters of __init__ and run: "a: T,\n b: U = UNSET,\n …", each line indented.
    std::string parameters(const Class& type, int indent) const;
    std::string function(const Class& params, bool async) const;
    std::string imports(const std::string& body) const;

    const std::string& server_;
    const protocol::ToolSpec& tool_;
    std::string returned_ = "Union[Text, Contents]";
};

std::string ModuleWriter::write() {
    const SchemaDocument input(tool_.input_schema);
    std::optional<SchemaDocument> output;
    std::set<std::string> properties;
    collect_property_names(input.root(), properties);
    if (tool_.output_schema) {
        output.emplace(*tool_.output_schema);
        collect_property_names(output->root(), properties);
    }
    std::set<std::string> taken = properties;
    for (const std::string& property : properties) {
        taken.insert(identifier(property, "field"));
    }
    TypeBuilder types(std::move(taken));
    types.add_params(input);
    const std::size_t last_of_input = types.classes().size();
    std::string alias;
    std::string read = "_read_content";
    if (output) {
        const PythonType result = types.add_result(*output);
        if (result.annotation != "Result") {
            alias = fmt::format("Result = {}\n\n\n", result.annotation);
        }
        returned_ = "Result";
        read = fmt::format("_structured({})", result.reader);
    }

    std::string body;
    std::string readers;
    bool has_constants = false; // fields that look like constants, which Pyright would not have set: API_KEY
    for (const Class& type : types.classes()) {
        body += class_text(type);
        require_fits(body);
        std::vector<std::string> entries;
        for (const Field& field : type.fields) {
            has_constants = has_constants || std::none_of(field.name.begin(), field.name.end(),
                                                          [](char c) { return c >= 'a' && c <= 'z'; });
            if (!field.type.reader.empty()) {
                entries.push_back(fmt::format("    {}: {},\n", string_literal(field.name), field.type.reader));
            }
        }
        if (type.extra && !type.extra->reader.empty()) {
            entries.push_back(fmt::format("    \"extra\": {},\n", type.extra->reader));
        }
        if (!entries.empty()) {
            readers += fmt::format("{}.__readers__ = {{\n{}}}\n", type.name, fmt::join(entries, ""));
        }
    }
    const Class& params = types.classes()[last_of_input - 1];
    body += alias + function(params, false) + function(params, true);
    body += readers + (readers.empty() ? "" : "\n");
    body += fmt::format("_tool = _Tool({}, {}, Params, {})\n_tool.describe(run)\n_tool.describe(run_async)\n",
                        string_literal(server_), string_literal(tool_.name), read);
    return python_header + docstring_lines(fmt::format("The tool `{}` of the server `{}`.", tool_.name, server_), 0) +
           (has_constants ? "\n# pyright: reportConstantRedefinition=false\n" : "") +
           "\nfrom __future__ import annotations\n\n" + imports(body) + "\n\n" + body;
}

std::string ModuleWriter::class_text(const Class& type) const {
    std::string slots;
    std::string wire;
    std::string annotations;
    std::string assignments;
    for (const Field& field : type.fields) {
        slots += fmt::format("{}, ", string_literal(field.name));
        if (field.wire != field.name) {
            wire += fmt::format("{}{}: {}", wire.empty() ? "" : ", ", string_literal(field.name),
                                string_literal(field.wire));
        }
        annotations += fmt::format("    {}: {}\n", field.name, field_annotation(field));
        assignments +=
            fmt::format("        self.{0}: {1} = {2}{0}\n", field.name, field_annotation(field),
                        takes_none_as_absent(field) ? fmt::format("UNSET if {0} is None else ", field.name) : "");
        require_fits(assignments);
    }
    std::string extra = "extra";
    if (type.extra && type.extra->annotation != "Any") {
        extra += fmt::format(": Dict[str, {}]", type.extra->annotation);
        annotations += fmt::format("    {}\n", extra);
    }
    if (!slots.empty()) {
        slots.erase(slots.size() - (type.fields.size() == 1 ? 1 : 2)); // a tuple of one keeps its comma
    }
    const std::string text = type.name == "Params" ? "The arguments of `run`, which describes them."
                             : type.fields.empty() ? type.description
                                                   : type.description + describe_fields(type, "Fields");
    std::string out = fmt::format("class {}({}):\n{}\n    __slots__ = ({})\n", type.name, base_of(type),
                                  docstring_lines(text.empty() ? type.name : text, 4), slots);
    if (!wire.empty()) {
        out += fmt::format("    __wire__ = {{{}}}\n", wire);
    }
    if (type.is_input) {
        out += fmt::format("\n    def __init__(\n        self,{}\n    ):\n{}        self.{} = {}\n",
                           parameters(type, 8), assignments, extra, type.extra ? "{**(extra or {})}" : "{}");
    } else if (!annotations.empty()) {
        out += "\n" + annotations;
    }
    return out + "\n\n";
}

std::string ModuleWriter::parameters(const Class& type, int indent) const {
    const std::string margin = "\n" + std::string(static_cast<std::size_t>(indent), ' ');
    std::string out;
    for (const Field& field : type.fields) {
        out += fmt::format("{}{}: {}{},", margin, field.name, parameter_annotation(field),
                           field.required ? "" : " = UNSET");
    }
    if (type.extra) {
        out += fmt::format("{}extra: Optional[Mapping[str, {}]] = None,", margin, type.extra->annotation);
    }
    return out.empty() ? out : margin + "*," + out;
}

std::string ModuleWriter::function(const Class& params, bool async) const {
    const std::string name = async ? "run_async" : "run";
    const std::string returned = async ? fmt::format("Coroutine[Any, Any, {}]", returned_) : returned_;
    const std::string named = parameters(params, 4);
    std::string text = "`run` for `await`. Any number of calls may be under way at once.";
    if (!async) {
        const bool titled = tool_.title && tool_.title != tool_.name;
        const std::string arguments = describe_fields(params, "Arguments");
        text = (titled ? *tool_.title + "\n\n" : "") + tool_.description.value_or("") +
               (arguments.empty() ? "\n" : arguments) + "\nReturns: " +
               (tool_.output_schema
                    ? "a `Result`."
                    : "text, or a list of content blocks when there is more than text; `.text` is the text of both.");
    }
    return fmt::format("@overload\ndef {0}(params: Union[Params, Mapping[str, Any]], /) -> {1}: ...\n\n\n"
                       "@overload\ndef {0}({2}) -> {1}: ...\n\n\n"
                       "def {0}(*args: Any, **kwargs: Any) -> Any:\n{3}    return _tool.{4}(args, kwargs)\n\n\n",
                       name, returned, named.empty() ? "" : named + "\n", docstring_lines(text, 4),
                       async ? "call_async" : "call");
}

std::string ModuleWriter::imports(const std::string& body) const {
    const std::set<std::string> used = identifiers_in(body);
    std::vector<std::string> typing;
    for (const std::string_view name : typing_names) {
        if (used.contains(std::string(name))) {
            typing.emplace_back(name);
        }
    }
    typing.insert(typing.end(), {"Union", "overload"});
    std::vector<std::string> runtime;
    for (const std::string_view name : runtime_names) {
        if (used.contains(std::string(name))) {
            runtime.emplace_back(name);
        }
    }
    for (const std::string_view name : private_names) {
        if (used.contains("_" + std::string(name))) {
            runtime.push_back(fmt::format("{0} as _{0}", name));
        }
    }
    return fmt::format("from typing import {}\n\nfrom .._runtime import (\n    {},\n)\n", fmt::join(typing, ", "),
                       fmt::join(runtime, ",\n    "));
}

} // namespace

std::string module_text(const std::string& server, const protocol::ToolSpec& tool) {
    return ModuleWriter(server, tool).write();
}

} // namespace cellgate::wrappers
