#include "session_secrets.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

namespace cellgate::service {

SessionSecret SessionSecrets::set(const std::string& session_id, const std::string& name, std::string value) {
    const Kept& kept = kept_[session_id][name] = {to_rfc3339(clock_.wall()), std::move(value)};
    return {session_id, name, kept.set_at};
}

SessionSecret SessionSecrets::remove(const std::string& session_id, const std::string& name) {
    const auto session = kept_.find(session_id);
    if (session == kept_.end() || !session->second.contains(name)) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("no secret {} is kept for the session \"{}\"", name, session_id),
                    "`cellgate secret list --session ID` names those that there are.");
    }
    SessionSecret removed{session_id, name, session->second.at(name).set_at};
    session->second.erase(name);
    return removed;
}

std::optional<std::string> SessionSecrets::find(const std::string& session_id, const std::string& name) const {
    const auto session = kept_.find(session_id);
    if (session == kept_.end() || !session->second.contains(name)) {
        return std::nullopt;
    }
    return session->second.at(name).value;
}

std::vector<SessionSecret> SessionSecrets::list() const {
    std::vector<SessionSecret> all;
    for (const auto& [session_id, secrets] : kept_) {
        for (const auto& [name, kept] : secrets) {
            all.push_back({session_id, name, kept.set_at});
        }
    }
    return all;
}

void SessionSecrets::end_session(const std::string& session_id) {
    kept_.erase(session_id);
}

} // namespace cellgate::service
