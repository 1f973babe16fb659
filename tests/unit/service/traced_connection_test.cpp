#include "base/encoding.hpp"
#include "base/fake_clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "service_fixture.hpp"
#include "temp_folder.hpp"
#include "traced_connection.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::service;

namespace {

Task<void> receive_into(std::shared_ptr<protocol::Connection> connection, std::vector<std::string>* texts) {
    while (const std::optional<protocol::Frame> frame = co_await connection->receive()) {
        texts->push_back(frame->text);
    }
}

bool is_key(const std::string&, const std::string& field) {
    return field == "key";
}

std::vector<Json> lines_of(const std::string& path) {
    std::vector<Json> lines;
    std::istringstream text(read_file(path).value());
    for (std::string line; std::getline(text, line);) {
        lines.push_back(Json::parse(line));
    }
    return lines;
}

} // namespace

TEST_CASE("every message passes unchanged and is one line of the trace, with its direction") {
    const TempFolder folder;
    const std::string path = folder.path / "trace.jsonl";
    FakeClock clock;
    service_fixture::ConnectionPair pair;
    const auto traced = std::make_shared<TracedConnection>(pair.ours, std::make_shared<Trace>(clock, path, is_key), 7);
    std::vector<std::string> here;
    std::vector<std::string> there;
    TaskScope scope;
    scope.spawn(receive_into(traced, &here));
    scope.spawn(receive_into(pair.theirs, &there));
    const std::string spread = "{\"a\":\n [1.0,  \"\\n\"]}";
    traced->send(spread);
    pair.theirs->send("no JSON \xff");
    traced->close();
    CHECK(scope.running() == 0);
    CHECK(there == std::vector<std::string>{spread});
    CHECK(here == std::vector<std::string>{"no JSON \xff"});

    const std::vector<Json> lines = lines_of(path);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].at("direction") == "out");
    CHECK(lines[0].at("client") == "7");
    CHECK(lines[0].at("message") == Json::parse(spread));
    CHECK(lines[0].at("time") == to_rfc3339(clock.wall()));
    CHECK(lines[1].at("direction") == "in");
    CHECK(lines[1].at("message") == "no JSON \xef\xbf\xbd");
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a trace goes on where the last one ended, and one that cannot be opened is an error") {
    const TempFolder folder;
    const std::string path = folder.path / "trace.jsonl";
    FakeClock clock;
    for (int i = 0; i < 2; ++i) {
        Trace trace(clock, path, is_key);
        trace.write(1, "in", "{}");
    }
    CHECK(lines_of(path).size() == 2);
    CHECK_THROWS_AS(Trace(clock, folder.path / "none/trace.jsonl", is_key), Error);
}

TEST_CASE("what a user typed unseen is not in the trace, and everything else is") {
    const TempFolder folder;
    const std::string path = folder.path / "trace.jsonl";
    FakeClock clock;
    Trace trace(clock, path, is_key);
    const std::string params =
        R"("params":{"elicitationId":"e1","action":"accept","values":{"key":"s3cr3t","site":"eu","more":["\u0061"]}})";
    trace.write(1, "in", R"({"id":1,"method":"elicitation\/respond",)" + params + "}");
    trace.write(1, "in", R"({"id":2,"method":"elicitation/other",)" + params + "}"); // the control
    trace.write(1, "in", R"({"id":3,"method":"elicitation/respond","params":{"elicitationId":"e1","values":7}})");
    const std::vector<Json> lines = lines_of(path);
    REQUIRE(lines.size() == 3);
    const Json answer = lines[0].at("message");
    CHECK(answer.dump().find("s3cr3t") == std::string::npos);
    CHECK(answer.at("params").at("values").at("key") == "(not in the trace)");
    CHECK(answer.at("params").at("values").at("site") == "eu");
    CHECK(answer.at("params").at("values").at("more") == Json::array({"a"}));
    CHECK(answer.at("params").at("action") == "accept");
    CHECK(answer.at("id") == 1);
    CHECK(lines[1].at("message").at("params").at("values").at("key") == "s3cr3t");
}

TEST_CASE("the value of a secret is not in the trace, and where else it is to be found is") {
    const TempFolder folder;
    const std::string path = folder.path / "trace.jsonl";
    FakeClock clock;
    Trace trace(clock, path, is_key);
    const std::string params = R"("params":{"name":"A","value":"s3cr3t"})";
    trace.write(1, "in", R"({"id":1,"method":"secret\/set",)" + params + "}");
    trace.write(1, "in", R"({"id":2,"method":"secret/other",)" + params + "}"); // the control
    trace.write(1, "in", R"({"id":3,"method":"secret/set","params":{"name":"A","file":".env"}})");
    trace.write(1, "in", R"({"id":4,"method":"secret/set"})");
    const std::vector<Json> lines = lines_of(path);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].at("message").at("params") == Json{{"name", "A"}, {"value", "(not in the trace)"}});
    CHECK(lines[1].at("message").at("params").at("value") == "s3cr3t");
    CHECK(lines[2].at("message").at("params").at("file") == ".env");
}
