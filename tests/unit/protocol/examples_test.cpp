// The codec against the contract: every example of schemas/examples. What the contract refuses and the codec lets pass
// is listed below, and has to be refused by the handler of that method; an entry that is no longer true fails too.

#include "base/json_codec.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/kernels.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/messages/network.hpp"
#include "protocol/messages/packages.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/messages/tool_servers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace cellgate;
using namespace cellgate::protocol;

namespace {

using Recode = std::string (*)(const RawJson&);

template <class T>
std::string recode(const RawJson& raw) {
    return to_json(from_json<T>(raw, "value"));
}

struct Codec {
    Recode params;
    Recode result = nullptr;
};

template <class Method>
std::pair<std::string, Codec> entry(const std::string& folder = "") {
    std::string file{Method::name};
    std::replace(file.begin(), file.end(), '/', '.');
    Codec codec{recode<typename Method::Params>};
    if constexpr (requires { typename Method::Result; }) {
        codec.result = recode<typename Method::Result>;
    }
    return {folder + file, codec};
}

const std::map<std::string, Codec> codecs{
    entry<Initialize>(),
    entry<Initialized>(),
    entry<Shutdown>(),
    entry<Exit>(),
    entry<Progress>(),
    entry<SessionCreate>(),
    entry<SessionList>(),
    entry<SessionAttach>(),
    entry<SessionRestart>(),
    entry<SessionInterrupt>(),
    entry<SessionClose>(),
    entry<SessionChanged>(),
    entry<KernelList>(),
    entry<KernelComplete>(),
    entry<KernelInspect>(),
    entry<KernelVariables>(),
    entry<Execute>(),
    entry<ExecuteChanged>(),
    entry<ExecuteOutput>(),
    entry<ExecuteCancel>(),
    entry<ExecutionGet>(),
    entry<OutputRead>(),
    entry<InputRequest>(),
    entry<ApprovalRequested>(),
    entry<ApprovalRespond>(),
    entry<ApprovalResolved>(),
    entry<ApprovalElicit>(),
    entry<PolicyList>(),
    entry<PolicyDecisions>(),
    entry<PolicyAdd>(),
    entry<PolicyRemove>(),
    entry<PolicyExplain>(),
    entry<ToolServersList>(),
    entry<ToolServersAdd>(),
    entry<ToolServersLog>(),
    entry<ToolServersRestart>(),
    entry<ToolServersRemove>(),
    entry<WrappersGenerate>(),
    entry<ToolsCall>(),
    entry<PackagesInstall>(),
    entry<ChannelCall>("channel/"),
    entry<ChannelOrigin>("channel/"),
    {"$.cancelRequest", {recode<CancelRequestParams>}},
    {"channel/$.cancelRequest", {recode<CancelRequestParams>}},
};

struct Examples {
    std::string method; // as in the file's name, with "channel/" before those of the channel
    Json parts;
};

std::vector<Examples> all_examples() {
    std::vector<Examples> all;
    const std::filesystem::path folder = std::filesystem::path(CELLGATE_SCHEMAS) / "examples";
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
        if (file.path().extension() == ".json") {
            std::ifstream stream(file.path());
            const std::string name = std::filesystem::relative(file.path(), folder).replace_extension().string();
            all.push_back({name, Json::parse(stream)});
        }
    }
    return all;
}

// Whether cellgate reads this part; the rest it writes, and only our own client reads it.
bool is_read(const std::string& method, const std::string& part) {
    static const std::set<std::string> from_us{"$.progress",        "session.changed", "execute.changed",
                                               "execute.output",    "input.request",   "approval.requested",
                                               "approval.resolved", "approval.elicit"};
    return from_us.contains(method) ? part == "result" : part == "params";
}

// Without what a client may say and cellgate has no use for: fields it does not know, as the examples mark them, and
// one that it knows; null where that means nothing.
Json as_read(const std::string& method, const Json& example) {
    if (!example.is_object()) {
        return example;
    }
    Json left = Json::object();
    for (const auto& [name, value] : example.items()) {
        const bool useless = (method == "channel/tools.call" && name == "execution") ||
                             (method.starts_with("channel/") && value.is_null());
        if (!useless && value != "is ignored") {
            left[name] = value;
        }
    }
    return left;
}

