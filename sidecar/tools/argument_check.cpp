#include "tools/argument_check.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_value.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cellgate::tools {

namespace {

using Type = JsonValue::Type;
using Problem = std::optional<std::string>;

constexpr int max_steps = 100'000;
// Of what is taken apart; a tree takes a hundred bytes for each.
constexpr std::ptrdiff_t max_commas = 200'000;
constexpr std::size_t max_compared_bytes = 4096; // of objects and arrays in a schema
constexpr std::size_t max_problem_bytes = 1000;
constexpr int deepest = 400; // of schemas applied within each other; the arguments alone may take 256
constexpr std::size_t max_reported_forms = 4;
constexpr std::size_t max_excerpt_bytes = 60;

std::string_view article(Type type) {
    switch (type) {
    case Type::null:
        return "null";
    case Type::boolean:
        return "a boolean";
    case Type::number:
        return "a number";
    case Type::string:
        return "a string";
    case Type::array:
        return "an array";
    case Type::object:
        return "an object";
    }
    return "";
}

std::string excerpt(std::string_view text) {
    std::string shown = escape_unprintable(cut_at_character(text, max_excerpt_bytes));
    return text.size() > max_excerpt_bytes ? shown + "…" : shown;
}

std::string what_it_is(const JsonValue& value) {
    const bool is_scalar = value.type == Type::number || value.type == Type::string || value.type == Type::boolean;
    return is_scalar ? excerpt(value.text) : std::string(article(value.type));
}

std::optional<bool> has_type(const JsonValue& value, std::string_view type) {
    if (type == "integer") {
        return value.type == Type::number && Decimal(value.text).is_integer();
    }
    constexpr std::string_view names[] = {"null", "boolean", "number", "string", "array", "object"};
    const auto* const name = std::find(std::begin(names), std::end(names), type);
    if (name == std::end(names)) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(value.type) == static_cast<std::size_t>(name - std::begin(names));
}

// Of a schema's bound; nothing when it is no number of things.
std::optional<std::size_t> as_count(const JsonValue* bound) {
    std::size_t count = 0;
    if (bound == nullptr || bound->type != Type::number ||
        std::from_chars(bound->text.data(), bound->text.data() + bound->text.size(), count).ptr !=
            bound->text.data() + bound->text.size()) {
        return std::nullopt;
    }
    return count;
}

struct Lengths {
    std::size_t code_points = 0;
    std::size_t utf16_units = 0;
};
// Validators count either; what is too long or too short in both is so for certain.
Lengths lengths_of(std::string_view text) {
    Lengths lengths;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool starts = begins_character(c);
        lengths.code_points += starts ? 1 : 0;
        lengths.utf16_units += starts ? (byte >= 0xF0 ? 2 : 1) : 0;
    }
    return lengths;
}

std::string pointer_part(std::string_view part) {
    std::string text;
    for (std::size_t at = 0; at < part.size(); ++at) {
        if (part[at] == '~' && at + 1 < part.size()) {
            text += part[++at] == '1' ? '/' : '~';
        } else if (part[at] == '%' && at + 2 < part.size()) {
            unsigned code = 0;
            std::from_chars(part.data() + at + 1, part.data() + at + 3, code, 16);
            text += static_cast<char>(code);
            at += 2;
        } else {
            text += part[at];
        }
    }
    return text;
}

// One check of one value. Running out of steps ends it as "nothing certain".
class Check {
  public:
    explicit Check(const JsonValue& root) : root_(root) {}

    Problem run(const JsonValue& schema, const JsonValue& value, const std::string& path) {
        Problem problem = check(schema, value, path, 0);
        return exhausted() ? std::nullopt : problem;
    }

  private:
    bool exhausted() const { return steps_ > max_steps; }

    // Where a reference of this schema leads; null when it leads outside, or nowhere.
    const JsonValue* resolve(std::string_view reference) {
        if (!reference.starts_with('#')) {
            return nullptr;
        }
        std::string_view rest = reference.substr(1);
        const JsonValue* found = &root_;
        while (!rest.empty() && found != nullptr) {
            if (rest.front() != '/') {
                return nullptr; // an anchor
            }
            rest.remove_prefix(1);
            const std::size_t end = std::min(rest.find('/'), rest.size());
            spend(end + found->members.size());
            found = found->find(pointer_part(rest.substr(0, end)));
            rest.remove_prefix(end);
        }
        return found;
    }

