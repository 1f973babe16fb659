#include "display.hpp"
#include "gate_fixture.hpp"
#include "payload.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

using Texts = std::vector<std::string>;
using Pairs = std::map<std::string, std::string>;

gate::ToolCall tool_call() {
    gate::ToolCall call;
    call.server = "files";
    call.tool = "read_file";
    call.arguments = RawJson::parse(R"({ "path":"a" })");
    call.server_identity = "si";
    call.tool_identity = "ti";
    return call;
}

gate::HostCall host_call() {
    gate::HostCall call;
    call.tool = "run_command";
    call.arguments = RawJson::parse(R"({"argv":["git","status"]})");
    call.command = Texts{"/usr/bin/git", "status"};
    call.server_identity = "si";
    call.tool_identity = "ti";
    return call;
}

gate::ServerStart server_start() {
    gate::ServerStart start;
    start.server = "files";
    start.command = {"/usr/bin/npx", "-y", ""};
    start.cwd = "/home/ada/plan";
    start.environment_names = {"HOME", "PATH"};
    start.server_identity = "si";
    return start;
}

gate::ServerStart sandboxed_start() {
    gate::ServerStart start = server_start();
    start.environment = Pairs{{"PATH", "./evil:$PATH"}};
    start.sandbox = true;
    start.settings =
        gate::SandboxSettings{"/home/ada/plan/s.json", RawJson::parse(R"({"filesystem":{"allowRead":["~/x"]}})")};
    start.folders = Texts{"/opt/node"};
    return start;
}

gate::KernelStart kernel_start() {
    gate::KernelStart start;
    start.command = {"/usr/bin/python3"};
    start.cwd = "/home/ada/plan";
    start.sandbox = true;
    start.folders = Texts{};
    start.server_identity = "si";
    return start;
}

gate::KernelStart kernel_start_outside() {
    gate::KernelStart start = kernel_start();
    start.sandbox = false;
    start.folders.reset();
    start.environment = Pairs{{"A", "b"}};
    return start;
}

gate::Connection connection() {
    gate::Connection made;
    made.host = "example.org";
    made.port = 443;
    made.program = "curl";
    return made;
}

gate::Connection connection_of_server() {
    gate::Connection made = connection();
    made.server = "files";
    made.server_identity = "si";
    return made;
}

gate::HttpRequest http_request() {
    gate::HttpRequest made;
    made.server = "files";
    made.tls = true;
    made.host = "api.example.org";
    made.port = 443;
    made.method = "POST";
    made.path = "/repos/ada";
    made.query = "draft=1";
    made.request_headers = Texts{"accept: */*"};
    made.secrets = Texts{"TOKEN"};
    made.body_bytes = 7;
    made.body_sha256 = "ab";
    made.body = "a=1&b=2";
    made.program = "curl";
    made.server_identity = "si";
    return made;
}

gate::Install install() {
    gate::Install made;
    made.command = {"/usr/bin/pip", "install", "numpy"};
    return made;
}

gate::Install install_with_index() {
    gate::Install made = install();
    made.environment_names = Texts{"PIP_INDEX_URL"};
    return made;
}

gate::Output output() {
    gate::Output made;
    made.output_text = "3 letters";
    made.results = Texts{"gmail/list"};
    return made;
}

void change(std::string& text) {
    text += "x";
}
void change(RawJson& json) {
    json = RawJson::parse(R"({"changed":"and longer than what was there"})");
}
void change(Texts& texts) {
    texts.emplace_back("x");
}
void change(Pairs& pairs) {
    pairs["X"] = "x";
}
void change(bool& value) {
    value = !value;
}
void change(std::int64_t& number) {
    ++number;
}
void change(gate::SandboxSettings& settings) {
    change(settings.text);
}
void change(std::optional<protocol::NetworkProtocol>& protocol) {
    protocol = protocol ? std::nullopt : std::optional(protocol::NetworkProtocol::raw);
}
void change(std::optional<protocol::SandboxLauncher>& launcher) {
    launcher = launcher ? std::nullopt : std::optional(protocol::SandboxLauncher::gvisor);
}
template <class T>
void change(std::optional<T>& value) {
    change(value.value());
}

