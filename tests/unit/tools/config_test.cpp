#include "json_with_comments.hpp"
#include "near_miss.hpp"
#include "oauth_settings.hpp"
#include "tools/config.hpp"
#include "tools_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace tools_fixture;
using tools::ServerSpec;

namespace {

ServerSpec server(std::string command, std::vector<std::string> args = {}) {
    ServerSpec spec;
    spec.name = "s";
    spec.config.command = std::move(command);
    spec.config.args = std::move(args);
    return spec;
}

std::string problem_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        CHECK((error.code == ErrorCode::config_invalid || error.code == ErrorCode::tool_server_failed));
        return error.message + " / " + error.hint;
    }
    return "none";
}

const tools::GivenValues given = {{{"key", "${TOKEN} of the user"}}, {}};
const Environment environment = {{"PATH", "/nowhere:relative:/usr/bin:/bin"},
                                 {"HOME", "/home/ada"},
                                 {"TOKEN", "t0k3n"},
                                 {"EMPTY", ""},
                                 {"LOOP", "${TOKEN}"},
                                 {"LD_PRELOAD", "/x.so"}};

std::string identity(const ServerSpec& spec) {
    return tools::describe(spec, "/project", environment).identity;
}

std::vector<std::string> expanded(const ServerSpec& spec) {
    return tools::expand(spec, tools::describe(spec, "/project", environment), "/project", environment, given).argv;
}

} // namespace

TEST_CASE("both shapes of configuration files are read, with comments") {
    const tools::ConfigFile file = tools::parse_config(R"(// the servers
{
  "inputs": [{"id": "key", "type": "promptString"}], /* asked for */
  "servers": {"a": {"type": "stdio", "command": "npx", "args": ["-y", "x//y", "/*z*/",], "env": {"K": "${input:key}"}}},
  "mcpServers": {"b": {"type": "http", "url": "https://example.org/mcp", "headers": {"X": "y"},},},
})",
                                                       "/w/.vscode/mcp.json");
    CHECK(file.problems.empty());
    REQUIRE(file.servers.size() == 2);
    CHECK(file.servers[0].name == "a");
    CHECK(file.servers[0].config.args == std::vector<std::string>{"-y", "x//y", "/*z*/"});
    CHECK(file.servers[0].source == protocol::ToolServerSource::workspace_file);
    CHECK(file.servers[0].file == "/w/.vscode/mcp.json");
    REQUIRE(file.servers[0].config.inputs.value().size() == 1);
    CHECK(file.servers[0].config.inputs->front().id == "key");
    CHECK_FALSE(file.servers[1].config.inputs); // which names none
    CHECK(file.servers[1].config.url == "https://example.org/mcp");
}