// The examples that the contract refuses and the codec reads.
const std::set<std::string> known{
    "$.cancelRequest: half of an id",
    "$.cancelRequest: null is no id",
    "approval.elicit: a scope",
    "approval.respond: an edit of two at once",
    "approval.respond: edited arguments are a list",
    "approval.respond: nothing is answered",
    "channel/$.cancelRequest: half of an id",
    "channel/$.cancelRequest: null is no id",
    "channel/network.origin: a line before the first",
    "channel/network.origin: neither a socket nor a program",
    "channel/tools.call: a line before the first",
    "channel/tools.call: the tool has no name",
    "execute.cancel: a wait below nothing",
    "execute: a character that no source has",
    "execute: a domain with a blank",
    "execute: a line before the first",
    "execute: an id that starts with a dot",
    "execute: no time at all",
    "execution.get: an id with a slash",
    "initialize: a server has a command and a URL, so it is open which one is used",
    "kernel.complete: before the beginning",
    "kernel.inspect: a level that there is not",
    "kernel.variables: the session's id is empty",
    "output.read: from before the first",
    "output.read: nothing may come",
    "packages.install: a command behind a marker",
    "packages.install: a direction of reading is turned",
    "packages.install: a file of the workspace",
    "packages.install: a name that pip takes for a file",
    "packages.install: an option of pip",
    "packages.install: code from elsewhere over a line that others can change",
    "packages.install: code from elsewhere without a word about builds",
    "packages.install: nothing to install",
    "policy.add: a host in a rule about tools",
    "policy.add: everything is allowed",
    "policy.add: for a session that is not named",
    "policy.add: not a JSON pointer",
    "policy.add: once is no time for a rule",
    "policy.add: two conditions where one is meant",
    "policy.explain: a port that is not one",
    "policy.explain: arguments are a list",
    "policy.remove: the id is empty",
    "session.attach: an id with a slash",
    "session.close: the id is empty",
    "session.create: a kernelspec and an interpreter, so it is open which one starts",
    "session.create: a limit that is not known would silently not hold",
    "session.create: an id that is a path",
    "session.interrupt: the id is empty",
    "session.restart: nothing is added",
    "session.restart: the id is empty",
    "toolServers.add: a name with a line feed",
    "toolServers.add: a sandbox for what runs elsewhere",
    "toolServers.add: nothing to start",
    "toolServers.log: the name is empty",
    "toolServers.remove: the name is empty",
    "toolServers.restart: the name is empty",
    "tools.call: arguments as text",
    "wrappers.generate: an empty folder name",
};

} // namespace

TEST_CASE("every method of the contract has a codec, and every codec a method") {
    std::set<std::string> methods;
    for (const Examples& examples : all_examples()) {
        methods.insert(examples.method);
        CAPTURE(examples.method);
        REQUIRE(codecs.contains(examples.method));
        CHECK((codecs.at(examples.method).result != nullptr) == examples.parts.contains("result"));
    }
    CHECK(methods.size() == codecs.size());
}

TEST_CASE("valid examples are read, and written again as they were") {
    for (const Examples& examples : all_examples()) {
        for (const auto& [part, cases] : examples.parts.items()) {
            const Recode recode =
                part == "params" ? codecs.at(examples.method).params : codecs.at(examples.method).result;
            for (const Json& example : cases["valid"]) {
                CAPTURE(examples.method);
                CAPTURE(example.dump());
                std::string once;
                REQUIRE_NOTHROW(once = recode(RawJson::of(example)));
                CHECK(recode(RawJson::parse(once)) == once);
                CHECK(Json::parse(once) == as_read(examples.method, example));
            }
        }
    }
}

TEST_CASE("what the codec does not refuse is known") {
    std::set<std::string> passed;
    for (const Examples& examples : all_examples()) {
        for (const auto& [part, cases] : examples.parts.items()) {
            const Recode recode =
                part == "params" ? codecs.at(examples.method).params : codecs.at(examples.method).result;
            for (const Json& example : cases["invalid"]) {
                try {
                    recode(RawJson::of(example["value"]));
                    if (is_read(examples.method, part)) {
                        passed.insert(examples.method + ": " + example["why"].get<std::string>());
                    }
                } catch (const Error& error) {
                    CHECK(error.code == ErrorCode::invalid_params);
                }
            }
        }
    }
    for (const std::string& why : passed) {
        CHECK_MESSAGE(known.contains(why), why);
    }
    for (const std::string& why : known) {
        CHECK_MESSAGE(passed.contains(why), "is refused now, or gone: ", why);
    }
}
