// The codec against the contract: every example of schemas/examples. What the contract refuses and the codec lets pass
// is listed below, and has to be refused by the handler of that method; an entry that is no longer true fails too.

#include "base/json_codec.hpp"
#include "protocol/messages/all.hpp"

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

std::map<std::string, Codec> all_codecs() {
    std::map<std::string, Codec> codecs;
    const auto add = [&]<class Method>(const std::string& folder, const Method&) {
        std::string file{Method::name};
        std::replace(file.begin(), file.end(), '/', '.');
        Codec& codec = codecs[folder + file];
        codec.params = recode<typename Method::Params>;
        if constexpr (requires { typename Method::Result; }) {
            codec.result = recode<typename Method::Result>;
        }
    };
    std::apply([&](const auto&... methods) { (add("", methods), ...); }, Methods{});
    std::apply([&](const auto&... methods) { (add("channel/", methods), ...); }, ChannelMethods{});
    return codecs;
}

const std::map<std::string, Codec> codecs = all_codecs();

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
    static const std::set<std::string> from_us{
        "$.progress",           "session.changed",        "execute.changed",
        "execute.output",       "input.request",          "approval.requested",
        "approval.resolved",    "approval.elicit",        "elicitation.requested",
        "elicitation.resolved", "toolServers.loginEnded", "changes.found",
        "events.entry"};
    return from_us.contains(method) ? part == "result" : part == "params";
}

// Without what a client may say and cellgate has no use for: fields it does not know, as the examples mark them; null
// where that means nothing.
Json as_read(const std::string& method, const Json& example) {
    if (!example.is_object()) {
        return example;
    }
    Json left = Json::object();
    for (const auto& [name, value] : example.items()) {
        if (value != "is ignored" && !(method.starts_with("channel/") && value.is_null())) {
            left[name] = value;
        }
    }
    return left;
}

// The examples that the contract refuses and the codec reads.
const std::set<std::string> known{
    "action.decide: a call of a tool without its arguments",
    "approval.respond: an edit of two at once",
    "approval.respond: edited arguments are a list",
    "approval.respond: it is allowed without a user",
    "initialize: a server has a command and a URL, so it is open which one is used",
    "packages.install: a command behind a marker",
    "packages.install: a direction of reading is turned",
    "packages.install: a file of the workspace",
    "packages.install: a name that pip takes for a file",
    "packages.install: a package of npm from elsewhere",
    "packages.install: an option of pip",
    "packages.install: code from elsewhere over a line that others can change",
    "packages.install: code from elsewhere without a word about builds",
    "packages.install: nothing to install",
    "policy.add: a description of what a rule allows",
    "policy.add: a header without its name",
    "policy.add: a host in a rule about tools",
    "policy.add: a rule about requests to any host",
    "policy.add: a secret put in by a rule that allows",
    "policy.add: a value that is no secret",
    "policy.add: a variable beside the two of AWS",
    "policy.add: connections are not inspected",
    "policy.add: everything is allowed",
    "policy.add: for a session that is not named",
    "policy.add: methods of connections",
    "policy.add: not a JSON pointer",
    "policy.add: two conditions where one is meant",
    "policy.add: tests of nothing",
    "policy.add: uses of a deny rule",
    "policy.preview: an allow rule for everything",
    "policy.preview: nothing that the value may be",
    "secret.set: of a session that is not named",
    "toolServers.add: a sandbox for what runs elsewhere",
    "toolServers.add: nothing to start",
    "tools.call: arguments as text",
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
