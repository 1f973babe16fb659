#include "record_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cellgate;

namespace {

// The words of an entry, behind its number, time and session.
std::string words(const std::string& type, const std::string& data) {
    const std::string line =
        cli::record_line(R"({"actor":"user","data":)" + data +
                         R"(,"seq":41,"sessionId":"s","time":"2026-01-05T09:31:00.123Z","type":")" + type + R"("})");
    const std::string head = "    41  2026-01-05 09:31:00Z  s          ";
    CHECK(line.starts_with(head));
    return line.substr(head.size());
}

} // namespace

TEST_CASE("an entry of the record is a line of words") {
    CHECK(
        words("action.decided", R"({"by":"rule","decision":"allow","display":["tool read_file of fs"],"number":14})") ==
        "14 allowed by rule: tool read_file of fs");
    CHECK(words("action.decided", R"({"by":"noClient","decision":"deny","display":["start fs"],"number":15})") ==
          "15 not allowed, no user was there: start fs");
    CHECK(words("action.ended", R"({"error":"no file","number":14,"status":"failed"})") == "14 failed: no file");
    CHECK(words("execution.started", R"({"agent":"claude","code":"a = 1\nb = 2"})") == "runs for agent claude: a = 1");
    CHECK(words("execution.started", R"({"bytes":70000,"sha256":"00"})") == "runs: 70000 bytes of code");
    CHECK(words("execution.started", R"({"code":"def f(): pass","savedTool":"f"})") == "runs: the saved tool f");
    CHECK(words("session.closed", "{}") == "session closed");
    CHECK(words("action.ended", R"({"number":14,"status":"unknown"})") == "14 left to the agent");
    CHECK(words("execution.ended", R"({"status":"ok"})") == "ended: ok");
    CHECK(words("execution.ended", R"({"error":{"ename":"ValueError","evalue":"no\nreally"},"status":"error"})") ==
          "ended: error: ValueError: no");
    CHECK(words("session.created", R"({"kernel":"python3","language":"python","sandbox":"bwrap"})") ==
          "session created: python3, in bwrap");
    CHECK(words("session.created", R"({"kernel":"ir","language":"R","sandbox":"none"})") ==
          "session created: ir, without a sandbox");
    CHECK(words("policy.added", R"({"rule":{"effect":"allow","host":"db.example.org:5432","id":"r7","kind":"network",)"
                                R"("protocol":"raw","source":"userStore"}})") ==
          "rule added: r7  allow  network tcp://db.example.org:5432  (userStore)");
    CHECK(words("policy.added", R"({"rule":{"effect":"perhaps"}})") == R"(rule added: {"effect":"perhaps"})");
    CHECK(words("policy.removed", R"({"ruleId":"r7"})") == "rule removed: r7");
    CHECK(words("policy.removed", R"({"ruleId":"r7","reason":"its last use was taken"})") ==
          "rule removed: r7: its last use was taken");
    CHECK(words("login.ended", R"({"error":"timeout","server":"web"})") == "login to web failed: timeout");
    CHECK(words("record.gap", R"({"dropped":3,"error":"disk full"})") ==
          "3 entries could not be recorded before this one: disk full");
    CHECK(words("record.pruned", R"({"firstKept":512})") == "entries before 512 were removed");
}

TEST_CASE("an entry that is not as its type says is shown as far as it can be") {
    CHECK(words("from.the.future", "{}") == "from.the.future");
    CHECK(words("action.decided", R"({"display":[7]})") == " denied: an action");
    CHECK(words("execution.started", "[]") == "runs:  bytes of code");
}
