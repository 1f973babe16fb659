#include "config_inputs.hpp"
#include "tools/config.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace cellgate;
using tools::ServerSpec;

namespace {

const tools::GivenValues given = {{}, {{"API", "${TOKEN} and more"}}};
const Environment environment = {{"PATH", "/usr/bin:/bin"}, {"TOKEN", "t0k3n"}};

ServerSpec server(std::string command, std::vector<std::string> args = {}) {
    ServerSpec spec;
    spec.name = "s";
    spec.config.command = std::move(command);
    spec.config.args = std::move(args);
    return spec;
}

std::string identity(const ServerSpec& spec) {
    return tools::describe(spec, "/project", environment).identity;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a secret is put into variables and headers, and shown as it is written") {
    ServerSpec spec = server("sh");
    spec.source = protocol::ToolServerSource::workspace_file;
    spec.config.env = Environment{{"KEY", "is ${secret:API}"}};
    const tools::ServerDescription described = tools::describe(spec, "/project", environment);
    CHECK_FALSE(described.problem);
    CHECK(described.environment == spec.config.env);
    CHECK(tools::named_secrets(spec.config) == std::set<std::string>{"API"});
    CHECK(tools::expand(spec, described, "/project", environment, given).environment.at("KEY") ==
          "is ${TOKEN} and more"); // once
    ServerSpec other = spec;
    other.config.env = Environment{{"KEY", "is ${secret:OTHER}"}};
    CHECK(identity(other) != identity(spec));
    CHECK_THROWS_AS(tools::expand(other, described, "/project", environment, given), Error);
    ServerSpec web;
    web.name = "web";
    web.source = protocol::ToolServerSource::workspace_file;
    web.config.url = "https://example.org/mcp";
    web.config.headers = Environment{{"Authorization", "Bearer ${secret:API}"}};
    ServerSpec other_web = web;
    other_web.config.headers = Environment{{"Authorization", "Bearer ${secret:OTHER}"}};
    CHECK(identity(other_web) != identity(web));
    CHECK(tools::expand_endpoint(web, "/project", environment, given).fields.front().second ==
          "Bearer ${TOKEN} and more");
}

TEST_CASE("a secret in sight of other users is refused before anything starts") {
    ServerSpec in_cwd = server("sh");
    in_cwd.config.cwd = "/${secret:API}";
    for (const ServerSpec& spec : {server("sh", {"--key=${secret:API}"}), server("${secret:API}"), in_cwd}) {
        const std::optional<Error> problem = tools::describe(spec, "/project", environment).problem;
        REQUIRE(problem);
        CHECK(has(problem->message, "its command line names the secret API"));
        CHECK(has(problem->hint, R"("env" or "headers")"));
    }
    ServerSpec control = server("sh");
    control.config.env = Environment{{"KEY", "${secret:API}"}};
    CHECK_FALSE(tools::describe(control, "/project", environment).problem);
}
