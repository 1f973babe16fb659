#include "notes.hpp"

#include "base/escape_unprintable.hpp"
#include "gate/connection_rule.hpp"
#include "protocol/code_advice.hpp"
#include "sandbox/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::session {

namespace {

constexpr std::size_t max_notes = 8;

// The line of the settings that a denial comes from; a session's other rules that deny are a user's.
std::optional<sandbox::HostExplanation> line_of(const Endpoint& endpoint, const gate::Decision& decision,
                                                const sandbox::Settings* settings) {
    if (!decision.rule || decision.rule->source != protocol::RuleSource::session) {
        return std::nullopt;
    }
    sandbox::HostExplanation line = sandbox::explain_host(settings, {endpoint.host, endpoint.port});
    return line.reach == sandbox::Reach::denied ? std::optional(std::move(line)) : std::nullopt;
}

} // namespace

protocol::Note note_of_refusal(const Endpoint& endpoint, const gate::Decision& decision,
                               const sandbox::Settings* settings) {
    const std::string host = to_string(endpoint);
    const auto* request = std::get_if<gate::HttpRequest>(&decision.action);
    protocol::Note note;
    note.text = escape_unprintable(
        request != nullptr
            ? fmt::format("{} {}{} was refused: {}", request->method, host, request->path, decision.reason)
            : fmt::format("the connection to {} was refused: {}", host, decision.reason));
    if (decision.rule && decision.rule->effect == protocol::Effect::deny) { // no other rule is stronger
        if (const std::optional<sandbox::HostExplanation> line = line_of(endpoint, decision, settings)) {
            note.text = escape_unprintable(fmt::format("the connection to {} was refused by {}", host, line->reason));
            note.remedy =
                escape_unprintable(fmt::format("to allow it, remove {}, and restart the session", line->reason));
        } else {
            note.remedy = escape_unprintable(fmt::format("to allow it, revoke rule {}", decision.rule->id));
        }
        return note;
    }
    const auto* connection = std::get_if<gate::Connection>(&decision.action);
    const std::string entry = connection != nullptr ? gate::host_entry(host, connection->protocol) : host;
    note.remedy =
        fmt::format("to allow it, add a rule for {} {}", request != nullptr ? "this request to" : "the host", entry);
    protocol::RuleSpec rule = gate::connection_rule(protocol::Effect::allow, entry);
    if (request != nullptr) {
        rule.kind = protocol::ActionKind::request;
        rule.methods = {request->method};
        if (request->path.find('*') == std::string::npos) {
            rule.paths = {request->path};
        }
    }
    note.rule = std::move(rule);
    return note;
}

protocol::Note note_of_distrust(const Endpoint& endpoint) {
    protocol::Note note;
    note.text = fmt::format("a rule has the requests to {} judged one by one, and the program does not trust the "
                            "authority by which cellgate reads them",
                            to_string(endpoint));
    note.remedy = "restart the session, if the rule is newer than it; else let the program read SSL_CERT_FILE, or run "
                  "it again: then you are asked about its whole connection";
    return note;
}

protocol::Note note_of_direct_connection() {
    protocol::Note note;
    note.text = "something connected, or looked up a name, by itself: in the sandbox there is neither a route nor a "
                "resolver, only the proxy that HTTPS_PROXY and ALL_PROXY name";
    note.remedy =
        fmt::format("{}use what reads these variables; then each new host is asked about", protocol::code_advice);
    return note;
}

protocol::Note note_of_prompt() {
    protocol::Note note;
    note.text = "the code asked for input, which an agent's code does not get";
    note.remedy = fmt::format("{}write the value where it asks; what only your user knows, ask for before you run it",
                              protocol::code_advice);
    return note;
}

void add_note(std::optional<std::vector<protocol::Note>>& notes, protocol::Note note) {
    std::vector<protocol::Note>& all = notes ? *notes : notes.emplace();
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.text == note.text; });
    if (!known && all.size() < max_notes) {
        all.push_back(std::move(note));
    }
}

} // namespace cellgate::session
