#include "wrappers/signature.hpp"

#include "package_writer.hpp"
#include "python_text.hpp"
#include "schema.hpp"
#include "types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t max_bytes = 1000;

// The required fields come first.
std::string fields_in_a_line(const Class& type) {
    std::vector<std::string> shown;
    for (const bool required : {true, false}) {
        for (const Field& field : type.fields) {
            if (field.required == required) {
                shown.push_back(fmt::format("{}: {}{}", field.name, field.type.annotation, required ? "" : " = ..."));
            }
        }
    }
    return fmt::format("({})", fmt::join(shown, ", "));
}

} // namespace

std::string signature(const std::string& server, const protocol::ToolSpec& tool) {
    try {
        const SchemaDocument input(tool.input_schema);
        TypeBuilder types({});
        types.add_params(input);
        const std::size_t inputs = types.classes().size();
        std::string result = "Text";
        if (tool.output_schema) {
            const SchemaDocument output(*tool.output_schema);
            result = types.add_result(output).annotation;
            for (std::size_t i = inputs; i < types.classes().size(); ++i) {
                if (types.classes()[i].name == "Result") {
                    result += fields_in_a_line(types.classes()[i]);
                }
            }
        }
        std::string text =
            fmt::format("mcptools.{}.{}.run{} -> {}", identifier(lower(server), "server"),
                        identifier(lower(tool.name), "tool"), fields_in_a_line(types.classes()[inputs - 1]), result);
        for (std::size_t i = 0; i + 1 < inputs; ++i) {
            text += fmt::format("\n{}{}", types.classes()[i].name, fields_in_a_line(types.classes()[i]));
        }
        return text.size() <= max_bytes ? text : text.substr(0, text.find_last_of(" \n", max_bytes)) + " …";
    } catch (const Error&) {
        return {};
    }
}

} // namespace cellgate::wrappers