    Problem check(const JsonValue& schema, const JsonValue& value, const std::string& path, int depth) {
        if (exhausted() || depth > deepest) {
            steps_ = max_steps + 1;
            return std::nullopt;
        }
        spend(schema.members.size());
        if (schema.text == "false") {
            return fmt::format("{}: expected nothing here, found {}", path, what_it_is(value));
        }
        // Within a resource of its own, references mean something else.
        if (schema.type != Type::object || (&schema != &root_ && schema.find("$id") != nullptr)) {
            return std::nullopt;
        }
        if (const JsonValue* reference = schema.find("$ref")) {
            // Before 2019-09 siblings of a reference are ignored, so nothing there is certain.
            const JsonValue* target = reference->type == Type::string ? resolve(reference->string) : nullptr;
            return target == nullptr ? std::nullopt : check(*target, value, path, depth + 1);
        }
        if (value.type == Type::null && is_true(schema.find("nullable"))) {
            return std::nullopt; // OpenAPI's way to allow it
        }
        if (Problem problem = check_type(schema, value, path)) {
            return problem;
        }
        if (Problem problem = check_values(schema, value, path)) {
            return problem;
        }
        if (Problem problem = check_bounds(schema, value, path)) {
            return problem;
        }
        if (Problem problem = check_members(schema, value, path, depth)) {
            return problem;
        }
        if (Problem problem = check_elements(schema, value, path, depth)) {
            return problem;
        }
        return check_combinations(schema, value, path, depth);
    }

    static bool is_true(const JsonValue* tree) { return tree != nullptr && tree->text == "true"; }

    Problem check_type(const JsonValue& schema, const JsonValue& value, const std::string& path) {
        const JsonValue* type = schema.find("type");
        if (type == nullptr) {
            return std::nullopt;
        }
        std::vector<std::string> names;
        if (type->type == Type::string) {
            names.push_back(type->string);
        }
        for (const JsonValue& each : type->elements) {
            if (each.type != Type::string) {
                return std::nullopt;
            }
            names.push_back(each.string);
        }
        std::string expected;
        for (const std::string& name : names) {
            const std::optional<bool> fits = has_type(value, name);
            if (!fits || *fits) {
                return std::nullopt;
            }
            const bool vowel = name == "integer" || name == "array" || name == "object";
            expected += fmt::format("{}{}{}", expected.empty() ? "" : " or ",
                                    name == "null" ? ""
                                    : vowel        ? "an "
                                                   : "a ",
                                    name);
        }
        if (expected.empty()) {
            return std::nullopt;
        }
        return fmt::format("{}: expected {}, found {}", path, expected, what_it_is(value));
    }

    Problem check_values(const JsonValue& schema, const JsonValue& value, const std::string& path) {
        const JsonValue* constant = schema.find("const");
        if (constant != nullptr) {
            if (!may_compare(*constant)) {
                return std::nullopt;
            }
            if (compare(*constant, value) == Equality::different) {
                return fmt::format("{}: expected {}, found {}", path, excerpt(constant->text), what_it_is(value));
            }
        }
        const JsonValue* choices = schema.find("enum");
        if (choices == nullptr || choices->type != Type::array || choices->elements.empty()) {
            return std::nullopt;
        }
        std::string known;
        for (const JsonValue& choice : choices->elements) {
            if (!may_compare(choice) || compare(choice, value) != Equality::different) {
                return std::nullopt;
            }
            if (known.size() < 4 * max_excerpt_bytes) {
                known += (known.empty() ? "" : ", ") + excerpt(choice.text);
            } else if (!known.ends_with("…")) {
                known += ", …";
            }
        }
        return fmt::format("{}: expected one of {}, found {}", path, known, what_it_is(value));
    }

    void spend(std::size_t work) {
        if (!exhausted()) {
            steps_ += 1 + static_cast<int>(std::min<std::size_t>(work / 16, max_steps));
        }
    }
    // Objects cost the square of their size.
    bool may_compare(const JsonValue& constant) {
        spend(2 * constant.text.size());
        const bool is_scalar = constant.type != Type::object && constant.type != Type::array;
        return !exhausted() && (is_scalar || constant.text.size() <= max_compared_bytes);
    }
    const JsonValue* member(const JsonValue& value, std::string_view name) {
        spend(value.members.size());
        return exhausted() ? nullptr : value.find(name);
    }

    static Problem outside(const std::string& path, std::string_view expected, std::size_t bound, std::string_view unit,
                           std::size_t found) {
        return fmt::format("{}: expected {} {} {}, found {}", path, expected, bound, unit, found);
    }

    Problem check_bounds(const JsonValue& schema, const JsonValue& value, const std::string& path) {
        if (value.type == Type::number) {
            return check_number(schema, value, path);
        }
        if (value.type == Type::string) {
            const Lengths lengths = lengths_of(value.string);
            if (const auto most = as_count(schema.find("maxLength")); most && lengths.code_points > *most) {
                return outside(path, "at most", *most, "characters", lengths.code_points);
            }
            if (const auto least = as_count(schema.find("minLength")); least && lengths.utf16_units < *least) {
                return outside(path, "at least", *least, "characters", lengths.code_points);
            }
        }
        if (value.type == Type::array) {
            if (const auto most = as_count(schema.find("maxItems")); most && value.elements.size() > *most) {
                return outside(path, "at most", *most, "elements", value.elements.size());
            }
            if (const auto least = as_count(schema.find("minItems")); least && value.elements.size() < *least) {
                return outside(path, "at least", *least, "elements", value.elements.size());
            }
        }
        return std::nullopt;
    }

