#include "variables.hpp"

#include "base/names.hpp"

#include <algorithm>
#include <optional>

namespace cellgate::tools {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name(std::string_view text) {
    return !text.empty() && is_letter(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::optional<Variable> parse_variable(std::string_view source) {
    const std::string_view inside = source.substr(2, source.size() - 3);
    Variable variable;
    variable.source = source;
    variable.name = inside;
    if (inside == "workspaceFolder") {
        variable.kind = Variable::Kind::workspace_folder;
        return variable;
    }
    if (is_name(inside)) {
        variable.kind = Variable::Kind::environment;
        return variable;
    }
    const std::size_t colon = inside.find(':');
    if (colon == std::string_view::npos || !is_name(inside.substr(0, colon))) {
        return std::nullopt;
    }
    const std::string_view rest = inside.substr(colon + 1);
    if (rest.starts_with('-')) {
        variable.kind = Variable::Kind::environment;
        variable.name = inside.substr(0, colon);
        variable.has_default = true;
        variable.default_value = rest.substr(1);
    } else if (inside.substr(0, colon) == "env" && is_name(rest)) {
        variable.kind = Variable::Kind::environment;
        variable.name = rest;
    } else if (inside.substr(0, colon) == "input" && !rest.empty()) {
        variable.kind = Variable::Kind::input;
        variable.name = rest;
    } else if (inside.substr(0, colon) == "secret" && is_variable_name(rest)) {
        variable.kind = Variable::Kind::secret;
        variable.name = rest;
    }
    return variable;
}

} // namespace

std::string replace_variables(std::string_view text, const std::function<std::string(const Variable&)>& value) {
    std::string out;
    while (true) {
        const std::size_t start = text.find("${");
        const std::size_t end = start == std::string_view::npos ? start : text.find('}', start);
        if (end == std::string_view::npos) {
            return out.append(text);
        }
        const std::string_view source = text.substr(start, end + 1 - start);
        const std::optional<Variable> variable = parse_variable(source);
        out.append(text.substr(0, start)).append(variable ? value(*variable) : std::string(source));
        text.remove_prefix(end + 1);
    }
}

std::string with_workspace(std::string_view text, const std::string& workspace) {
    return replace_variables(text, [&](const Variable& variable) {
        return variable.kind == Variable::Kind::workspace_folder ? workspace : std::string(variable.source);
    });
}

bool has_variables(std::string_view text) {
    bool found = false;
    replace_variables(text, [&](const Variable&) {
        found = true;
        return std::string();
    });
    return found;
}

} // namespace cellgate::tools
