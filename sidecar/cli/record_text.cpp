#include "record_text.hpp"

#include "base/encoding.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "base/raw_json.hpp"
#include "policy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::cli {

namespace {

constexpr std::size_t max_shown_paths = 100; // characters

using Words = std::string (*)(std::string_view data);

std::string text_of(std::string_view object, std::string_view name) {
    return json_member_text(object, name).value_or("");
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// Of what a user confirmed. The fingerprint is as `ssh-keygen -l` prints it.
std::string confirmed_words(std::string_view data) {
    const std::string key = text_of(json_member(data, "confirmation"), "publicKey");
    if (key.empty()) {
        return {};
    }
    const std::string blob = decode_base64(key.substr(key.find(' ') + 1)).value_or("");
    const Sha256Digest digest = sha256_bytes({blob});
    std::string fingerprint = encode_base64(std::string(digest.begin(), digest.end()));
    fingerprint.resize(fingerprint.find_last_not_of('=') + 1);
    return fmt::format(", confirmed by a touch of a security key (SHA256:{})", fingerprint);
}

std::string decided(std::string_view data) {
    const Json display = Json::parse(json_member(data, "display"), nullptr, false);
    const bool has_title = display.is_array() && !display.empty() && display[0].is_string();
    const std::string title = has_title ? display[0].get<std::string>() : "an action";
    const std::string by = text_of(data, "by");
    return fmt::format("{} {}{}{}: {}", json_member(data, "number"),
                       text_of(data, "decision") == "allow" ? "allowed"
                       : by == "noClient"                   ? "not allowed, no user was there"
                                                            : "denied",
                       by == "user" || by == "rule" ? fmt::format(" by {}", by) : "", confirmed_words(data), title);
}

std::string ended(std::string_view data) {
    const std::string error = text_of(data, "error");
    const std::string status = text_of(data, "status");
    return fmt::format("{} {}{}{}", json_member(data, "number"), status == "unknown" ? "left to the agent" : status,
                       error.empty() ? "" : ": ", error);
}

std::string started_code(std::string_view data) {
    const std::string code = text_of(data, "code");
    const std::string agent = text_of(data, "agent");
    const std::string tool = text_of(data, "savedTool");
    return fmt::format("runs{}: {}", agent.empty() ? "" : " for agent " + agent,
                       !tool.empty()  ? "the saved tool " + tool
                       : code.empty() ? fmt::format("{} bytes of code", json_member(data, "bytes"))
                                      : first_line(code));
}

std::string ended_code(std::string_view data) {
    const std::string_view raised = json_member(data, "error");
    const std::string name = text_of(raised, "ename");
    const std::string error = name.empty() ? "" : fmt::format(": {}: {}", name, first_line(text_of(raised, "evalue")));
    return fmt::format("ended: {}{}", text_of(data, "status"), error);
}

std::string rule_words(std::string_view data) {
    const std::string rule(json_member(data, "rule"));
    try {
        return "rule added: " + rule_line(from_json<protocol::Rule>(rule, "rule"));
    } catch (const Error&) {
        return "rule added: " + rule; // of another version of cellgate
    }
}

std::string removed_rule(std::string_view data) {
    const std::string reason = text_of(data, "reason");
    return fmt::format("rule removed: {}{}", text_of(data, "ruleId"), reason.empty() ? "" : ": " + reason);
}

std::string login(std::string_view data) {
    const std::string error = text_of(data, "error");
    return fmt::format("login to {}{}", text_of(data, "server"), error.empty() ? "" : " failed: " + error);
}

std::string secret_of(std::string_view data) {
    const std::string scope = text_of(data, "scope");
    return fmt::format("secret {}{}", text_of(data, "name"),
                       scope == "workspace" ? " of this workspace"
                       : scope == "session" ? " of the session"
                                            : "");
}

std::string secret_set(std::string_view data) {
    return secret_of(data) + " set";
}

std::string secret_deleted(std::string_view data) {
    return secret_of(data) + " deleted";
}

std::string secret_used(std::string_view data) {
    const std::string host = text_of(data, "host");
    return host.empty() ? fmt::format("{} given to {}", secret_of(data), text_of(data, "server"))
                        : fmt::format("{} put into a request to {}", secret_of(data), host);
}

std::string files_of(std::string_view data) {
    const Json changes = Json::parse(json_member(data, "changes"), nullptr, false);
    std::string paths;
    for (const Json& change : changes.is_array() ? changes : Json::array()) {
        if (paths.size() > max_shown_paths) {
            paths += ", …";
            break;
        }
        paths += (paths.empty() ? "" : ", ") + change.value("path", "");
    }
    return fmt::format("{} file{}: {}", json_member(data, "files"), json_member(data, "files") == "1" ? "" : "s",
                       paths);
}

std::string files_changed(std::string_view data) {
    return "changed " + files_of(data);
}

std::string files_restored(std::string_view data) {
    return fmt::format("undo of {}: {}", text_of(data, "undoOf"), files_of(data));
}

std::string created_session(std::string_view data) {
    const std::string sandbox = text_of(data, "sandbox");
    return fmt::format("session created: {}, {}", text_of(data, "kernel"),
                       sandbox == "none" ? "without a sandbox" : "in " + sandbox);
}

std::string closed_session(std::string_view) {
    return "session closed";
}

std::string kernel_started(std::string_view) {
    return "kernel started";
}

std::string limits_changed(std::string_view data) {
    return fmt::format("limits changed: {}", json_member(data, "limits"));
}

std::string kernel_ended(std::string_view data) {
    return "the kernel ended: " + text_of(data, "reason");
}

std::string gap(std::string_view data) {
    return fmt::format("{} entries could not be recorded before this one: {}", json_member(data, "dropped"),
                       text_of(data, "error"));
}

std::string pruned(std::string_view data) {
    return fmt::format("entries before {} were removed", json_member(data, "firstKept"));
}

constexpr std::pair<std::string_view, Words> words_by_type[] = {
    {"action.decided", decided},
    {"action.ended", ended},
    {"execution.started", started_code},
    {"execution.ended", ended_code},
    {"policy.added", rule_words},
    {"policy.removed", removed_rule},
    {"login.ended", login},
    {"secret.set", secret_set},
    {"secret.deleted", secret_deleted},
    {"secret.used", secret_used},
    {"kernel.started", kernel_started},
    {"kernel.ended", kernel_ended},
    {"limits.changed", limits_changed},
    {"record.gap", gap},
    {"record.pruned", pruned},
    {"session.created", created_session},
    {"session.closed", closed_session},
    {"files.changed", files_changed},
    {"files.restored", files_restored},
};

std::string words_of(std::string_view entry) {
    const std::string type = text_of(entry, "type");
    for (const auto& [name, words] : words_by_type) {
        if (name == type) {
            return words(json_member(entry, "data"));
        }
    }
    return type;
}

} // namespace

std::string short_time(std::string time) {
    constexpr std::size_t length = 19;
    constexpr std::size_t separator = 10;
    time.resize(std::min(time.size(), length));
    if (time.size() == length) {
        time[separator] = ' ';
    }
    return time;
}

std::string record_line(std::string_view entry) {
    return fmt::format("{:>6}  {}Z  {:<10} {}", json_member(entry, "seq"), short_time(text_of(entry, "time")),
                       text_of(entry, "sessionId"), words_of(entry));
}

} // namespace cellgate::cli
