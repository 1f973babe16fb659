#include "parameter_headers.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "base/text.hpp"
#include "failed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace cellgate::mcp {

namespace {

constexpr std::string_view annotation = "x-mcp-header";

bool is_token(std::string_view text) {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [others](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) || others.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

class Reader {
  public:
    std::vector<ParameterHeader> read(std::string_view schema) {
        take_properties(schema);
        return std::move(found_);
    }

  private:
    void take_properties(std::string_view schema) {
        const std::string_view properties = json_member(schema, "properties");
        if (properties.empty() || json_type(properties) != "object") {
            return;
        }
        for (const auto& [key, value] : json_members(properties)) {
            path_.push_back(key);
            if (const std::string_view name = json_member(value, annotation); !name.empty()) {
                take(name, json_member(value, "type"));
            }
            take_properties(value);
            path_.pop_back();
        }
    }

    void take(std::string_view name, std::string_view type) {
        const std::string text = json_type(name) == "string" ? decode_json_string(name) : std::string();
        if (!is_token(text)) {
            throw broken(
                fmt::format("expected the name of an HTTP field, found {}", escape_unprintable(name.substr(0, 100))));
        }
        if (type != R"("string")" && type != R"("integer")" && type != R"("boolean")") {
            throw broken(fmt::format("expected a parameter of the type string, integer or boolean, found {}",
                                     type.empty() ? "none" : escape_unprintable(type.substr(0, 100))));
        }
        if (!names_.insert(lower(text)).second) {
            throw broken(fmt::format("two parameters have the name {}", text));
        }
        found_.push_back({path_, text});
    }

    Error broken(const std::string& what) const {
        return failed(fmt::format("{} of the parameter {}: {}", annotation, escape_unprintable(path_.back()), what));
    }

    std::vector<std::string> path_;
    std::vector<ParameterHeader> found_;
    std::set<std::string> names_; // in lower case
};

} // namespace

std::vector<ParameterHeader> parameter_headers(std::string_view input_schema) {
    // Few tools have any, and some schemas are long.
    if (input_schema.find(annotation) == std::string_view::npos) {
        return {};
    }
    return Reader().read(input_schema);
}

std::optional<std::string> parameter_text(std::string_view arguments, const ParameterHeader& header) {
    std::string_view value = arguments;
    for (const std::string& name : header.path) {
        value = json_member(value, name);
        if (value.empty()) {
            return std::nullopt;
        }
    }
    const std::string_view type = json_type(value);
    if (type == "string") {
        return decode_json_string(value);
    }
    return type == "number" || type == "boolean" ? std::optional(std::string(value)) : std::nullopt;
}

} // namespace cellgate::mcp