// Changes one member after the other of an action that has all of them.
template <class Alternative>
void check_each_member(const Alternative& sample) {
    for (std::size_t at = 0;; ++at) {
        Alternative changed = sample;
        std::size_t seen = 0;
        std::optional<gate::FieldRole> role;
        gate::for_each_bound(changed, [&]<class Bound>(const Bound& bound) {
            if constexpr (Bound::is_member) {
                if (seen++ == at) {
                    change(bound.value);
                    role = Bound::tag::role;
                }
            }
        });
        if (!role) {
            CHECK(at >= 2);
            return;
        }
        CAPTURE(at);
        const bool hashed = role == gate::FieldRole::name || role == gate::FieldRole::payload;
        const bool counted = role == gate::FieldRole::payload || role == gate::FieldRole::statement;
        CHECK((gate::payload_hash(changed) != gate::payload_hash(sample)) == hashed);
        CHECK((gate::payload_bytes(changed) != gate::payload_bytes(sample)) == counted);
        CHECK((gate::display_lines(changed) != gate::display_lines(sample)) == (role != gate::FieldRole::identity));
        CHECK(to_json(gate::to_protocol(changed)) != to_json(gate::to_protocol(sample)));
    }
}

} // namespace

// The hashes are in the policy files of users: one that changes voids their grants. These were made before the kinds of
// actions had types of their own.
TEST_CASE("the payload's hash of each kind is the one that stored grants have") {
    const auto hash = [](const Action& action) { return gate::payload_hash(action); };
    CHECK(hash(tool_call()) == "0e5b1c3da96b6f857072f6d60c788f8ff08faaf2a1136f5702152791dabdfba1");
    CHECK(hash(host_call()) == "0cbd8fffa81b853f51dc4e6ba7e68d79037d7bf0882e77ff3703958b9868e9e8");
    CHECK(hash(server_start()) == "a3ef3e62a431b7fea7ecf8742d559ad45993fd68d9c42f9caec0f72a345ed6fc");
    CHECK(hash(sandboxed_start()) == "7a32a5edd43f77882df3c6a3fbdb67324b81ed1ec326b84d9393a71b5d541e93");
    CHECK(hash(kernel_start()) == "384fb6ee95cfcaf7161c516b7f483af11e53807897627a5228a8c947124a5a4f");
    CHECK(hash(kernel_start_outside()) == "7348cfa7cb2da6ecff6c9775d734a33e291092ce92f6898577bdc23180885a57");
    CHECK(hash(connection()) == "9ac9adda9c86210c8b4649258ce30f6870a173808fb5ba0f156b5c1efb8fb4c8");
    CHECK(hash(connection_of_server()) == "9f9247ff1208b5468645006ada2897824726bbdbd2be367b084ebba8125706b3");
    CHECK(hash(install()) == "c4f67a59f68103e3a39bd3bfdacbc0c60b43d510fc348b0a56584a87a7140970");
    CHECK(hash(install_with_index()) == "2637d4c1a9cde0b67219154fc04868a907e8eae74ce086c160f56a0a73294bba");
    gate::HostCall without_command = host_call();
    without_command.command.reset();
    CHECK(hash(without_command) == "33271d999e6736676c42356ce80c3f4272fe59a7ba8124f844bc25ea7d1a65c2");
}

TEST_CASE("clients see each kind of action as the protocol has it") {
    const auto json = [](const Action& action) { return to_json(gate::to_protocol(action)); };
    CHECK(
        json(tool_call()) ==
        R"({"kind":"tool","server":"files","tool":"read_file","argumentsText":"{ \"path\":\"a\" }","serverIdentity":"si","toolIdentity":"ti"})");
    CHECK(
        json(host_call()) ==
        R"({"kind":"host","server":"host","tool":"run_command","argumentsText":"{\"argv\":[\"git\",\"status\"]}","command":["/usr/bin/git","status"],"serverIdentity":"si","toolIdentity":"ti"})");
    CHECK(
        json(sandboxed_start()) ==
        R"({"kind":"server","server":"files","command":["/usr/bin/npx","-y",""],"cwd":"/home/ada/plan","environmentNames":["HOME","PATH"],"environment":{"PATH":"./evil:$PATH"},"sandbox":true,"sandboxConfig":"/home/ada/plan/s.json","sandboxSettingsText":"{\"filesystem\":{\"allowRead\":[\"~/x\"]}}","folders":["/opt/node"],"serverIdentity":"si"})");
    CHECK(
        json(kernel_start()) ==
        R"({"kind":"server","server":"kernel","command":["/usr/bin/python3"],"cwd":"/home/ada/plan","environmentNames":[],"sandbox":true,"folders":[],"serverIdentity":"si"})");
    CHECK(
        json(kernel_start_outside()) ==
        R"({"kind":"server","server":"kernel","command":["/usr/bin/python3"],"cwd":"/home/ada/plan","environmentNames":[],"environment":{"A":"b"},"sandbox":false,"serverIdentity":"si"})");
    CHECK(
        json(connection_of_server()) ==
        R"({"kind":"network","server":"files","host":"example.org","port":443,"program":"curl","serverIdentity":"si"})");
    CHECK(
        json(own_call(R"({"command":"npm test"})")) ==
        R"({"kind":"tool","server":"claude","tool":"Bash","argumentsText":"{\"command\":\"npm test\"}","cwd":"/home/ada/plan/src","serverIdentity":"identity of claude","toolIdentity":"definition of Bash"})");
    CHECK(std::holds_alternative<gate::ClientCall>(gate::from_protocol(gate::to_protocol(own_call("{}")))));
    CHECK(json(install_with_index()) ==
          R"({"kind":"install","command":["/usr/bin/pip","install","numpy"],"environmentNames":["PIP_INDEX_URL"]})");
}

