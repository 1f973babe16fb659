#include "literal_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t max_literals = 200;
constexpr std::size_t max_literal_digits = 18;

bool is_integer_literal(std::string_view number) {
    const std::string_view digits = number.substr(number.front() == '-' ? 1 : 0);
    return number != "-0" && digits.size() <= max_literal_digits &&
           digits.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string python_type_of_value(const SchemaNode& value) {
    if (value.type == "string") {
        return "str";
    }
    if (value.type == "number") {
        return value.text.find_first_of(".eE") == std::string_view::npos ? "int" : "float";
    }
    if (value.type == "boolean") {
        return "bool";
    }
    if (value.type == "null") {
        return "None";
    }
    return value.type == "array" ? "List[Any]" : "Dict[str, Any]";
}

} // namespace

std::string literal_of(const SchemaNode& value) {
    if (value.type == "string") {
        return string_literal(decode_json_string(value.text));
    }
    if (value.type == "boolean") {
        return value.is_true() ? "True" : "False";
    }
    return value.type == "number" && is_integer_literal(value.text) ? std::string(value.text) : "";
}

std::string union_annotation(const std::vector<std::string>& members) {
    if (members.size() == 1) {
        return members.front();
    }
    return fmt::format("Union[{}]", fmt::join(members, ", "));
}

PythonType one_of_values(const std::vector<const SchemaNode*>& values) {
    std::vector<std::string> literals;
    std::vector<std::string> types;
    bool all_literal = values.size() <= max_literals;
    bool with_none = false;
    for (const SchemaNode* value : values) {
        append_once(types, python_type_of_value(*value));
        if (value->type == "null") {
            with_none = true;
        } else if (const std::string literal = literal_of(*value); literal.empty()) {
            all_literal = false;
        } else {
            append_once(literals, literal);
        }
    }
    if (types.empty()) {
        return {};
    }
    if (all_literal && !literals.empty()) {
        types = {fmt::format("Literal[{}]", fmt::join(literals, ", "))};
        if (with_none) {
            types.push_back("None");
        }
    }
    return {union_annotation(types), "", "", with_none};
}

} // namespace cellgate::wrappers
