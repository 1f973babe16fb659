#include "request_rules.hpp"

#include "base/enum_name.hpp"
#include "base/http_token.hpp"
#include "base/names.hpp"
#include "base/percent_encoding.hpp"
#include "base/text.hpp"
#include "gate/injected_secrets.hpp"
#include "path_match.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cellgate::gate {

namespace {

using protocol::Effect;
using protocol::Injection;
using protocol::InjectionAs;
using protocol::Rule;

constexpr std::size_t max_listed = 20;
constexpr std::size_t max_pattern_bytes = 1024;
constexpr std::size_t max_injected_bytes = 4096;

[[noreturn]] void refuse_request_part(const std::string& message, std::string hint = {}) {
    throw Error(ErrorCode::rule_invalid, message, std::move(hint));
}

void check_list_size(std::size_t size, const char* name) {
    if (size == 0 || size > max_listed) {
        refuse_request_part(fmt::format("expected 1 to {} {}, found {}", max_listed, name, size));
    }
}

void check_aws_keys(const Injection& injection) {
    constexpr std::size_t without_token = 2;
    const std::vector<std::string> parts = colon_parts(injection.value);
    const bool counted = parts.size() == without_token || parts.size() == without_token + 1;
    if (!counted || std::find(parts.begin(), parts.end(), "") != parts.end()) {
        refuse_request_part("expected the keys of AWS as ACCESSKEYID:SECRETKEY or ACCESSKEYID:SECRETKEY:SESSIONTOKEN, "
                            "found another number of parts",
                            "such as ${secret:AWS_ID}:${secret:AWS_KEY}");
    }
    if (injection.variable) {
        refuse_request_part("expected no variable where a request is signed for AWS, found one",
                            "Its placeholders are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, with a third part, "
                            "AWS_SESSION_TOKEN.");
    }
}

void check_injection(const Injection& injection) {
    const bool named = injection.as == InjectionAs::header || injection.as == InjectionAs::query;
    if (named != injection.name.has_value() || (named && !is_http_token(*injection.name))) {
        refuse_request_part("expected the name of a header or of a parameter of the query where the secret goes there, "
                            "and else none");
    }
    if (injection.as == InjectionAs::basic && colon_parts(injection.value).size() < 2) {
        refuse_request_part("expected USER:PASSWORD where a secret goes in as basic, found no colon");
    }
    if (injection.as == InjectionAs::aws) {
        check_aws_keys(injection);
    }
    const std::string& value = injection.value;
    const bool printable = std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
    if (!printable || value.size() > max_injected_bytes || secrets_of(injection).empty()) {
        refuse_request_part("expected a value with a secret in it, such as ${secret:NAME}, found another");
    }
    if (injection.variable && !is_variable_name(*injection.variable)) {
        refuse_request_part(
            fmt::format("expected the name of a variable, found {}", visible_name(*injection.variable)));
    }
}

// Servers that decode, resolve or cut a path before they look at it may mean another one.
bool is_read_alike(std::string_view path) {
    constexpr std::array<std::string_view, 4> never = {"//", "\\", ";", "/./"};
    if (path.ends_with("/.") || std::any_of(never.begin(), never.end(), [path](std::string_view each) {
            return path.find(each) != std::string_view::npos;
        })) {
        return false;
    }
    for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
        const std::string code = lower(path.substr(at + 1, 2));
        constexpr std::array<std::string_view, 6> special = {"2e", "2f", "5c", "25", "00", "3b"};
        if (code.size() < 2 || std::find(special.begin(), special.end(), code) != special.end()) {
            return false;
        }
    }
    return true;
}

Match match_method(const std::vector<std::string>& methods, std::string_view method) {
    Match best = Match::no;
    for (const std::string& each : methods) {
        const bool alike = lower(each) == lower(method);
        best = std::max(best, each == method ? Match::yes : alike ? Match::unclear : Match::no);
    }
    return best;
}

// As a server may read it that ignores case and a last slash.
std::string loosely_read(std::string_view text) {
    std::string read = lower(text);
    if (read.size() > 1 && read.ends_with('/')) {
        read.pop_back();
    }
    return read;
}

