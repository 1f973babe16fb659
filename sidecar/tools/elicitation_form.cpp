#include "elicitation_form.hpp"

#include "base/json_value.hpp"
#include "elicitation_schema.hpp"
#include "tools/elicitation_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_fields = 64;
constexpr std::size_t max_schema_bytes = std::size_t{256} << 10;

Error no_form(std::string why) {
    return Error(ErrorCode::invalid_params, "requestedSchema: " + std::move(why));
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "apiKey", "API key" and "api_key" are "api key".
std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words(1);
    char before = ' ';
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool begins = !is_letter(c) || (upper && before >= 'a' && before <= 'z');
        if (begins && !words.back().empty()) {
            words.emplace_back();
        }
        if (is_letter(c)) {
            words.back() += static_cast<char>(upper ? c - 'A' + 'a' : c);
        }
        before = c;
    }
    return words;
}

// Those that are no part of other words; looked for in the letters alone.
constexpr std::string_view secrets[] = {"password",   "passwort",    "passwd",     "passphrase",  "passcode",
                                        "apikey",     "accesskey",   "privatekey", "secretkey",   "creditcard",
                                        "cardnumber", "accesstoken", "authtoken",  "securitycode"};
// Looked for as words.
constexpr std::string_view secret_words[] = {"secret", "token", "credential", "credentials",
                                             "cvv",    "cvc",   "pin",        "otp"};

} // namespace

bool names_secret(const std::string& name) {
    const std::vector<std::string> words = words_of(name);
    std::string letters;
    for (const std::string& word : words) {
        letters += word;
    }
    return std::any_of(std::begin(secrets), std::end(secrets),
                       [&](std::string_view each) { return letters.find(each) != std::string::npos; }) ||
           std::any_of(std::begin(secret_words), std::end(secret_words), [&](std::string_view each) {
               return std::find(words.begin(), words.end(), each) != words.end();
           });
}

ElicitationForm::ElicitationForm(const RawJson& requested_schema) {
    if (!requested_schema.is_object()) {
        throw no_form(fmt::format("expected an object, found {}", requested_schema.type()));
    }
    if (requested_schema.text().size() > max_schema_bytes) {
        throw no_form(fmt::format("expected at most {} bytes", max_schema_bytes));
    }
    const JsonValue schema = parse_json_value(requested_schema.text());
    const JsonValue* type = schema.find("type");
    const JsonValue* properties = schema.find("properties");
    if (type == nullptr || type->string != "object" || properties == nullptr ||
        properties->type != JsonValue::Type::object) {
        throw no_form("expected the type \"object\" and its properties");
    }
    if (properties->members.size() > max_fields) {
        throw no_form(fmt::format("expected at most {} properties", max_fields));
    }
    std::set<std::string> required;
    if (const JsonValue* list = schema.find("required")) {
        for (const JsonValue& each : list->elements) {
            required.insert(each.string);
        }
    }
    for (const JsonValue::Member& property : properties->members) {
        protocol::ElicitationField field = read_elicitation_field(property.name, property.value);
        field.required = required.contains(property.name);
        if (field.initial && problem_of_value(field, parse_json_value(field.initial->text()))) {
            field.initial.reset(); // a default that does not fit would only be refused
        }
        fields_.push_back(std::move(field));
    }
}

std::optional<std::string> ElicitationForm::secret() const {
    using protocol::ElicitationFieldType;
    for (const protocol::ElicitationField& field : fields_) {
        const bool typed = field.type == ElicitationFieldType::text || field.type == ElicitationFieldType::number ||
                           field.type == ElicitationFieldType::integer;
        if (typed && (names_secret(field.name) || names_secret(field.title))) {
            return field.title;
        }
    }
    return std::nullopt;
}

RawJson ElicitationForm::content(const std::optional<RawJson>& values) const {
    std::string initial = "{";
    for (const protocol::ElicitationField& field : fields_) {
        if (!values && field.initial) {
            initial += initial.size() > 1 ? "," : "";
            append_json_string(initial, field.name);
            initial += ":" + field.initial->text();
        }
    }
    RawJson filled = values ? *values : RawJson::checked(initial + "}");
    check_values(fields_, filled);
    return filled;
}

} // namespace cellgate::tools
