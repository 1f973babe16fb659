#include "notes.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

const Endpoint endpoint{Host{"example.org"}, 443};

gate::Decision denial(const std::string& reason, std::optional<protocol::RuleSource> source = {},
                      std::optional<protocol::Effect> effect = {}) {
    gate::Decision decision;
    decision.reason = reason;
    if (source && effect) {
        protocol::Rule rule;
        rule.id = "r1";
        rule.source = *source;
        rule.effect = *effect;
        decision.rule = std::move(rule);
    }
    return decision;
}

} // namespace

TEST_CASE("a host that no rule names is offered as a rule") {
    for (const auto effect : {std::optional<protocol::Effect>(), std::optional(protocol::Effect::ask)}) {
        const protocol::Note note =
            note_of_refusal(endpoint, denial("no user is asked", protocol::RuleSource::session, effect), nullptr);
        CHECK(note.text == "the connection to example.org:443 was refused: no user is asked");
        CHECK(note.rule.value().host == "example.org:443");
    }
    CHECK(note_of_refusal(endpoint, denial("a\x1b[2Jb\n"), nullptr).text.find('\x1b') == std::string::npos);
}

TEST_CASE("a host that is denied names the line, and what takes it away; a rule would not help") {
    sandbox::Settings settings;
    settings.file = "/home/ada/sandbox.json";
    settings.network.denied_domains = {"other.org", "example.org:443"};
    const auto deny = protocol::Effect::deny;
    protocol::Note note = note_of_refusal(endpoint, denial("r", protocol::RuleSource::session, deny), &settings);
    const std::string line = "network.deniedDomains[1] \"example.org:443\" of /home/ada/sandbox.json";
    CHECK(note.text == "the connection to example.org:443 was refused by " + line);
    CHECK(note.remedy == "to allow it, remove " + line + ", and restart the session");
    CHECK_FALSE(note.rule);

    // Another rule of the session, or a stored one.
    settings.network.denied_domains = {"other.org"};
    for (const auto source : {protocol::RuleSource::session, protocol::RuleSource::workspace_store}) {
        note = note_of_refusal(endpoint, denial("denied by rule r1", source, deny), &settings);
        CHECK(note.text == "the connection to example.org:443 was refused: denied by rule r1");
        CHECK(note.remedy == "to allow it, revoke rule r1");
        CHECK_FALSE(note.rule);
    }
}

TEST_CASE("notes are few and each is said once") {
    std::optional<std::vector<protocol::Note>> notes;
    for (int i = 0; i < 100; ++i) {
        add_note(notes, note_of_refusal(endpoint, denial("no rule " + std::to_string(i / 2)), nullptr));
    }
    REQUIRE(notes);
    CHECK(notes->size() == 8);
    CHECK(notes->at(1).text == "the connection to example.org:443 was refused: no rule 1");
}