    static Problem check_number(const JsonValue& schema, const JsonValue& value, const std::string& path) {
        const Decimal number(value.text);
        const auto order = [&](std::string_view keyword) -> std::optional<int> {
            const JsonValue* bound = schema.find(keyword);
            if (bound == nullptr || bound->type != Type::number) {
                return std::nullopt;
            }
            const Decimal limit(bound->text);
            return number.is_exact() && limit.is_exact() ? std::optional(number.compare(limit)) : std::nullopt;
        };
        struct Bound {
            std::string_view keyword;
            std::string_view expected;
            int sign;       // of the order that is outside
            bool exclusive; // equal is outside, too
        };
        for (const Bound& bound :
             {Bound{"minimum", "at least", -1, false}, Bound{"maximum", "at most", 1, false},
              Bound{"exclusiveMinimum", "more than", -1, true}, Bound{"exclusiveMaximum", "less than", 1, true}}) {
            const std::optional<int> found = order(bound.keyword);
            if (found && (*found * bound.sign > 0 || (bound.exclusive && *found == 0))) {
                return fmt::format("{}: expected {} {}, found {}", path, bound.expected,
                                   excerpt(schema.find(bound.keyword)->text), excerpt(value.text));
            }
        }
        return std::nullopt;
    }

    static std::string member_path(const std::string& path, std::string_view name) {
        return fmt::format("{}.{}", path, excerpt(name));
    }

    Problem check_members(const JsonValue& schema, const JsonValue& value, const std::string& path, int depth) {
        if (value.type != Type::object) {
            return std::nullopt;
        }
        if (const JsonValue* required = schema.find("required")) {
            for (const JsonValue& name : required->elements) {
                if (name.type == Type::string && member(value, name.string) == nullptr) {
                    return fmt::format("{}: is required and was not given", member_path(path, name.string));
                }
            }
        }
        const JsonValue* properties = schema.find("properties");
        if (properties == nullptr) {
            return std::nullopt;
        }
        for (const auto& [name, property] : properties->members) {
            const JsonValue* found = member(value, name);
            if (found == nullptr) {
                continue;
            }
            if (Problem problem = check(property, *found, member_path(path, name), depth + 1)) {
                return problem;
            }
        }
        return std::nullopt;
    }

    Problem check_elements(const JsonValue& schema, const JsonValue& value, const std::string& path, int depth) {
        const JsonValue* items = schema.find("items");
        // In older drafts an array of schemas, in newer ones what comes after prefixItems.
        if (value.type != Type::array || items == nullptr || items->type != Type::object ||
            schema.find("prefixItems") != nullptr) {
            return std::nullopt;
        }
        for (std::size_t index = 0; index < value.elements.size() && !exhausted(); ++index) {
            if (Problem problem = check(*items, value.elements[index], fmt::format("{}[{}]", path, index), depth + 1)) {
                return problem;
            }
        }
        return std::nullopt;
    }

    Problem check_combinations(const JsonValue& schema, const JsonValue& value, const std::string& path, int depth) {
        if (const JsonValue* all = schema.find("allOf")) {
            for (const JsonValue& each : all->elements) {
                if (Problem problem = check(each, value, path, depth + 1)) {
                    return problem;
                }
            }
        }
        for (const std::string_view keyword : {"anyOf", "oneOf"}) {
            const JsonValue* forms = schema.find(keyword);
            if (forms == nullptr || forms->elements.empty()) {
                continue;
            }
            std::string problems;
            std::size_t failed = 0;
            for (const JsonValue& form : forms->elements) {
                const Problem problem = check(form, value, path, depth + 1);
                if (!problem) {
                    break;
                }
                if (++failed <= max_reported_forms && problems.size() < max_problem_bytes) {
                    problems += (failed == 1 ? "" : "; or ") + *problem;
                }
            }
            if (failed == forms->elements.size()) {
                return problems;
            }
        }
        return std::nullopt;
    }

    const JsonValue& root_;
    int steps_ = 0;
};

} // namespace

std::optional<std::string> check_document(const RawJson& schema, const RawJson& value, const std::string& path) {
    for (const RawJson* each : {&schema, &value}) {
        if (std::count(each->text().begin(), each->text().end(), ',') > max_commas) {
            return std::nullopt;
        }
    }
    const JsonValue root = parse_json_value(schema.text());
    return check_value(root, root, parse_json_value(value.text()), path);
}

std::optional<std::string> check_arguments(const RawJson& schema, const RawJson& arguments) {
    return check_document(schema, arguments, "arguments");
}

std::optional<std::string> check_value(const JsonValue& root, const JsonValue& schema, const JsonValue& value,
                                       const std::string& path) {
    return Check(root).run(schema, value, path);
}

} // namespace cellgate::tools
