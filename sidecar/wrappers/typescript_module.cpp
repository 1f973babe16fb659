#include "typescript_module.hpp"

#include "package_writer.hpp"
#include "typescript_text.hpp"
#include "typescript_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cellgate::wrappers {

namespace {

std::string interface_text(const Interface& type) {
    std::string out = doc_comment(type.description, 0) + fmt::format("export interface {} {{\n", type.name);
    for (const Property& property : type.properties) {
        out += doc_comment(described(property.parts, {}), 2);
        out += fmt::format("  {}{}: {};\n", property_name(property.wire), property.required ? "" : "?", property.type);
        require_fits(out);
    }
    out += type.open ? "  [name: string]: unknown;\n" : "";
    return out + "}\n\n";
}

std::string function_doc(const protocol::ToolSpec& tool) {
    const bool titled = tool.title && *tool.title != tool.name;
    return (titled ? *tool.title + "\n\n" : "") + tool.description.value_or("");
}

} // namespace

std::string typescript_module(const std::string& server, const protocol::ToolSpec& tool, const std::string& function) {
    TypeScriptTypes types;
    const SchemaDocument input(tool.input_schema);
    types.add_params(input);
    const bool all_optional =
        std::none_of(types.interfaces().back().properties.begin(), types.interfaces().back().properties.end(),
                     [](const Property& each) { return each.required; });
    std::optional<SchemaDocument> output;
    std::string alias;
    if (tool.output_schema) {
        output.emplace(*tool.output_schema);
        const std::string result = types.add_result(*output);
        alias = result == "Result" ? "" : fmt::format("export type Result = {};\n\n", result);
    }
    std::string text(typescript_header);
    text += doc_comment(fmt::format("The tool `{}` of the server `{}`.", tool.name, server), 0);
    text += "import * as $ from \"../_runtime.ts\";\n\n";
    for (const Interface& each : types.interfaces()) {
        text += interface_text(each);
        require_fits(text);
    }
    text += alias + doc_comment(function_doc(tool), 0);
    text += fmt::format("export function {}(params: Params{}, options: $.CallOptions = {{}}): Promise<{}> {{\n",
                        function, all_optional ? " = {}" : "", output ? "Result" : "$.Answer");
    text += fmt::format("  return $.{}({}, {}, params, options);\n}}\n", output ? "callStructured<Result>" : "call",
                        typescript_literal(server), typescript_literal(tool.name));
    require_fits(text);
    return text;
}

} // namespace cellgate::wrappers
