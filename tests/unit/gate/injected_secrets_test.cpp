// What a rule puts into requests, and what code finds in its place.
#include "gate/injected_secrets.hpp"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

using namespace cellgate;
using namespace cellgate::gate;

namespace {

using As = protocol::InjectionAs;

protocol::Injection injection(As as, const std::string& value, std::optional<std::string> variable = std::nullopt) {
    protocol::Injection made;
    made.as = as;
    made.value = value;
    made.variable = std::move(variable);
    return made;
}

// "VARIABLE SECRET,SECRET;"
std::string variables(const protocol::Injection& injection) {
    std::string found;
    for (const PlaceholderVariable& each : placeholders_of(injection)) {
        found += fmt::format("{} {};", each.name, fmt::join(each.secrets, ","));
    }
    return found;
}

} // namespace

TEST_CASE("colons outside of a reference separate the parts of a value") {
    using Parts = std::vector<std::string>;
    CHECK(colon_parts("${secret:A}") == Parts{"${secret:A}"});
    CHECK(colon_parts("${secret:A}:${secret:B}") == Parts{"${secret:A}", "${secret:B}"});
    CHECK(colon_parts("a:b${secret:C}d:") == Parts{"a", "b${secret:C}d", ""});
    CHECK(colon_parts("") == Parts{""});
}

TEST_CASE("values come in the places of their names") {
    CHECK(with_values("a ${secret:A}:${secret:B}${secret:A}", {{"A", "1:${secret:B}"}, {"B", "2"}}) ==
          "a 1:${secret:B}:21:${secret:B}");
}

TEST_CASE("code finds placeholders in the variables of a rule") {
    CHECK(variables(injection(As::basic, "ada:${secret:TOKEN}")).empty());
    CHECK(variables(injection(As::basic, "ada:${secret:TOKEN}", "API_TOKEN")) == "API_TOKEN TOKEN;");
    CHECK(variables(injection(As::aws, "${secret:ID}:${secret:KEY}")) ==
          "AWS_ACCESS_KEY_ID ID;AWS_SECRET_ACCESS_KEY KEY;");
    CHECK(variables(injection(As::aws, "AKIDEXAMPLE:${secret:KEY}:a${secret:T}${secret:U}")) ==
          "AWS_ACCESS_KEY_ID ;AWS_SECRET_ACCESS_KEY KEY;AWS_SESSION_TOKEN T,U;");
}
