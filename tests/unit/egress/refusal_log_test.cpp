#include "refusal_log.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace cellgate;
using namespace cellgate::egress;

namespace {

Endpoint at(const std::string& host) {
    return {parse_host(host).value(), 443};
}

} // namespace

TEST_CASE("repeated refusals are logged once and then counted") {
    RefusalLog log;
    CHECK_FALSE(log.last_line());
    std::vector<std::string> lines;
    for (int i = 0; i < 1000; ++i) {
        if (const auto line = log.line(at("example.org"), "not today")) {
            lines.push_back(*line);
        }
    }
    CHECK(lines == std::vector<std::string>{"connection to example.org:443 refused: not today",
                                            "connection to example.org:443 refused: not today (10 times so far)",
                                            "connection to example.org:443 refused: not today (100 times so far)",
                                            "connection to example.org:443 refused: not today (1000 times so far)"});
    CHECK(log.last_line() == "996 more connections were refused like those above");
    // Another host, or another reason, is news.
    CHECK(log.line(at("example.com"), "not today"));
    CHECK(log.line(at("example.org"), "a rule denies it"));
}

TEST_CASE("any number of different hosts do not fill the log") {
    RefusalLog log;
    int lines = 0;
    for (int i = 0; i < 10'000; ++i) {
        lines += log.line(at("host" + std::to_string(i) + ".example"), "no") ? 1 : 0;
    }
    CHECK(lines == 64 + 4); // 1, 10, 100 and 1000 of all others
    CHECK_FALSE(log.line(at("host0.example"), "no"));
}
