#include "base/hash.hpp"
#include "definitions.hpp"
#include "gate/question_lines.hpp"
#include "gate_fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sys/stat.h>

using namespace gate_fixture;

namespace {

std::string definition(const std::string& description) {
    return fmt::format(R"({{"name":"read_file","description":"{}","inputSchema":{{}}}})", description);
}

gate::Request call(const std::string& description, const std::string& name = "read_file") {
    gate::ToolCall action = tool("{}", name);
    action.tool_identity = sha256(definition(description));
    gate::Request request;
    request.action = action;
    request.session_id = "s";
    request.from_code = true;
    request.definition = [description] { return definition(description); };
    return request;
}

using Changes = std::optional<std::vector<std::string>>;

Changes ask_about(Fixture& fixture, const std::string& description, const std::string& name = "read_file") {
    const std::size_t before = fixture.user.requested.size();
    fixture.ask(call(description, name));
    REQUIRE(fixture.user.requested.size() == before + 1);
    return fixture.user.requested.back().definition_changes;
}

Changes change(const std::string& from, const std::string& to) {
    return std::vector<std::string>{" {", fmt::format("-  \"description\": \"{}\"", from),
                                    fmt::format("+  \"description\": \"{}\"", to), "   \"inputSchema\": {}",
                                    "   \"name\": \"read_file\""};
}

std::filesystem::path file_of(const Fixture& fixture, const std::string& description) {
    return fixture.policy / "definitions" / (sha256(definition(description)) + ".json");
}

mode_t mode_of(const std::filesystem::path& path) {
    struct stat status{};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

const RuleSpec any_read = rule(Effect::allow, ActionKind::tool, "files", "read_file");

} // namespace

TEST_CASE("a question shows what changed since a user last allowed the tool, whatever the answer covered") {
    for (const Scope scope : {Scope::once, Scope::execution, Scope::session, Scope::workspace, Scope::always}) {
        Fixture fixture;
        fixture.run_execution("e");
        gate::Request first = call("one");
        first.execution_id = "e";
        fixture.ask(first);
        CHECK(!fixture.user.requested.back().definition_changes);
        fixture.allow(scope);
        CHECK(ask_about(fixture, "two") == change("one", "two"));
        // A no leaves it as it is.
        fixture.deny();
        CHECK(ask_about(fixture, "three") == change("one", "three"));
        fixture.allow();
        CHECK(ask_about(fixture, "four") == change("three", "four"));
        CHECK(!ask_about(fixture, "four", "other_tool"));
    }
}

TEST_CASE("a question about the definition that was allowed shows no change") {
    Fixture fixture;
    ask_about(fixture, "one");
    fixture.allow();
    CHECK(!ask_about(fixture, "one"));
}

TEST_CASE("a call whose turn comes later is compared with what was allowed meanwhile") {
    Fixture fixture;
    ask_about(fixture, "one");
    fixture.allow();
    for (std::size_t i = 0; i < gate::Gate::max_pending_per_session; ++i) {
        CHECK(ask_about(fixture, "two") == change("one", "two"));
    }
    fixture.ask(call("two"));
    fixture.allow();
    CHECK(!fixture.user.requested.back().definition_changes);
}

TEST_CASE("after a restart a question shows what changed since the rule that was stored") {
    for (const Scope scope : {Scope::workspace, Scope::always}) {
        Fixture fixture;
        ask_about(fixture, "one");
        fixture.allow(scope, any_read);
        CHECK(mode_of(file_of(fixture, "one")) == 0600);
        CHECK(mode_of(file_of(fixture, "one").parent_path()) == 0700);
        CHECK(mode_of(fixture.policy) == 0700);
        fixture.restart();
        CHECK(fixture.ask(call("one"))->allowed());
        CHECK(ask_about(fixture, "two") == change("one", "two"));
        fixture.clock.advance(std::chrono::seconds(1));
        fixture.allow(scope, any_read);
        fixture.restart();
        CHECK(ask_about(fixture, "three") == change("two", "three"));
    }
}

TEST_CASE("what was not allowed by a stored rule is forgotten by a restart") {
    Fixture fixture;
    ask_about(fixture, "one");
    fixture.allow(Scope::session);
    CHECK(!std::filesystem::exists(fixture.policy / "definitions"));
    fixture.restart();
    CHECK(!ask_about(fixture, "two"));
}

TEST_CASE("a file of a definition that is broken, missing or somewhere else is no definition") {
    Fixture fixture;
    ask_about(fixture, "one");
    fixture.allow(Scope::workspace, any_read);
    const std::filesystem::path file = file_of(fixture, "one");
    fixture.restart();
    SUBCASE("control: as it was stored") {
        CHECK(ask_about(fixture, "two"));
        return;
    }
    SUBCASE("not what its name says") {
        write_text(file, definition("other"));
    }
    SUBCASE("empty") {
        write_text(file, "");
    }
    SUBCASE("missing") {
        std::filesystem::remove(file);
    }
    SUBCASE("a folder") {
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
    }
    CHECK(!ask_about(fixture, "two"));
    fixture.allow();
    CHECK(ask_about(fixture, "three") == change("two", "three"));
}

TEST_CASE("a rule's identity that is no hash names no file") {
    Fixture fixture;
    gate::Definitions definitions(fixture.policy.string());
    definitions.store("../escaped", definition("one"));
    CHECK(!std::filesystem::exists(fixture.policy / "escaped.json"));
    CHECK(!std::filesystem::exists(fixture.policy / "definitions"));
    // Control.
    definitions.store(sha256(definition("one")), definition("one"));
    CHECK(std::filesystem::exists(file_of(fixture, "one")));
}

TEST_CASE("a definition that cannot be stored does not stop the answer") {
    Fixture fixture;
    std::filesystem::create_directory(fixture.policy);
    write_text(fixture.policy / "definitions", "no folder");
    ask_about(fixture, "one");
    fixture.allow(Scope::workspace, any_read);
    CHECK(fixture.ask(call("one"))->allowed());
}

TEST_CASE("a definition too long to keep is not mistaken for the one before") {
    Fixture fixture;
    ask_about(fixture, "one");
    fixture.allow();
    const std::string long_text(300000, 'x');
    const Changes changes = ask_about(fixture, long_text);
    REQUIRE(changes);
    CHECK(changes->size() == 1);
    fixture.allow(Scope::workspace, any_read);
    CHECK(!std::filesystem::exists(file_of(fixture, long_text)));
    CHECK(!ask_about(fixture, "two"));
}

TEST_CASE("of stored definitions the oldest are removed") {
    Fixture fixture;
    gate::Definitions definitions(fixture.policy.string());
    const auto store = [&](const std::string& description) {
        definitions.store(sha256(definition(description)), definition(description));
        return file_of(fixture, description);
    };
    const std::filesystem::path oldest = store("oldest");
    const std::filesystem::path again = store("stored again");
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(oldest, long_ago);
    std::filesystem::last_write_time(again, long_ago);
    store("stored again");
    for (std::size_t i = 2; i < gate::Definitions::max_files; ++i) {
        store(fmt::format("number {}", i));
    }
    CHECK(std::filesystem::exists(oldest));
    store("one more");
    CHECK(!std::filesystem::exists(oldest));
    CHECK(std::filesystem::exists(again));
}

TEST_CASE("what is to be read of a question has the changes below the payload") {
    protocol::Approval approval;
    approval.display = {"tool read_file of files", "by agent x"};
    CHECK(gate::question_lines(approval) == approval.display);
    approval.definition_changes = {"-a", "+b"};
    CHECK(gate::question_lines(approval) ==
          std::vector<std::string>{"tool read_file of files", "by agent x",
                                   "its definition has changed since it was last allowed:", "-a", "+b"});
}
