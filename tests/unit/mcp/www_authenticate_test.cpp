#include "www_authenticate.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

std::optional<BearerChallenge> challenge(std::initializer_list<std::string> values) {
    async::HttpHead head;
    head.status = 401;
    head.fields.emplace_back("content-type", "application/json");
    for (const std::string& value : values) {
        head.fields.emplace_back("www-authenticate", value);
    }
    return bearer_challenge(head);
}

} // namespace

TEST_CASE("a challenge has its metadata, its scope and its error") {
    const auto found = challenge({R"(Bearer resource_metadata="https://example.org/.well-known/x", scope="a b",)"
                                  R"( error="insufficient_scope", realm="r")"});
    REQUIRE(found);
    CHECK(found->resource_metadata == "https://example.org/.well-known/x");
    CHECK(found->scope == "a b");
    CHECK(found->error == "insufficient_scope");
}

TEST_CASE("names and schemes are compared without case, and values may have no quotes") {
    const auto found = challenge({"bEARER Scope = read,ERROR=invalid_token"});
    REQUIRE(found);
    CHECK(found->scope == "read");
    CHECK(found->error == "invalid_token");
    CHECK(challenge({"Bearer resource_metadata=https://example.org/?a=b"})->resource_metadata ==
          "https://example.org/?a=b");
}

TEST_CASE("other schemes before and behind it are not its parameters") {
    CHECK(challenge({R"(Basic realm="a, Bearer scope=x", Bearer scope="y", Digest scope="z")"})->scope == "y");
    CHECK(challenge({R"(Negotiate abc==, Bearer scope="y")"})->scope == "y");
    CHECK(challenge({"Basic realm=x", "Bearer scope=second"})->scope == "second");
    CHECK(challenge({R"(Bearer scope="first", Basic error="x")"})->error.empty());
}

TEST_CASE("no challenge of the scheme is none") {
    CHECK_FALSE(challenge({}));
    CHECK_FALSE(challenge({"Basic realm=\"Bearer\""}));
    CHECK_FALSE(challenge({""}));
}

TEST_CASE("a broken field is read as far as it goes, and ends") {
    CHECK(challenge({"Bearer"}));
    CHECK(challenge({"Bearer scope"})->scope.empty());
    CHECK(challenge({"Bearer scope=\"a"})->scope == "a");
    CHECK(challenge({R"(Bearer scope="a\"b\\c")"})->scope == "a\"b\\c");
    CHECK(challenge({R"(Bearer scope="a\)"}));
    CHECK(challenge({"Bearer \"\"\"= , =\" ,,, scope=b"}));
    CHECK(challenge({"Bearer scope=" + std::string(5000, 'a')})->scope.empty());
    CHECK(challenge({"Bearer scope=first, scope=second"})->scope == "first");
}
