// Who may call what, and when: over the wire, for every method of the contract's own table. No handlers are there, so a
// method that is let through is answered with "there is no such method".

#include "base/json.hpp"
#include "client.hpp"
#include "method_table.hpp"
#include "service_fixture.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace cellgate;
using namespace cellgate::service;

namespace {

struct Table {
    // Requests from a client to the sidecar.
    std::vector<std::string> requests;
    std::set<std::string> for_users_only;
    std::vector<std::pair<std::string, std::string>> widening; // method and params, of methods that an agent may call

    Table() {
        const Json table = Json::parse(methods_text);
        for (const auto& [method, entry] : table.at("methods").items()) {
            if (entry.at("direction") == "serverToClient" || entry.at("type") != "request") {
                continue;
            }
            requests.push_back(method);
            const auto roles = entry.at("roles").get<std::set<std::string>>();
            REQUIRE(roles.contains("user"));
            if (!roles.contains("agent")) {
                for_users_only.insert(method);
            }
            for (const Json& part : entry.value("userOnly", Json::array())) {
                REQUIRE(roles.contains("agent"));
                Json params = part.value("value", Json("something"));
                std::string path = part.at("param").get<std::string>();
                while (!path.empty()) { // from its end
                    const std::size_t dot = path.rfind('.');
                    params = Json{{path.substr(dot == std::string::npos ? 0 : dot + 1), params}};
                    path.resize(dot == std::string::npos ? 0 : dot);
                }
                widening.emplace_back(method, params.dump());
            }
        }
    }
};

struct Conversation {
    explicit Conversation(protocol::Role role) : client(1, role, pair.ours, run_inline) {
        scope.spawn(client.peer.run());
        scope.spawn(caller.run());
    }
    ~Conversation() {
        caller.close();
        REQUIRE(scope.running() == 0);
    }

    ErrorCode answer(const std::string& method, const std::string& params = "{}") {
        std::optional<ErrorCode> code;
        scope.spawn(call(method, RawJson::parse(params), &code));
        REQUIRE(code);
        return *code;
    }
    Task<void> call(std::string method, RawJson params, std::optional<ErrorCode>* code) {
        try {
            co_await caller.call_raw(std::move(method), std::move(params));
        } catch (const Error& error) {
            *code = error.code;
        }
    }

    service_fixture::ConnectionPair pair;
    Client client;
    protocol::Peer caller{pair.theirs, protocol::Dialect::editor};
    TaskScope scope;
};

} // namespace

TEST_CASE("an agent is refused every method that is for users, and no other") {
    const Table table;
    REQUIRE(table.for_users_only.contains("approval/respond"));
    REQUIRE(table.for_users_only.contains("policy/add"));
    REQUIRE(table.for_users_only.contains("toolServers/add"));
    Conversation agent(protocol::Role::agent);
    Conversation user(protocol::Role::user);
    agent.client.stage = Client::Stage::initialized;
    user.client.stage = Client::Stage::initialized;
    for (const std::string& method : table.requests) {
        CAPTURE(method);
        const bool refused = table.for_users_only.contains(method);
        CHECK(agent.answer(method) == (refused ? ErrorCode::forbidden : ErrorCode::method_not_found));
        CHECK(user.answer(method) == ErrorCode::method_not_found);
    }
}

TEST_CASE("an agent is refused every parameter that is for users, and no other value of it") {
    const Table table;
    REQUIRE(table.widening.size() >= 5);
    Conversation agent(protocol::Role::agent);
    Conversation user(protocol::Role::user);
    agent.client.stage = Client::Stage::initialized;
    user.client.stage = Client::Stage::initialized;
    for (const auto& [method, params] : table.widening) {
        CAPTURE(method);
        CAPTURE(params);
        CHECK(agent.answer(method, params) == ErrorCode::forbidden);
        CHECK(user.answer(method, params) == ErrorCode::method_not_found);
    }
    const std::pair<const char*, const char*> harmless[] = {
        {"execute", R"({"approvals":"ask"})"},
        {"execute", R"({"approvals":null,"more":{"approvals":"allow"}})"},
        {"execute", R"({"code":"allow"})"},
        {"session/create", R"({"sandbox":true,"kernel":{"name":"python3"}})"},
        {"session/create", R"({"kernel":"interpreter"})"},
        {"session/create", R"({"interpreter":"x"})"},
        {"wrappers/generate", R"({"server":"config"})"},
    };
    for (const auto& [method, params] : harmless) {
        CAPTURE(params);
        CHECK(agent.answer(method, params) == ErrorCode::method_not_found);
    }
    // However it is written.
    CHECK(agent.answer("execute", R"({"\u0061pprovals":"\u0061llow"})") == ErrorCode::forbidden);
    CHECK(agent.answer("session/create", R"({ "sandbox" : false })") == ErrorCode::forbidden);
}

TEST_CASE("before initialize nothing but initialize is let through") {
    const Table table;
    Conversation user(protocol::Role::user);
    for (const std::string& method : table.requests) {
        CAPTURE(method);
        CHECK(user.answer(method) ==
              (method == "initialize" ? ErrorCode::method_not_found : ErrorCode::server_not_initialized));
    }
}

TEST_CASE("after shutdown no request is let through") {
    const Table table;
    Conversation user(protocol::Role::user);
    user.client.stage = Client::Stage::shut_down;
    for (const std::string& method : table.requests) {
        CAPTURE(method);
        CHECK(user.answer(method) == ErrorCode::invalid_request);
    }
}
