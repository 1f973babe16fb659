#include "base/error.hpp"
#include "base/fake_clock.hpp"
#include "session_secrets.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::service;

TEST_CASE("a secret of a session is found in it alone, until it ends") {
    FakeClock clock;
    SessionSecrets secrets(clock);
    CHECK(secrets.set("s", "TOKEN", "first").name == "TOKEN");
    secrets.set("s", "TOKEN", "second");
    secrets.set("t", "OTHER", "other");
    CHECK(secrets.find("s", "TOKEN") == "second");
    CHECK_FALSE(secrets.find("t", "TOKEN"));
    CHECK_FALSE(secrets.find("u", "TOKEN"));
    const std::vector<SessionSecret> listed = secrets.list();
    REQUIRE(listed.size() == 2);
    CHECK(listed[0].session_id == "s");
    CHECK(listed[1].name == "OTHER");
    CHECK_FALSE(listed[1].set_at.empty());
    secrets.end_session("s");
    secrets.end_session("u");
    CHECK_FALSE(secrets.find("s", "TOKEN"));
    CHECK(secrets.find("t", "OTHER") == "other");
}

TEST_CASE("a secret of a session that is forgotten was there") {
    FakeClock clock;
    SessionSecrets secrets(clock);
    secrets.set("s", "TOKEN", "value");
    CHECK_THROWS_AS(secrets.remove("t", "TOKEN"), Error);
    CHECK_THROWS_AS(secrets.remove("s", "OTHER"), Error);
    CHECK(secrets.remove("s", "TOKEN").session_id == "s");
    CHECK_FALSE(secrets.find("s", "TOKEN"));
    CHECK_THROWS_AS(secrets.remove("s", "TOKEN"), Error);
}
