#include "egress/connection_source.hpp"

#include <doctest/doctest.h>

using namespace cellgate::egress;

TEST_CASE("the bridge's report of a program is parsed") {
    const ConnectionSource curl = read_source("48213 41:40 40:2\ncurl -s\nhttp://example.org/");
    CHECK(curl.socket == 48213);
    REQUIRE(curl.starts.size() == 2);
    CHECK(curl.starts[0].process == 41);
    CHECK(curl.starts[0].thread == 40);
    CHECK(curl.starts[1].process == 40);
    CHECK(curl.starts[1].thread == 2);
    CHECK(shown_program(curl, "the kernel")->starts_with("curl -s"));
    CHECK_FALSE(curl.is_command);

    const ConnectionSource kernel = read_source("command 48214\npython3");
    CHECK(kernel.starts.empty());
    CHECK(shown_program(kernel, "the kernel") == "the kernel (python3)");
    CHECK_FALSE(shown_program(read_source(""), "the kernel"));
}

TEST_CASE("what is not as the bridge says it is nothing but text") {
    for (const char* text : {"curl", "command 7 \ncurl", "command\ncurl", "-7\ncurl", "0\ncurl", "7 41\ncurl",
                             "7 41:\ncurl", "7 41:2x\ncurl", "99999999999999999999\ncurl", "7  41:2\ncurl", "\n\n"}) {
        CAPTURE(text);
        const ConnectionSource source = read_source(text);
        CHECK_FALSE(source.socket);
        CHECK(source.starts.empty());
        CHECK_FALSE(source.is_command);
        CHECK_FALSE(source.program.empty());
    }
}