TEST_CASE("one server that cannot be used does not take the others with it") {
    struct Case {
        const char* server;
        const char* problem;
    };
    for (const Case& each : {
             Case{R"("x":{})", "found neither"},
             Case{R"("x":{"command":"a","url":"http://b"})", "found both"},
             Case{R"("x":{"command":""})", "an empty text"},
             Case{R"("x":{"command":["a"]})", "x.command: expected a string"},
             Case{R"("x":{"command":"a","type":"http"})", "beside a command"},
             Case{R"("x":{"command":"a\u0000b"})", "without NUL"},
             Case{R"("x":{"command":"a","args":["\u0000"]})", "without NUL"},
             Case{R"("x":{"command":"a","env":{"A=B":"c"}})", "the name of a variable"},
             Case{R"("x":{"command":"a","envFile":".env"})", "envFile is not supported"},
             Case{R"("x":{"url":"file:///etc/passwd"})", "starts with http"},
             Case{R"("x":{"url":"http://a","type":"stdio"})", "beside a URL"},
             Case{R"("host":{"command":"a"})", "belongs to the built-in server"},
             Case{R"("kernel":{"command":"a"})", "stands for a kernel"},
             Case{R"("":{"command":"a"})", "a name of 1 to 128"},
             Case{R"("a\u001b[2J":{"command":"a"})", "without control characters"},
             Case{R"("x":7)", "expected an object"},
             Case{R"("ok":{"command":"b"})", "the file names it twice"},
         }) {
        CAPTURE(each.server);
        const tools::ConfigFile file = tools::parse_config(
            std::string(R"({"servers":{"ok":{"command":"a"}},"mcpServers":{)") + each.server + "}}", "/w/.mcp.json");
        REQUIRE(file.servers.size() == 1);
        CHECK(file.servers[0].config.command == "a");
        REQUIRE(file.problems.size() == 1);
        CHECK_MESSAGE(has(file.problems[0], each.problem), file.problems[0]);
    }
}

TEST_CASE("a server gets the inputs that it names, and an input that cannot be asked for is a problem of its servers") {
    struct Case {
        const char* inputs;
        const char* problem;
    };
    for (const Case& each : {
             Case{R"([{"id":"key","type":"promptString","password":true},{"id":"b","type":"command"}])", ""},
             Case{R"([{"id":"key","type":"pickString","options":["x"]},{"id":"key","type":"command"}])", ""},
             Case{R"([])", R"(it needs the input "key", which "inputs" does not have / Add it)"},
             Case{R"([{"id":"Key","type":"promptString"}])", R"("inputs" does not have)"},
             Case{R"([{"id":"key","type":"command","command":"x"}])", "which only VS Code can run"},
             Case{R"([{"id":"key","type":"pickString"}])", "to have options to pick from"},
         }) {
        CAPTURE(each.inputs);
        const tools::ConfigFile file = tools::parse_config(
            std::string(R"({"servers":{"a":{"url":"https://a","headers":{"A":"Bearer ${input:key}"}},)") +
                R"("b":{"command":"b"}},"inputs":)" + each.inputs + "}",
            "/w/.vscode/mcp.json");
        CHECK(file.problems.empty());
        REQUIRE(file.servers.size() == 2);
        CHECK_FALSE(file.servers[1].config.inputs);
        CHECK_FALSE(tools::describe(file.servers[1], "/project", environment).problem);
        const tools::ServerDescription described = tools::describe(file.servers[0], "/project", environment);
        CHECK(described.headers == Environment{{"A", "Bearer ${input:key}"}}); // which is what a user agrees to
        const std::optional<Error>& problem = described.problem;
        CHECK_MESSAGE(has(problem ? problem->message + " / " + problem->hint : "", each.problem), each.inputs);
        CHECK(problem.has_value() == (std::string(each.problem) != ""));
    }
}

TEST_CASE("inputs that cannot be read are a problem of the file, and its servers stay") {
    for (const char* broken : {R"({})", R"([7])", R"([{"id":"key"}])", R"([{"id":"key","type":"askForIt"}])",
                               R"([{"id":"key","type":"pickString","options":[]}])"}) {
        CAPTURE(broken);
        const tools::ConfigFile file = tools::parse_config(
            std::string(R"({"inputs":)") + broken + R"(,"servers":{"a":{"command":"${input:key}"}}})", "/w/mcp.json");
        CHECK(file.problems.size() == 1);
        REQUIRE(file.servers.size() == 1);
        CHECK(tools::describe(file.servers[0], "/project", environment).problem);
    }
}

TEST_CASE("inputs are for what users say, and for nothing that is read before they are asked") {
    ServerSpec spec = server("sh");
    spec.config.inputs = std::vector<protocol::ServerInput>{};
    CHECK_NOTHROW(tools::require_usable(spec));
    spec.source = protocol::ToolServerSource::agent;
    CHECK(has(problem_of([&] { tools::require_usable(spec); }), "no \"inputs\" in what an agent names"));
    spec.source = protocol::ToolServerSource::user;
    spec.config.inputs->emplace_back().id = "key";
    spec.config.sandbox.emplace();
    spec.config.sandbox->isolated = true;
    spec.config.sandbox->config_file = "${input:key}";
    const std::optional<Error> problem = tools::describe(spec, "/project", environment).problem;
    REQUIRE(problem);
    CHECK(has(problem->message, "${input:key} is not supported"));
}

TEST_CASE("a field that is nearly one of ours is an error that names it") {
    for (const auto& [found, meant] : std::initializer_list<std::pair<const char*, const char*>>{
             {"agrs", "args"},      {"arg_s", "args"},     {"argss", "args"},      {"Command", "command"},
             {"comand", "command"}, {"header", "headers"}, {"Headers", "headers"}, {"environment", "env"},
             {"ENV", "env"},        {"arguments", "args"}, {"httpUrl", "url"},     {"serverUrl", "url"},
             {"URL", "url"},        {"tpye", "type"},      {"input", "inputs"},    {"root", "roots"},
             {"OAuth", "oauth"},    {"sandbx", "sandbox"}, {"cmd", "command"},     {"workingDirectory", "cwd"},
         }) {
        CAPTURE(found);
        CHECK(tools::near_miss(found) == meant);
    }
    for (const char* field :
         {"command",      "args",        "env",  "cwd",      "url",         "headers",     "oauth",   "roots",
          "inputs",       "sandbox",     "type", "disabled", "autoApprove", "alwaysAllow", "timeout", "gallery",
          "version",      "description", "dev",  "envFile",  "transport",   "tools",       "trust",   "includeTools",
          "excludeTools", "auth",        "name", "icon",     "enabled",     "metadata",    "",        "e"}) {
        CAPTURE(field);
        CHECK_FALSE(tools::near_miss(field));
    }
    const tools::ConfigFile file = tools::parse_config(
        R"({"servers":{"a":{"command":"x","agrs":["y"]},"b":{"Command":"x"},"c":{"command":"x","dev":{},"timeout":9}}})",
        "/w/.mcp.json");
    REQUIRE(file.servers.size() == 1);
    CHECK(file.servers[0].name == "c");
    REQUIRE(file.problems.size() == 2);
    CHECK_MESSAGE(has(file.problems[0], R"("a" cannot be used: expected "args", found "agrs")"), file.problems[0]);
    CHECK_MESSAGE(has(file.problems[1], R"(expected "command", found "Command")"), file.problems[1]);
}

TEST_CASE("a file that is no configuration is refused whole") {
    for (const char* text : {"", "{", "[]", R"({"servers":{},"servers":{}})", "{\"a\":\"\xff\"}", "/* {"}) {
        CAPTURE(text);
        CHECK(problem_of([&] { tools::parse_config(text, "/w/.mcp.json"); }) != "none");
    }
    std::string deep;
    for (int level = 0; level < 100'000; ++level) {
        deep += R"({"a":)";
    }
    CHECK(problem_of([&] { tools::parse_config(deep, "/w/.mcp.json"); }) != "none");
}

TEST_CASE("both files of a workspace count, the first one first, and odd ones do no harm") {
    TempFolder folder;
    CHECK(tools::read_workspace_config(folder.path).servers.empty());
    write_text(folder.path / ".mcp.json", R"({"mcpServers":{"a":{"command":"first"}}})");
    write_text(folder.path / ".vscode/mcp.json", R"({"servers":{"a":{"command":"second"},"b":{"command":"b"}}})");
    tools::ConfigFile file = tools::read_workspace_config(folder.path);
    REQUIRE(file.servers.size() == 2);
    CHECK(file.servers[0].config.command == "first");
    CHECK(file.servers[1].name == "b");
    CHECK(file.problems.size() == 1);

    fs::remove(folder.path / ".mcp.json");
    REQUIRE(::mkfifo((folder.path / ".mcp.json").c_str(), 0600) == 0); // opening it would wait for ever
    file = tools::read_workspace_config(folder.path);
    CHECK(file.servers.size() == 2);
    REQUIRE(file.problems.size() == 1);
    CHECK(has(file.problems[0], "to be a file"));

    write_text(folder.path / ".vscode/mcp.json", std::string(2 << 20, ' '));
    file = tools::read_workspace_config(folder.path);
    CHECK(file.servers.empty());
    CHECK(has(file.problems.at(1), "at most"));
}

TEST_CASE("a user is shown the resolved program, and variables as they are written") {
    ServerSpec spec = server("sh", {"${workspaceFolder}/x", "${TOKEN}", "${env:OTHER}"});
    spec.config.env = Environment{{"KEY", "${THIRD:-d}"}, {"LD_PRELOAD", "./evil.so"}};
    const tools::ServerDescription described = tools::describe(spec, "/project", environment);
    CHECK(described.command == std::vector<std::string>{"/usr/bin/sh", "/project/x", "${TOKEN}", "${env:OTHER}"});
    CHECK(described.cwd == "/project");
    CHECK(described.environment_names == std::vector<std::string>{"KEY", "LD_PRELOAD", "OTHER", "THIRD", "TOKEN"});
    // Values that the user gave are not shown; those of a file that came with the workspace are, as it has them.
    CHECK_FALSE(described.environment);
    spec.source = protocol::ToolServerSource::workspace_file;
    CHECK(tools::describe(spec, "/project", environment).environment == spec.config.env);

    spec = server("./tool/../run");
    spec.config.cwd = "sub";
    CHECK(tools::describe(spec, "/project", environment).command.front() == "/project/sub/run");
    CHECK(tools::describe(spec, "/project", environment).cwd == "/project/sub");
    CHECK(tools::describe(server("no-such-program"), "/project", environment).command.front() == "no-such-program");
}

TEST_CASE("a program in the workspace is another one once its bytes have changed") {
    const TempFolder temp_folder;
    const std::string folder = temp_folder.path;
    const std::string program = folder + "/server.py";
    const auto identity_now = [&folder](std::vector<std::string> arguments) {
        return tools::describe(server("sh", std::move(arguments)), folder, environment).identity;
    };
    std::ofstream(program) << "print(1)";
    const std::string before = identity_now({"server.py"});
    CHECK(before == identity_now({"server.py"}));
    std::filesystem::create_symlink(program, folder + "/link.py");
    const std::string by_link = identity_now({"link.py"});
    const std::string elsewhere = identity_now({"/etc/hostname"});
    const std::string folder_alone = identity_now({"."});
    std::ofstream(program) << "print(2)";
    CHECK(before != identity_now({"server.py"}));
    CHECK(by_link != identity_now({"link.py"}));
    CHECK(elsewhere == identity_now({"/etc/hostname"}));
    CHECK(folder_alone == identity_now({"."}));
    // What a program works on may change.
    std::ofstream(folder + "/data.db") << "1";
    const std::string with_data = identity_now({"--db", "data.db"});
    std::ofstream(folder + "/data.db") << "2";
    CHECK(with_data == identity_now({"--db", "data.db"}));
    // A pipe in its place neither holds us up nor passes.
    std::filesystem::remove(program);
    REQUIRE(::mkfifo(program.c_str(), 0600) == 0);
    CHECK_THROWS_AS(identity_now({"server.py"}), Error);
}

TEST_CASE("the identity tells servers apart by everything that a user agreed to, and by nothing else") {
    const ServerSpec base = server("sh", {"-c", "x"});
    CHECK(identity(base) == identity(server("/usr/bin/sh", {"-c", "x"})));
    CHECK(identity(base) != identity(server("sh", {"-cx"})));
    CHECK(identity(base) != identity(server("sh", {"-c", "x", ""})));
    CHECK(identity(server("sh", {"a", "b"})) != identity(server("sh", {"1:b"})));
    ServerSpec changed = base;
    changed.config.cwd = "/tmp";
    CHECK(identity(base) != identity(changed));
    changed = base;
    changed.config.env = Environment{{"A", "1"}};
    CHECK(identity(base) != identity(changed));
    ServerSpec rotated = changed;
    rotated.config.env = Environment{{"A", "2"}};
    CHECK(identity(changed) == identity(rotated)); // a user's own secret may change
    changed.source = rotated.source = protocol::ToolServerSource::workspace_file;
    CHECK(identity(changed) != identity(rotated)); // what a file of the workspace sets may be another program
    ServerSpec url;
    url.config.url = "https://a";
    ServerSpec other_url = url;
    other_url.config.url = "https://b";
    CHECK(identity(url) != identity(other_url));
    ServerSpec with_header = url;
    with_header.config.headers = Environment{{"X-Key", "1"}};
    ServerSpec other_value = with_header;
    other_value.config.headers = Environment{{"X-Key", "2"}};
    CHECK(identity(url) != identity(with_header));
    CHECK(identity(with_header) == identity(other_value)); // a user's own secret may change
    with_header.source = other_value.source = protocol::ToolServerSource::workspace_file;
    CHECK(identity(with_header) != identity(other_value));
}

TEST_CASE("what is put into a URL and its headers is not shown, and comes from the environment") {
    ServerSpec spec;
    spec.name = "web";
    spec.source = protocol::ToolServerSource::workspace_file;
    spec.config.url = "https://example.org/${HOME}/mcp";
    spec.config.headers = Environment{{"Authorization", "Bearer ${TOKEN:-none}"}};
    const auto described = tools::describe(spec, "/project", environment);
    CHECK(described.url == "https://example.org/${HOME}/mcp");
    CHECK(described.header_names == std::vector<std::string>{"Authorization"});
    CHECK(described.headers == spec.config.headers);
    Environment with_token = environment;
    with_token["TOKEN"] = "secret";
    Environment without = environment;
    without.erase("TOKEN");
    const mcp::HttpEndpoint endpoint = tools::expand_endpoint(spec, "/project", with_token, {});
    CHECK(endpoint.url == "https://example.org/" + environment.at("HOME") + "/mcp");
    CHECK(endpoint.fields == async::HttpFields{{"Authorization", "Bearer secret"}});
    CHECK(tools::expand_endpoint(spec, "/project", without, {}).fields.front().second == "Bearer none");
    spec.source = protocol::ToolServerSource::user;
    CHECK_FALSE(tools::describe(spec, "/project", environment).headers); // a user's values are not shown
}

TEST_CASE("what a configuration says about a login") {
    ServerSpec spec;
    spec.name = "web";
    spec.config.url = "https://example.org/mcp";
    spec.config.oauth = protocol::OAuthConfig{};
    spec.config.oauth->client_id = "mine";
    spec.config.oauth->client_secret = "${SECRET_OF_THE_USER}";
    spec.config.oauth->scopes = std::vector<std::string>{"a"};
    spec.config.oauth->callback_port = 4321;
    Environment with_secret = environment;
    with_secret["SECRET_OF_THE_USER"] = "secret";
    spec.source = protocol::ToolServerSource::user;
    CHECK_NOTHROW(tools::require_usable(spec));
    const tools::OAuthSettings settings = tools::expand_oauth(spec, "/project", with_secret, {});
    CHECK(settings.client_id == "mine");
    CHECK(settings.client_secret == "secret");
    CHECK(settings.scopes == std::vector<std::string>{"a"});
    CHECK(settings.callback_port == 4321);
    CHECK_FALSE(settings.client_credentials);
    for (const auto source : {protocol::ToolServerSource::workspace_file, protocol::ToolServerSource::agent}) {
        spec.source = source; // it would send the user's secret to whom the server names
        CHECK(has(problem_of([&] { tools::require_usable(spec); }), "without variables"));
    }
    spec.config.oauth->client_secret = "in the file";
    CHECK_NOTHROW(tools::require_usable(spec));
    const std::string before = identity(spec);
    spec.config.oauth->client_secret = "another";
    CHECK(identity(spec) != before);
    spec.config.oauth->client_id.reset();
    CHECK(has(problem_of([&] { tools::require_usable(spec); }), "expected a clientId"));
    ServerSpec program = server("/bin/cat", {});
    program.config.oauth = protocol::OAuthConfig{};
    CHECK(has(problem_of([&] { tools::require_usable(program); }), "beside a url only"));
}

TEST_CASE("that a server runs in the sandbox, and by what settings, is part of its identity") {
    const TempFolder folder;
    const auto write = [&](const std::string& host) {
        write_text(folder.path / "s.json", R"({"network":{"allowedDomains":[)" + host +
                                               R"(],"deniedDomains":[]},"filesystem":{"denyRead":[],)"
                                               R"("allowWrite":["."],"denyWrite":[]}})");
    };
    const std::string file = (folder.path / "s.json").string();
    write("");
    const ServerSpec plain = server("/bin/cat", {"x"});
    ServerSpec boxed = plain;
    boxed.config.sandbox = protocol::SandboxChoice{true, std::nullopt, std::nullopt};
    ServerSpec outside = plain;
    outside.config.sandbox = protocol::SandboxChoice{false, std::nullopt, std::nullopt};
    ServerSpec by_file = plain;
    by_file.config.sandbox = protocol::SandboxChoice{true, std::nullopt, file};
    const ServerSpec by_srt = server("srt", {"-s", file, "/bin/cat", "x"});
    CHECK(identity(outside) == identity(plain));
    CHECK(identity(boxed) != identity(plain));
    CHECK(identity(by_file) != identity(boxed));
    CHECK(identity(by_srt) == identity(by_file));
    CHECK(expanded(by_srt) == expanded(plain));
    const std::string before = identity(by_file);
    write("\"example.org\"");
    CHECK(identity(by_file) != before);
    CHECK(tools::describe(by_file, "/project", environment).sandbox->settings->network.allowed_domains.size() == 1);

    const ServerSpec srts_own = server("srt", {"/bin/cat"});
    CHECK(tools::describe(srts_own, "/project", environment).sandbox->settings->allow_write.empty());
    CHECK(tools::names_settings(srts_own));
    CHECK(tools::names_settings(by_file));
    CHECK_FALSE(tools::names_settings(boxed));
}

TEST_CASE("a URL in the place of a command is refused, with where it belongs") {
    CHECK(has(problem_of([] { tools::require_usable(server("https://example.org/mcp")); }), "found a URL"));
}

TEST_CASE("a server that asks for the sandbox in a way that is not supported is refused") {
    ServerSpec variable = server("${HOME}/serve");
    CHECK(problem_of([&] { tools::require_usable(variable); }) == "none");
    variable.config.sandbox = protocol::SandboxChoice{};
    CHECK(has(problem_of([&] { tools::require_usable(variable); }), "without variables"));
    ServerSpec both = server("srt", {"/bin/cat"});
    both.config.sandbox = protocol::SandboxChoice{};
    CHECK(has(problem_of([&] { tools::require_usable(both); }), "Leave one of them out"));
    ServerSpec missing = server("/bin/cat");
    missing.config.sandbox = protocol::SandboxChoice{true, std::nullopt, "/nowhere/s.json"};
    const std::optional<Error> problem = tools::describe(missing, "/project", environment).problem;
    REQUIRE(problem);
    CHECK(has(problem->message, "the tool server \"s\" cannot be used: "));
    CHECK(has(problem->message, "/nowhere/s.json"));
    ServerSpec elsewhere;
    elsewhere.name = "s";
    elsewhere.config.url = "https://example.org/mcp";
    elsewhere.config.sandbox = protocol::SandboxChoice{};
    CHECK(has(problem_of([&] { tools::require_usable(elsewhere); }), "runs elsewhere"));
}

TEST_CASE("variables are put in when the server starts") {
    CHECK(expanded(server("sh", {"${TOKEN}", "a${HOME}b", "${workspaceFolder}", "${env:TOKEN}"})) ==
          std::vector<std::string>{"/usr/bin/sh", "t0k3n", "a/home/adab", "/project", "t0k3n"});
    CHECK(expanded(server("sh", {"${NONE:-x y}", "${EMPTY:-z}", "${EMPTY}", "${NONE:-}"})) ==
          std::vector<std::string>{"/usr/bin/sh", "x y", "z", "", ""});
    CHECK(expanded(server("sh", {"${LOOP}"}))[1] == "${TOKEN}"); // once, not again
    for (const char* text : {"$TOKEN", "${", "${}", "${a b}", "${1x}", "$${", "{TOKEN}", "${x.y}"}) {
        CHECK(expanded(server("sh", {text}))[1] == text);
    }
    CHECK(expanded(server("${NONE:-sh}"))[0] == "/usr/bin/sh");
    CHECK(has(problem_of([] { expanded(server("sh", {"${NONE}"})); }), "the variable NONE, which is not set / Set it"));
    CHECK(expanded(server("sh", {"-${input:key}-"}))[1] == "-${TOKEN} of the user-"); // once, too
    CHECK(has(problem_of([] { expanded(server("sh", {"${secret:no-name}"})); }), "${secret:no-name} is not supported"));
    CHECK(has(problem_of([] { expanded(server("sh", {"${input:other}"})); }), "its input \"other\" is not known"));
    CHECK_FALSE(
        tools::describe(server("sh", {"${workspaceFolder}/${NOT_SET}", "$x"}), "/project", environment).problem);
    CHECK(has(problem_of([] { expanded(server("sh", {"${command:x}"})); }), "${command:x} is not supported"));
    CHECK(has(problem_of([] { expanded(server("no-such-program")); }), "there is no program \"no-such-program\""));
}

TEST_CASE("a workspace whose path looks like a variable is just a path") {
    const ServerSpec spec = server("sh", {"${workspaceFolder}"});
    const std::string workspace = "/w/${TOKEN}";
    const tools::ServerDescription described = tools::describe(spec, workspace, environment);
    const tools::ServerCommand command = tools::expand(spec, described, workspace, environment, given);
    CHECK(command.argv[1] == workspace);
    CHECK(command.cwd == workspace);
}

TEST_CASE("a server gets a small environment and what its configuration names") {
    ServerSpec spec = server("sh");
    spec.config.env = Environment{{"KEY", "${TOKEN}"}};
    const tools::ServerCommand command =
        tools::expand(spec, tools::describe(spec, "/project", environment), "/project", environment, given);
    CHECK(command.environment ==
          Environment{{"PATH", environment.at("PATH")}, {"HOME", "/home/ada"}, {"KEY", "t0k3n"}});
}

TEST_CASE("comments are taken out, and nothing else") {
    CHECK(tools::strip_comments(R"({"a":"//x","b":"/*","c":"\"//"})") == R"({"a":"//x","b":"/*","c":"\"//"})");
    CHECK(tools::strip_comments("[1,//x\n2,]") == "[1,   \n2 ]");
    CHECK(tools::strip_comments("[1/*,*/,2]") == "[1     ,2]");
    CHECK(tools::strip_comments("[\",]\",]") == "[\",]\" ]");
    CHECK(tools::strip_comments("[1,,]") == "[1, ]"); // still broken
    CHECK(tools::strip_comments("\"x") == "\"x");
}
