#include "base/known_secrets.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

namespace {

std::string shown(const KnownSecrets& secrets, const std::string& json) {
    return masked_json(secrets.mask(), RawJson::parse(json)).text();
}

} // namespace

TEST_CASE("without a secret there is no mask, and what is masked stays as it is") {
    KnownSecrets secrets;
    CHECK_FALSE(secrets.mask());
    secrets.add("SHORT", "1234567");
    CHECK_FALSE(secrets.mask());
    CHECK(masked_text(secrets.mask(), "text 1234567") == "text 1234567");
    CHECK(shown(secrets, R"({"a": "1234567"})") == R"({"a": "1234567"})");
}

TEST_CASE("all that were added are looked for, the same one once") {
    KnownSecrets secrets;
    secrets.add("ONE", "first-secret");
    const std::shared_ptr<const SecretMask> before = secrets.mask();
    secrets.add("ONE", "first-secret");
    CHECK(secrets.mask() == before);
    secrets.add("ONE", "second-secret"); // its new value; the old one may still be somewhere
    CHECK(masked_text(secrets.mask(), "first-secret, second-secret") == "[secret ONE], [secret ONE]");
}

TEST_CASE("in JSON the content of strings is masked, and the rest keeps every byte") {
    KnownSecrets secrets;
    secrets.add("KEY", "12345678");
    secrets.add("QUOTED", "a\"b\\c\nd-secret");
    CHECK(shown(secrets, R"({ "12345678" : [12345678, "x12345678\u0021", "\u00e9"] })") ==
          R"({ "[secret KEY]" : [12345678, "x[secret KEY]!", "\u00e9"] })");
    CHECK(shown(secrets, R"(["a\"b\\c\nd-secret", "\\n", "a\"b"])") == R"(["[secret QUOTED]", "\\n", "a\"b"])");
    CHECK(shown(secrets, R"(["MTIzNDU2Nzg="])") == R"(["[secret KEY]g="])");
}

TEST_CASE("what begins with the letter of an escape does not break the escape") {
    KnownSecrets secrets;
    secrets.add("N", "nnnnnnnn");
    CHECK(shown(secrets, R"(["\nnnnnnnnn"])") == R"(["\n[secret N]"])");
    CHECK(shown(secrets, R"(["\nnnnnnnn"])") == R"(["\nnnnnnnn"])");
}
