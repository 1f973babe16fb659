#include "base/error.hpp"
#include "srt_command.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using Words = std::vector<std::string>;

TEST_CASE("each form of srt's command line is the command that it would run, and its settings") {
    struct Case {
        Words argv;
        std::optional<std::string> settings;
        Words runs;
    };
    for (const Case& each : std::vector<Case>{
             {{"srt", "node", "-s", "x"}, std::nullopt, {"node", "-s", "x"}},
             {{"srt", "-s", "f.json", "npx", "-y", "p"}, "f.json", {"npx", "-y", "p"}},
             {{"srt", "--settings", "f.json", "--", "-x"}, "f.json", {"-x"}},
             {{"srt", "--settings=f.json", "-d", "a"}, "f.json", {"a"}},
             {{"srt", "--debug", "-c", "a | b"}, std::nullopt, {"bash", "-c", "a | b"}},
             {{"npx", "-y", "@anthropic-ai/sandbox-runtime", "-s", "f", "a"}, "f", {"a"}},
             {{"npx", "--yes", "@anthropic-ai/sandbox-runtime@0.0.83", "a"}, std::nullopt, {"a"}},
         }) {
        const std::optional<tools::SrtCommand> found = tools::parse_srt_command(each.argv);
        REQUIRE(found);
        CHECK(found->settings == each.settings);
        CHECK(found->argv == each.runs);
    }
}

TEST_CASE("what is not srt by its name is left alone") {
    for (const Words& argv : std::vector<Words>{{"/opt/bin/srt", "-s", "x"},
                                                {"npx", "-y", "@anthropic-ai/sandbox-runtime-x", "a"},
                                                {"npx", "-y"},
                                                {"npx", "-p", "@anthropic-ai/sandbox-runtime", "srt"},
                                                {"sh", "-c", "srt x"}}) {
        CHECK_FALSE(tools::parse_srt_command(argv));
    }
}

TEST_CASE("srt's command line is taken whole or not at all") {
    for (const Words& argv : std::vector<Words>{{"srt"},
                                                {"srt", "-s"},
                                                {"srt", "-s", "f"},
                                                {"srt", "-c", "a", "b"},
                                                {"srt", "--control-fd", "3", "a"},
                                                {"srt", "-sf", "a"},
                                                {"npx", "@anthropic-ai/sandbox-runtime"}}) {
        CHECK_THROWS_AS(tools::parse_srt_command(argv), Error);
    }
}
