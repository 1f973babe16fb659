#include "request_rule_text.hpp"

#include "base/http_token.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace cellgate::tools {

namespace {

using protocol::InjectionAs;

// A service may have methods of its own; one that is nearly a usual one was meant to be that.
void require_no_slip(const std::string& method) {
    const std::string nearest =
        nearest_name(method, {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"});
    if (!nearest.empty() && nearest != method) {
        throw std::invalid_argument(fmt::format("{} is no method of HTTP; did you mean {}?", method, nearest));
    }
}

std::vector<std::string> methods_of(std::string_view list) {
    std::vector<std::string> methods;
    while (true) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string method(list.substr(0, end));
        const bool small = std::any_of(method.begin(), method.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        if (small || !is_http_token(method)) {
            throw std::invalid_argument("the methods are in capitals, such as GET,HEAD, or read-only or git-fetch");
        }
        require_no_slip(method);
        methods.push_back(method);
        if (end == list.size()) {
            return methods;
        }
        list.remove_prefix(end + 1);
    }
}

// What git asks for when it fetches from the repositories that are given, or from any.
std::vector<std::string> paths_of_git_fetch(const std::vector<std::string>& repositories) {
    std::vector<std::string> paths;
    for (std::string_view repository : repositories) {
        repository.remove_suffix(repository.ends_with('/') ? 1 : 0);
        paths.push_back(fmt::format("{}/info/refs", repository));
        paths.push_back(fmt::format("{}/git-upload-pack", repository));
    }
    return paths;
}

// "X-Key: VALUE", "key=VALUE"
void take_named(protocol::Injection& injection, std::string_view value, std::string_view separator,
                const char* example) {
    const std::size_t end = value.find(separator);
    if (end == std::string_view::npos || !is_http_token(value.substr(0, end))) {
        throw std::invalid_argument(fmt::format("expected {}", example));
    }
    injection.name = std::string(value.substr(0, end));
    value.remove_prefix(end + separator.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    injection.value = std::string(value);
}

} // namespace

void take_methods(protocol::RuleSpec& rule, std::string_view word) {
    if (word == "read-only") {
        rule.methods = {"GET", "HEAD"};
    } else if (word == "git-fetch") {
        rule.methods = {"GET", "POST"};
        rule.paths = paths_of_git_fetch(rule.paths.value_or(std::vector<std::string>{"/**"}));
    } else {
        rule.methods = methods_of(word);
    }
}

bool take_injection(protocol::Injection& injection, std::string_view option, std::string value) {
    if (option == "--variable") {
        injection.variable = std::move(value);
        return true;
    }
    constexpr std::pair<std::string_view, InjectionAs> options[] = {{"--bearer", InjectionAs::bearer},
                                                                    {"--basic", InjectionAs::basic},
                                                                    {"--header", InjectionAs::header},
                                                                    {"--query", InjectionAs::query},
                                                                    {"--aws", InjectionAs::aws}};
    const auto* found = std::find_if(std::begin(options), std::end(options),
                                     [option](const auto& each) { return each.first == option; });
    if (found == std::end(options)) {
        return false;
    }
    if (!injection.value.empty()) {
        throw std::invalid_argument("a rule puts in one secret; write another rule for the next");
    }
    injection.as = found->second;
    if (injection.as == InjectionAs::header) {
        take_named(injection, value, ":", R"(--header "X-Key: ${secret:NAME}")");
    } else if (injection.as == InjectionAs::query) {
        take_named(injection, value, "=", "--query key=${secret:NAME}");
    } else {
        injection.value = std::move(value);
    }
    if (injection.value.find("${secret:") == std::string::npos) {
        throw std::invalid_argument(
            fmt::format("{} takes a value with a secret in it, such as ${{secret:NAME}}", option));
    }
    return true;
}

} // namespace cellgate::tools
