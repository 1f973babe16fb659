#include "launch/relays.hpp"

#include <doctest/doctest.h>

using namespace cellgate::sandbox;

namespace {

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("listed loopback addresses with a port are relayed on both of the sandbox's own") {
    struct Row {
        Texts hosts;
        Texts arguments;
        std::string ports;
    };
    const Row rows[] = {
        {{"localhost:5432"}, {"relay=4:5432:localhost", "relay=6:5432:localhost"}, "5432"},
        {{"LOCALHOST.:5432"}, {"relay=4:5432:localhost", "relay=6:5432:localhost"}, "5432"},
        {{"127.0.0.1:5432"}, {"relay=4:5432:127.0.0.1", "relay=6:5432:127.0.0.1"}, "5432"},
        {{"[::1]:5432"}, {"relay=4:5432:::1", "relay=6:5432:::1"}, "5432"},
        {{"127.0.0.1:5432", "[::1]:5432"}, {"relay=4:5432:127.0.0.1", "relay=6:5432:::1"}, "5432"},
        {{"[::1]:5432", "localhost:5432"}, {"relay=4:5432:localhost", "relay=6:5432:::1"}, "5432"},
        {{"localhost:8000", "localhost:1024", "localhost:8000"},
         {"relay=4:1024:localhost", "relay=6:1024:localhost", "relay=4:8000:localhost", "relay=6:8000:localhost"},
         "1024 8000"},
        {{"localhost", "127.0.0.1", "[::1]", "::1"}, {}, ""}, // no port
        {{"example.org:5432", "10.0.0.5:5432", "app.localhost:5432", "*.app.localhost:5432", "127.0.0.2:5432"}, {}, ""},
        {{}, {}, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.hosts);
        const Relays relays = relays_of(row.hosts);
        CHECK(relays.arguments == row.arguments);
        CHECK(relays.ports == row.ports);
        CHECK(relays.notices.empty());
    }
}

TEST_CASE("a port at which a sandbox cannot listen is a notice") {
    const Relays relays = relays_of({"localhost:80", "localhost:3128", "[::1]:1023", "localhost:80", "localhost:8000",
                                     "localhost:31281", "localhost:31286"});
    CHECK(relays.ports == "8000 31286");
    CHECK(relays.arguments.size() == 4);
    REQUIRE(relays.notices.size() == 4);
    CHECK(relays.notices[0].starts_with("localhost:80 is not relayed: no program in a sandbox can listen below"));
    CHECK(relays.notices[1].starts_with("localhost:3128 is not relayed: the sandbox's own proxy"));
    CHECK(relays.notices[2].starts_with("[::1]:1023 is not relayed"));
    CHECK(relays.notices[3].starts_with("localhost:31281 is not relayed: kernels listen there"));
}
