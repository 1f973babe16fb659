#include "base/fake_clock.hpp"
#include "progress_reports.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

using namespace cellgate;
using namespace cellgate::tools;

namespace {

using namespace std::chrono_literals;

// What is reported of a call, "ended" for its end.
struct Call {
    OnCallProgress report_to() {
        return [this](const std::string& server, const std::string& tool, std::optional<std::string> words) {
            CHECK(server == "web");
            CHECK(tool == "read");
            reported.push_back(words.value_or("ended"));
        };
    }

    FakeClock clock;
    std::vector<std::string> reported;
};

mcp::CallProgress said(double progress, std::optional<double> total, std::optional<std::string> message) {
    return {progress, total, std::move(message)};
}

} // namespace

TEST_CASE("a call's progress is reported at most five times a second, and then its end") {
    Call call;
    {
        ProgressReports reports(call.clock, call.report_to(), "web", "read");
        reports.report(said(0.5, std::nullopt, std::nullopt));
        reports.report(said(1, 4, "lost"));
        call.clock.advance(200ms);
        reports.report(said(2, 4, "reading"));
    }
    CHECK(call.reported == std::vector<std::string>{"0.5", "2 of 4: reading", "ended"});
}

TEST_CASE("our own words are reported at once, and their end") {
    Call call;
    {
        ProgressReports reports(call.clock, call.report_to(), "web", "read");
        reports.report(said(1, 4, std::nullopt));
        reports.note("waits");
        reports.note(std::nullopt);
    }
    CHECK(call.reported == std::vector<std::string>{"1 of 4", "waits", "ended", "ended"});
}

TEST_CASE("of a call that reports nothing, no end is reported") {
    Call call;
    {
        ProgressReports reports(call.clock, call.report_to(), "web", "read");
    }
    CHECK(call.reported.empty());
    ProgressReports unheard(call.clock, {}, "web", "read");
    unheard.report(said(1, 4, "unheard"));
    unheard.note("unheard");
}

TEST_CASE("whatever a server writes is one line within the limit of the message") {
    for (const std::string& piece :
         {std::string(1, '\x1b'), std::string("\n"), std::string("ä"), std::string("\xff")}) {
        std::string message;
        while (message.size() < 100'000) {
            message += piece;
        }
        Call call;
        ProgressReports reports(call.clock, call.report_to(), "web", "read");
        reports.report(said(1e300, 1e300, message));
        REQUIRE(call.reported.size() == 1);
        CHECK(call.reported[0].size() <= 500); // ExecuteProgressParams.message
        CHECK(call.reported[0].find('\n') == std::string::npos);
        CHECK(RawJson::of(Json(call.reported[0])).text().size() > 2); // valid UTF-8, or this throws
    }
}
