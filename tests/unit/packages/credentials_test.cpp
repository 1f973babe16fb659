#include "packages/credentials.hpp"

#include <doctest/doctest.h>

using namespace cellgate::packages;

TEST_CASE("of a URL's user and password nothing is left") {
    CHECK(without_credentials("Looking in indexes: https://me:secret@example.org/simple, http://me@other/") ==
          "Looking in indexes: https://****@example.org/simple, http://****@other/");
    CHECK(without_credentials("'https://me:p@ss@example.org'") == "'https://****@example.org'");
    CHECK(without_credentials("https://token@example.org") == "https://****@example.org");
    CHECK(without_credentials("http://http://me:secret@example.org") == "http://http://****@example.org");
}

TEST_CASE("all else stays as it is") {
    for (const char* text : {"", "://", "a@b", "https://example.org/simple", "https://example.org/me@1.0",
                             "git+https://example.org/x?y=me@1.0", "https://one.org, me@example.org",
                             "see \"https://example.org\" or write to me@example.org"}) {
        CAPTURE(text);
        CHECK(without_credentials(text) == text);
    }
}