Match match_path(const std::vector<std::string>& patterns, std::string_view path) {
    if (!is_read_alike(path)) {
        return Match::unclear;
    }
    const std::string decoded = percent_decode(path);
    const std::string loose = loosely_read(decoded);
    Match best = Match::no;
    for (const std::string& pattern : patterns) {
        const std::string decoded_pattern = percent_decode(pattern);
        const Match as_sent = glob_match(path, pattern);
        const Match as_decoded = glob_match(decoded, decoded_pattern);
        if (as_sent == Match::yes && as_decoded == Match::yes) {
            return Match::yes;
        }
        best = std::max({best, as_sent, as_decoded, glob_match(loose, loosely_read(decoded_pattern))});
    }
    return std::min(best, Match::unclear);
}

} // namespace

void check_request_parts(const Rule& rule) {
    if (rule.kind != ActionKind::request) {
        if (rule.methods || rule.paths || rule.inject || rule.openapi || rule.effect == Effect::inspect) {
            refuse_request_part(
                "expected inspect, methods, paths, inject and openapi only in a rule of kind request, found them "
                "in another");
        }
        return;
    }
    if (!rule.host && !rule.payload_hash) {
        refuse_request_part("expected a rule about requests to name the host, found none");
    }
    if (rule.arguments && rule.effect == Effect::inspect) {
        refuse_request_part("expected no conditions on the body in a rule that inspects, found some");
    }
    if ((rule.inject || rule.openapi) && rule.effect != Effect::inspect) {
        refuse_request_part("expected inject and openapi only in a rule that inspects, found them in another");
    }
    if (rule.openapi && !rule.openapi->starts_with('/')) {
        refuse_request_part(
            fmt::format("expected the whole path of an OpenAPI document, found {}", visible_name(*rule.openapi)));
    }
    if (rule.methods) {
        check_list_size(rule.methods->size(), "methods");
        for (const std::string& method : *rule.methods) {
            if (!is_http_token(method)) {
                refuse_request_part(fmt::format("expected a method such as GET, found {}", visible_name(method)));
            }
        }
    }
    if (rule.paths) {
        check_list_size(rule.paths->size(), "paths");
        for (const std::string& path : *rule.paths) {
            const bool rooted = path.starts_with('/') || path.starts_with('*');
            if (!rooted || path.size() > max_pattern_bytes || path.find_first_of("?#") != std::string::npos) {
                refuse_request_part(
                    fmt::format("expected a pattern of paths such as /repos/**, found {}", visible_name(path)),
                    "it begins with / or *, and has no query");
            }
        }
    }
    if (rule.inject) {
        check_injection(*rule.inject);
    }
}

Match match_request(const Rule& rule, const Payload::Names& names) {
    const Match method = rule.methods ? match_method(*rule.methods, names.method.value_or("")) : Match::yes;
    const Match path = rule.paths ? match_path(*rule.paths, names.path.value_or("")) : Match::yes;
    return std::min(method, path);
}

std::string request_words(const Rule& rule) {
    std::string words;
    if (rule.methods) {
        std::string methods;
        for (const std::string& method : *rule.methods) {
            methods += (methods.empty() ? " " : ", ") + visible_name(method);
        }
        words += methods;
    }
    for (const std::string& path : rule.paths.value_or(std::vector<std::string>())) {
        words += " " + visible_name(path);
    }
    if (rule.inject && rule.inject->as == InjectionAs::aws) {
        words += " signed for AWS with " + visible_name(rule.inject->value);
    } else if (rule.inject) {
        words += fmt::format(" with {} as {}", visible_name(rule.inject->value), enum_name(rule.inject->as));
        words += rule.inject->name ? " " + visible_name(*rule.inject->name) : std::string();
        words +=
            rule.inject->variable ? fmt::format(" (a placeholder is in {})", *rule.inject->variable) : std::string();
    }
    if (rule.openapi) {
        words += " described by " + visible_name(*rule.openapi);
    }
    return words;
}

} // namespace cellgate::gate