TEST_CASE("each member of an action is shown, sent and counted, and hashed unless a grant binds it separately") {
    check_each_member(tool_call());
    check_each_member(host_call());
    check_each_member(sandboxed_start());
    gate::KernelStart kernel = kernel_start();
    kernel.environment = Pairs{{"A", "b"}};
    check_each_member(kernel);
    check_each_member(connection_of_server());
    check_each_member(install_with_index());
    check_each_member(output());
    check_each_member(own_call(R"({"command":"npm test"})"));
    gate::HttpRequest text = http_request(); // which is shown in place of its length
    text.body_bytes.reset();
    CHECK(gate::payload_hash(text) != gate::payload_hash(http_request()));
    gate::HttpRequest bytes = http_request();
    bytes.body.reset();
    CHECK(gate::display_lines(bytes) != gate::display_lines(http_request()));

    gate::ServerStart other_file = sandboxed_start();
    change(other_file.settings->file);
    CHECK(gate::payload_hash(other_file) != gate::payload_hash(sandboxed_start()));
    CHECK(gate::display_lines(other_file) != gate::display_lines(sandboxed_start()));
}

TEST_CASE("what the decision history keeps of an action names it, and has no payload") {
    gate::ServerStart long_one = sandboxed_start();
    CHECK(gate::payload_bytes(long_one) > 0);
    const Action kept = gate::without_payload(long_one);
    CHECK(gate::payload_bytes(kept) == 0);
    CHECK(gate::title_lines(kept) == Texts{"start the tool server files, in the sandbox"});
    CHECK(gate::title_lines(gate::without_payload(connection_of_server())) ==
          Texts{"connect to example.org port 443, for the tool server files"});
}

TEST_CASE("an action that a client asks about is read as it was sent") {
    const std::vector<Action> all{http_request(),    tool_call(),    host_call(),  server_start(),
                                  sandboxed_start(), kernel_start(), connection(), connection_of_server(),
                                  install(),         output()};
    for (const Action& action : all) {
        const protocol::Action sent = gate::to_protocol(action);
        const Action read = gate::from_protocol(sent);
        CHECK(to_json(gate::to_protocol(read)) == to_json(sent));
        CHECK(gate::payload_hash(read) == gate::payload_hash(action));
        protocol::Action anonymous = sent;
        anonymous.server_identity.reset();
        anonymous.tool_identity.reset();
        CHECK(gate::payload_hash(gate::from_protocol(anonymous)) == gate::payload_hash(action));
    }
    protocol::Action without_tool = gate::to_protocol(tool_call());
    without_tool.tool.reset();
    CHECK(error_of([&] { gate::from_protocol(without_tool); }) == ErrorCode::invalid_params);
}

TEST_CASE("an action without a text that its kind needs is not complete") {
    const auto is_refused = [](const Action& action) {
        return error_of([&] { gate::require_complete(action); }) == ErrorCode::internal_error;
    };
    CHECK_FALSE(is_refused(tool_call()));
    CHECK_FALSE(is_refused(kernel_start()));
    CHECK_FALSE(is_refused(connection()));
    CHECK(is_refused(gate::ToolCall()));
    CHECK(is_refused(gate::Connection()));
    CHECK_FALSE(is_refused(http_request()));
    CHECK(is_refused(gate::HttpRequest()));
    CHECK(is_refused(gate::Install()));
    gate::ToolCall anonymous = tool_call();
    anonymous.tool_identity.clear();
    CHECK(is_refused(anonymous));
    gate::KernelStart without_command = kernel_start();
    without_command.command.clear();
    CHECK(is_refused(without_command));
}
