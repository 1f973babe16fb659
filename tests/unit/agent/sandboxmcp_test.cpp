#include "base/error.hpp"
#include "base/hash.hpp"
#include "sandboxmcp_runs.hpp"
#include "sandboxmcp_settings.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::agent;

namespace {

SandboxmcpRun run_of(const std::string& id, std::size_t bytes) {
    SandboxmcpRun run;
    run.request_id = id;
    run.artifacts.emplace_back();
    run.artifacts.back().content = std::string(bytes, 'x');
    return run;
}

} // namespace

TEST_CASE("the latest fifty requests are known, and all are counted") {
    SandboxmcpRuns runs;
    for (int i = 0; i < 60; ++i) {
        runs.add(run_of(std::to_string(i), 1));
    }
    CHECK(runs.all().size() == 50);
    CHECK(runs.all().front().request_id == "59");
    CHECK(runs.find("10").request_id == "10");
    CHECK_THROWS_AS(runs.find("9"), Error);
    CHECK(runs.count() == 60);
}

TEST_CASE("large content makes room, and the latest is kept whatever its size") {
    constexpr std::size_t megabyte = std::size_t{1} << 20;
    SandboxmcpRuns runs;
    runs.add(run_of("a", 5 * megabyte));
    runs.add(run_of("b", 5 * megabyte));
    runs.add(run_of("c", 5 * megabyte));
    CHECK(runs.all().size() == 3);
    runs.add(run_of("d", 5 * megabyte));
    CHECK(runs.all().size() == 3);
    CHECK_THROWS_AS(runs.find("a"), Error);
    runs.add(run_of("e", 20 * megabyte));
    CHECK(runs.all().size() == 1);
    CHECK(runs.all().front().request_id == "e");
}

TEST_CASE("data that was displayed is an artifact, with the hash of its bytes") {
    Streams streams;
    streams.data.push_back({{"text/plain", RawJson::parse("\"x\"")}, {"image/png", RawJson::parse("\"aGVsbG8=\"")}});
    streams.data.push_back({{"application/json", RawJson::parse("{\"a\":1}")}});
    const std::vector<SandboxmcpArtifact> artifacts = artifacts_of(streams);
    REQUIRE(artifacts.size() == 2);
    CHECK(artifacts[0].name == "output-1.png");
    CHECK(artifacts[0].size == 5);
    CHECK(artifacts[0].sha256 == sha256("hello"));
    CHECK(artifacts[1].name == "output-2.json");
    CHECK(artifacts[1].sha256 == sha256("{\"a\":1}"));
}

TEST_CASE("settings of sandboxmcp") {
    const SandboxmcpSettings usual = read_sandboxmcp_settings({{"SANDBOXMCP_BACKEND", "process"}});
    CHECK(usual.timeout_seconds == 60);
    CHECK(usual.max_concurrent == 4);
    CHECK_FALSE(usual.memory_bytes);
    const SandboxmcpSettings own = read_sandboxmcp_settings(
        {{"SANDBOXMCP_TIMEOUT", "5"}, {"SANDBOXMCP_MAX_CONCURRENT", "2"}, {"SANDBOXMCP_MAX_RAM_MB", "512"}});
    CHECK(own.timeout_seconds == 5);
    CHECK(own.max_concurrent == 2);
    CHECK(own.memory_bytes == 512U << 20);
    CHECK_THROWS_AS(read_sandboxmcp_settings({{"SANDBOXMCP_MAX_RAM_MB", "512m"}}), Error);
}
