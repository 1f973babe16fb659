#include "base/hash.hpp"
#include "server_catalog.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::tools;
using protocol::ToolServerSource;

namespace {

// A catalogue with `host`, whose configurations describe themselves, and what it removed.
struct Fixture {
    Fixture() { catalog.add_built_in("host", "built in"); }

    static ServerSpec spec(const std::string& name, const std::string& command = "server") {
        ServerSpec spec;
        spec.name = name;
        spec.config.command = command;
        return spec;
    }
    static ServerSpec of_agent(const std::string& name, std::uint64_t client, const std::string& command = "server") {
        ServerSpec of = spec(name, command);
        of.source = ToolServerSource::agent;
        of.agent = gate::Agent{client, "agent"};
        return of;
    }
    std::vector<std::string> set_files(const std::vector<ServerSpec>& specs) {
        ConfigFile file;
        for (const ServerSpec& each : specs) {
            file.servers.push_back(each);
            file.servers.back().source = ToolServerSource::workspace_file;
        }
        return catalog.set_workspace_files(std::move(file));
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const ServerEntryPtr& entry : catalog.entries()) {
            names.push_back(entry->spec.name);
        }
        return names;
    }
    ToolServerSource source_of(const std::string& name) const { return catalog.find(name)->spec.source; }

    std::vector<std::string> removed;         // "NAME: reason"
    mutable std::vector<std::string> unknown; // names that files were read for
    std::string version = "1";                // of what the configurations start
    ServerCatalog catalog{[this](const ServerSpec& spec) {
                              ServerDescription described;
                              described.identity = sha256(to_json(spec.config) + version);
                              return described;
                          },
                          [this](const ServerEntryPtr& entry, std::string reason) {
                              CHECK(entry->removed);
                              removed.push_back(entry->spec.name + ": " + reason);
                          },
                          [this](const std::string& name) {
                              unknown.push_back(name);
                              if (name == "added") {
                                  catalog.add({spec("added")});
                              }
                          }};
};

ErrorCode code_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.code;
    }
    return ErrorCode::request_cancelled; // no error
}

} // namespace

TEST_CASE("only for a name that means no server the files are read, and then it is looked up again") {
    Fixture fixture;
    fixture.catalog.add({Fixture::spec("a")});
    CHECK(fixture.catalog.find("a"));
    CHECK(fixture.unknown.empty());
    CHECK(fixture.catalog.find("added")->spec.name == "added");
    CHECK(code_of([&] { fixture.catalog.find("b"); }) == ErrorCode::tool_server_not_found);
    CHECK(fixture.unknown == std::vector<std::string>{"added", "b"});
}

