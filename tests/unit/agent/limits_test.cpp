#include "base/error.hpp"
#include "limits.hpp"
#include "output_page.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::agent;

namespace {

ErrorCode error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.code;
    }
    FAIL("expected an error");
    return ErrorCode::internal_error;
}

} // namespace

TEST_CASE("without limits of the user, a timeout is what was asked for, or the tool's own") {
    const UserLimits limits = read_user_limits({});
    CHECK(limits.timeout_of(7.0, 120) == 7);
    CHECK(limits.timeout_of(std::nullopt, 120) == 120);
    CHECK(limits.max_characters == max_output_characters);
}

TEST_CASE("the user's default applies to calls that name no timeout, and the maximum to all") {
    const UserLimits limits = read_user_limits({{"SANDBOX_TIMEOUT", "30"}, {"SANDBOX_MAX_TIMEOUT", "60"}});
    CHECK(limits.timeout_of(std::nullopt, 120) == 30);
    CHECK(limits.timeout_of(60.0, 120) == 60);
    CHECK(error_of([&] { limits.timeout_of(60.5, 120); }) == ErrorCode::limit_exceeded);
    const UserLimits only_maximum = read_user_limits({{"SANDBOX_MAX_TIMEOUT", "60"}});
    CHECK(only_maximum.timeout_of(std::nullopt, 120) == 60);
}

TEST_CASE("of the two names of the default timeout, the longer one wins") {
    const UserLimits limits = read_user_limits({{"SANDBOX_TIMEOUT", "30"}, {"SANDBOX_DEFAULT_TIMEOUT", "40"}});
    CHECK(limits.timeout_of(std::nullopt, 120) == 40);
}

TEST_CASE("a user can shorten outputs, and cannot lengthen them") {
    CHECK(read_user_limits({{"SANDBOX_MAX_OUTPUT_SIZE", "500"}}).max_characters == 500);
    CHECK(read_user_limits({{"SANDBOX_MAX_OUTPUT_SIZE", "0.5"}}).max_characters == 1);
    CHECK(read_user_limits({{"SANDBOX_MAX_OUTPUT_SIZE", "1e12"}}).max_characters == max_output_characters);
}

TEST_CASE("a limit that is no number above 0 is an error, not no limit") {
    for (const char* value : {"0", "-1", "ten", "10s", "inf", "nan"}) {
        CAPTURE(value);
        CHECK(error_of([&] { read_user_limits({{"SANDBOX_MAX_TIMEOUT", value}}); }) == ErrorCode::config_invalid);
    }
    CHECK_FALSE(read_user_limits({{"SANDBOX_MAX_TIMEOUT", ""}}).max_timeout);
}
