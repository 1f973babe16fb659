#include "base/memory_stream.hpp"
#include "daemon/handshake.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::daemon;

TEST_CASE("handshakes are parsed as they are formatted") {
    CHECK(client_handshake("0.1.0") == "cellgate 0.1.0\n");
    CHECK(parse_client_handshake("cellgate 0.1.0") == "0.1.0");
    const std::string line = sidecar_handshake({"0.2.0", 4711, false});
    CHECK(line == "cellgate 0.2.0 4711 leaving\n");
    const auto handshake = parse_sidecar_handshake(line.substr(0, line.size() - 1));
    REQUIRE(handshake);
    CHECK(handshake->version == "0.2.0");
    CHECK(handshake->pid == 4711);
    CHECK_FALSE(handshake->serving);
    CHECK(parse_sidecar_handshake("cellgate 1 2 serving")->serving);
}

TEST_CASE("an invalid handshake is rejected") {
    for (const char* line : {"", "cellgate", "cellgate ", "cellgate 1 2", "hello 1", "cellgate 1.0\r x"}) {
        CHECK_FALSE(parse_client_handshake(line));
    }
    for (const char* line :
         {"", "cellgate 1 2", "cellgate 1 x serving", "cellgate 1 -2 serving", "cellgate 1 2 waiting",
          "cellgate  2 serving", "cellgate 1 2 serving x", "cellgate 1 99999999999999999999 serving"}) {
        CHECK_FALSE(parse_sidecar_handshake(line));
    }
}

TEST_CASE("versions are ordered by their numbers") {
    CHECK(is_older("0.1.0", "0.2.0"));
    CHECK(is_older("0.9.1", "0.10.0"));
    CHECK(is_older("1.0", "1.0.1"));
    CHECK_FALSE(is_older("0.2.0", "0.2.0"));
    CHECK_FALSE(is_older("1.0", "1.0.0"));
    CHECK_FALSE(is_older("1.0.0", "0.9"));
    CHECK_FALSE(is_older("0.1.0", "nightly"));
    CHECK_FALSE(is_older("nightly", "0.1.0"));
}

namespace {

// What is read of `bytes`, after which the stream ends.
std::optional<std::string> line_of(const std::string& bytes, bool ends) {
    std::optional<std::string> line;
    async::Loop loop;
    auto [ours, theirs] = memory_stream_pair();
    theirs->write(bytes);
    if (ends) {
        theirs->close();
    }
    const auto read = [](async::Loop* on, ByteStream* stream, std::optional<std::string>* out) -> Task<void> {
        *out = co_await read_line(*on, *stream, std::chrono::milliseconds(20));
    };
    loop.run(read(&loop, ours.get(), &line));
    return line;
}

} // namespace

TEST_CASE("one short line is read, and nothing else is waited for") {
    CHECK(line_of("cellgate 1\n", false) == "cellgate 1");
    CHECK_FALSE(line_of("cellgate 1", true));
    CHECK_FALSE(line_of("cellgate 1\nand more", false));
    CHECK_FALSE(line_of(std::string(300, 'x'), false));
    CHECK_FALSE(line_of("cellgate", false)); // and then nothing
}
