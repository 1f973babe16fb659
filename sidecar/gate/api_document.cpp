#include "gate/api_document.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "base/json_value.hpp"
#include "path_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

namespace cellgate::gate {

namespace {

using Type = JsonValue::Type;

constexpr std::size_t max_operations = 20'000;
constexpr std::size_t max_references = 16; // one behind the other

// Calls `text` with what is between the parameters of a path, and `name` with the name of each.
void read_template(std::string_view path, const std::function<void(std::string_view)>& text,
                   const std::function<void(std::string_view)>& name) {
    while (!path.empty()) {
        const std::size_t begin = path.find('{');
        const std::size_t end = begin == std::string_view::npos ? begin : path.find('}', begin);
        if (end == std::string_view::npos) {
            text(path);
            return;
        }
        text(path.substr(0, begin));
        name(path.substr(begin + 1, end - begin - 1));
        path.remove_prefix(end + 1);
    }
}

std::string text_of(const JsonValue* object, std::string_view name) {
    const JsonValue* member = object->find(name);
    return member != nullptr && member->type == Type::string ? member->string : std::string();
}

// Follows "$ref": "#/components/…". nullptr for one that does not resolve.
const JsonValue* resolved(const JsonValue& root, const JsonValue* value) {
    for (std::size_t count = 0; value != nullptr; ++count) {
        const JsonValue* reference = value->find("$ref");
        if (reference == nullptr) {
            return value;
        }
        std::string_view rest = reference->string;
        if (count == max_references || !rest.starts_with("#/")) {
            return nullptr;
        }
        rest.remove_prefix(2);
        value = &root;
        while (value != nullptr && !rest.empty()) {
            const std::string_view part = rest.substr(0, rest.find('/'));
            rest.remove_prefix(std::min(part.size() + 1, rest.size()));
            value = value->find(part);
        }
    }
    return nullptr;
}

// Of the first server: "/api/v3" of "https://example.org/api/v3/".
std::string base_path(const JsonValue& root) {
    const JsonValue* servers = root.find("servers");
    if (servers == nullptr || servers->elements.empty()) {
        return {};
    }
    std::string url = text_of(&servers->elements.front(), "url");
    if (const std::size_t scheme = url.find("://"); scheme != std::string::npos) {
        const std::size_t path = url.find('/', scheme + 3);
        url = path == std::string::npos ? std::string() : url.substr(path);
    }
    while (url.ends_with('/')) {
        url.pop_back();
    }
    return url.starts_with('/') ? url : std::string();
}

std::string body_schema(const JsonValue& root, const JsonValue& operation) {
    const JsonValue* value = resolved(root, operation.find("requestBody"));
    for (const char* name : {"content", "application/json", "schema"}) {
        value = value == nullptr ? nullptr : value->find(name);
    }
    value = resolved(root, value);
    return value == nullptr ? std::string() : std::string(value->text);
}

bool is_usable(std::string_view path) {
    return path.starts_with('/') && path.find_first_of("*?#") == std::string_view::npos;
}

std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> segments;
    while (!path.empty()) {
        path.remove_prefix(1);
        segments.push_back(path.substr(0, path.find('/')));
        path.remove_prefix(segments.back().size());
    }
    return segments;
}

// The values of the parameters, if the path is one of the template.
std::optional<std::vector<std::pair<std::string, std::string>>> match_template(std::string_view pattern,
                                                                               std::string_view path) {
    const std::vector<std::string_view> wanted = segments_of(pattern);
    const std::vector<std::string_view> found = segments_of(path);
    if (wanted.size() != found.size()) {
        return std::nullopt;
    }
    std::vector<std::pair<std::string, std::string>> values;
    for (std::size_t at = 0; at < wanted.size(); ++at) {
        const std::string_view segment = wanted[at];
        const bool is_parameter = segment.starts_with('{') && segment.find('}') == segment.size() - 1;
        if (segment.empty() != found[at].empty()) {
            return std::nullopt;
        }
        if (is_parameter) {
            values.emplace_back(segment.substr(1, segment.size() - 2), found[at]);
        } else if (glob_match(found[at], path_pattern(segment)) != Match::yes) {
            return std::nullopt;
        }
    }
    return values;
}

} // namespace

std::string path_pattern(std::string_view path) {
    std::string pattern;
    read_template(
        path, [&pattern](std::string_view text) { pattern += text; }, [&pattern](std::string_view) { pattern += '*'; });
    return pattern;
}

std::vector<std::string> path_parameters(std::string_view path) {
    std::vector<std::string> names;
    read_template(path, [](std::string_view) {}, [&names](std::string_view name) { names.emplace_back(name); });
    return names;
}

ApiDocument ApiDocument::parse(std::string_view text) {
    constexpr std::array<std::string_view, 8> methods = {"get",     "put",  "post",  "delete",
                                                         "options", "head", "patch", "trace"};
    const auto refused = [](const std::string& message) {
        return Error(ErrorCode::rule_invalid, message, "Name an OpenAPI 3 document; one in YAML as JSON.");
    };
    if (const std::optional<JsonProblem> problem = check_json(text)) {
        throw refused(fmt::format("expected JSON, found {}", problem->what));
    }
    const JsonValue root = parse_json_value(text);
    const JsonValue* paths = root.find("paths");
    if (!text_of(&root, "openapi").starts_with("3.") || paths == nullptr) {
        throw refused(R"(expected "openapi": "3…" and "paths", found none)");
    }
    const std::string base = base_path(root);
    ApiDocument document;
    for (const JsonValue::Member& path : paths->members) {
        for (const JsonValue::Member& each : path.value.members) {
            const bool is_method = std::find(methods.begin(), methods.end(), each.name) != methods.end();
            ApiOperation operation;
            operation.path = base + path.name;
            if (!is_method || !is_usable(operation.path)) {
                continue;
            }
            if (document.operations_.size() == max_operations) {
                throw refused(fmt::format("expected at most {} operations, found more", max_operations));
            }
            operation.method = each.name;
            std::transform(operation.method.begin(), operation.method.end(), operation.method.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
            operation.id = text_of(&each.value, "operationId");
            if (operation.id.empty()) {
                operation.id = operation.method + " " + operation.path;
            }
            operation.summary = text_of(&each.value, "summary");
            operation.body_schema = body_schema(root, each.value);
            document.operations_.push_back(std::move(operation));
        }
    }
    return document;
}

const ApiOperation* ApiDocument::find(std::string_view id) const {
    const auto found =
        std::find_if(operations_.begin(), operations_.end(), [id](const ApiOperation& each) { return each.id == id; });
    return found == operations_.end() ? nullptr : &*found;
}

std::optional<ApiDocument::Match> ApiDocument::find(std::string_view method, std::string_view path) const {
    std::optional<Match> best;
    std::size_t best_said = 0; // of the path, in bytes
    for (const ApiOperation& operation : operations_) {
        if (operation.method != method) {
            continue;
        }
        std::optional<std::vector<std::pair<std::string, std::string>>> values = match_template(operation.path, path);
        const std::size_t said = path_pattern(operation.path).size() - path_parameters(operation.path).size();
        if (values && (!best || said > best_said)) {
            best = Match{&operation, std::move(*values)};
            best_said = said;
        }
    }
    return best;
}

} // namespace cellgate::gate