TEST_CASE("the built-in server comes first, cannot be removed, and keeps its name") {
    Fixture fixture;
    fixture.catalog.add({Fixture::spec("a"), Fixture::spec("z")});
    CHECK(fixture.names() == std::vector<std::string>{"host", "a", "z"});
    CHECK(code_of([&] { fixture.catalog.take("host"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { fixture.catalog.remove("host", "no"); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { fixture.catalog.add({Fixture::spec("host")}); }) == ErrorCode::config_invalid);
    CHECK(code_of([&] { fixture.catalog.add({Fixture::spec("Host")}); }) == ErrorCode::config_invalid);
    CHECK(code_of([&] { fixture.catalog.add_from_agent(Fixture::of_agent("Host", 1)); }) == ErrorCode::config_invalid);
    CHECK(fixture.set_files({Fixture::spec("Host")}).size() == 1);
    CHECK(fixture.removed.empty());
    CHECK(fixture.names() == std::vector<std::string>{"host", "a", "z"});
    fixture.catalog.take("a"); // the control
    CHECK(fixture.names() == std::vector<std::string>{"host", "z"});
}

TEST_CASE("a server that is named again stays as it is; one that is configured otherwise is another") {
    Fixture fixture;
    fixture.catalog.add({Fixture::spec("s")});
    const ServerEntryPtr first = fixture.catalog.find("s");
    fixture.catalog.add({Fixture::spec("s")});
    CHECK(fixture.catalog.find("s") == first);
    CHECK(fixture.removed.empty());
    fixture.catalog.add({Fixture::spec("s", "other")});
    CHECK(fixture.catalog.find("s") != first);
    CHECK(first->removed);
    // Nor is it the same when its program has changed.
    fixture.version = "2";
    fixture.catalog.add({Fixture::spec("s", "other")});
    CHECK(fixture.removed == std::vector<std::string>(2, "s: its configuration changed"));
}

TEST_CASE("a user's word goes before a file's, and a file's before an agent's") {
    Fixture fixture;
    fixture.catalog.add_from_agent(Fixture::of_agent("one", 1));
    fixture.catalog.add_from_agent(Fixture::of_agent("two", 1));
    CHECK(fixture.set_files({Fixture::spec("one"), Fixture::spec("three")}).empty());
    CHECK(fixture.source_of("one") == ToolServerSource::workspace_file);
    CHECK(fixture.source_of("two") == ToolServerSource::agent);
    fixture.catalog.add({Fixture::spec("one"), Fixture::spec("three", "users")});
    CHECK(fixture.source_of("one") == ToolServerSource::user);
    // Neither of them takes a user's.
    CHECK(fixture.set_files({Fixture::spec("one", "files")}).empty());
    CHECK(fixture.source_of("one") == ToolServerSource::user);
    CHECK(code_of([&] { fixture.catalog.add_from_agent(Fixture::of_agent("one", 1, "agents")); }) ==
          ErrorCode::forbidden);
    // An agent that means the same has it.
    fixture.catalog.add_from_agent(Fixture::of_agent("one", 1));
    CHECK(fixture.source_of("one") == ToolServerSource::user);
    CHECK(fixture.catalog.find("one")->spec.config.command == "server");
}

TEST_CASE("servers whose wrappers are one package: the weaker word gives way, the same word is an error") {
    Fixture fixture;
    const std::vector<ServerSpec> both{Fixture::spec("git-hub"), Fixture::spec("git_hub")};
    CHECK(code_of([&] { fixture.catalog.add(both); }) == ErrorCode::config_invalid);
    CHECK(fixture.names() == std::vector<std::string>{"host"}); // then none was added
    fixture.catalog.add_from_agent(Fixture::of_agent("git_hub", 1));
    CHECK(fixture.set_files({Fixture::spec("git-hub")}).empty());
    CHECK(fixture.names() == std::vector<std::string>{"host", "git-hub"});
    CHECK(code_of([&] { fixture.catalog.add_from_agent(Fixture::of_agent("git_hub", 1)); }) ==
          ErrorCode::config_invalid);
    fixture.catalog.add({Fixture::spec("git_hub")});
    CHECK(fixture.names() == std::vector<std::string>{"host", "git_hub"});
    CHECK(fixture.set_files({Fixture::spec("git-hub")}).size() == 1);
    CHECK(fixture.names() == std::vector<std::string>{"host", "git_hub"});
    CHECK(fixture.removed.size() == 2);
}

TEST_CASE("a server that the workspace's files name no more is removed, and no other") {
    Fixture fixture;
    fixture.catalog.add({Fixture::spec("users")});
    fixture.catalog.add_from_agent(Fixture::of_agent("agents", 1));
    fixture.set_files({Fixture::spec("one"), Fixture::spec("two")});
    fixture.set_files({Fixture::spec("two")});
    CHECK(fixture.removed == std::vector<std::string>{"one: the workspace's files do not name it any more"});
    CHECK(fixture.names() == std::vector<std::string>{"host", "agents", "two", "users"});
}

TEST_CASE("an agent's server belongs to every agent that named exactly it, and ends with the last") {
    Fixture fixture;
    fixture.catalog.add_from_agent(Fixture::of_agent("s", 1));
    fixture.catalog.add_from_agent(Fixture::of_agent("s", 2));
    fixture.catalog.add_from_agent(Fixture::of_agent("s", 2));
    CHECK(fixture.catalog.find("s")->co_owners.size() == 1);
    for (const std::uint64_t client : {1, 2, 3}) {
        CHECK(code_of([&] { fixture.catalog.add_from_agent(Fixture::of_agent("s", client, "other")); }) ==
              ErrorCode::forbidden);
    }
    fixture.catalog.on_agent_disconnected(1);
    CHECK(fixture.catalog.find("s")->spec.agent->client == 2);
    // The control: its only owner can change it.
    fixture.catalog.add_from_agent(Fixture::of_agent("s", 2, "other"));
    CHECK(fixture.catalog.find("s")->spec.config.command == "other");
    fixture.catalog.on_agent_disconnected(2);
    CHECK(fixture.names() == std::vector<std::string>{"host"});
    CHECK(fixture.removed == std::vector<std::string>{"s: its configuration changed", "s: its agent has gone"});
}

TEST_CASE("a server that is not there is an error that names those that are") {
    Fixture fixture;
    fixture.catalog.add({Fixture::spec("files")});
    std::string hint;
    try {
        fixture.catalog.find("file");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::tool_server_not_found);
        hint = error.hint;
    }
    CHECK(hint.starts_with("Did you mean files?"));
    CHECK(hint.find("host, files") != std::string::npos);
}
