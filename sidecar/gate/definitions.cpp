#include "definitions.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/regular_file.hpp"
#include "definition_changes.hpp"
#include "rules.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace cellgate::gate {

namespace {

std::pair<std::string, std::string> key_of(const Payload::Names& call) {
    return {std::string(call.server.value_or("")), std::string(call.tool.value_or(""))};
}

// The definition of that tool that the newest rule binds.
std::string identity_of_newest(const std::vector<protocol::Rule>& rules, const Payload::Names& call) {
    std::string identity;
    std::optional<WallTime> newest;
    for (const protocol::Rule& rule : rules) {
        if (rule.effect != protocol::Effect::allow || !rule.tool_identity || rule.server != call.server ||
            rule.tool != call.tool) {
            continue;
        }
        const std::optional<WallTime> made = parse_rfc3339(rule.created_at.value_or(""));
        if (made && (!newest || *made >= *newest)) {
            newest = made;
            identity = *rule.tool_identity;
        }
    }
    return identity;
}

} // namespace

void Definitions::remember(const Payload::Names& call, std::string text) {
    if (text.size() > max_definition_bytes) {
        text.clear();
    }
    allowed_.insert_or_assign(key_of(call), Definition{std::string(call.tool_identity.value_or("")), std::move(text)});
}

std::optional<std::vector<std::string>> Definitions::changes(const Payload::Names& call, const std::string& text,
                                                             const std::vector<protocol::Rule>& rules) const {
    const auto found = allowed_.find(key_of(call));
    const std::string identity = found != allowed_.end() ? found->second.identity : identity_of_newest(rules, call);
    if (identity == call.tool_identity) {
        return std::nullopt;
    }
    const std::string before = found != allowed_.end() ? found->second.text : read(identity);
    return before.empty() ? std::nullopt : std::optional(definition_changes(before, text));
}

std::optional<std::string> Definitions::path_of(const std::string& identity) const {
    constexpr std::size_t digits = 64;
    if (identity.size() != digits || identity.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return std::nullopt;
    }
    return fmt::format("{}/{}.json", directory_, identity);
}

// Empty when it is not what the identity is of.
std::string Definitions::read(const std::string& identity) const {
    const std::optional<std::string> path = path_of(identity);
    if (!path) {
        return {};
    }
    RegularFile file = read_regular_file(*path, max_definition_bytes);
    return sha256(file.bytes) == identity ? std::move(file.bytes) : std::string();
}

void Definitions::store(const std::string& identity, const std::string& text) const {
    const std::optional<std::string> path = path_of(identity);
    if (!path || text.size() > max_definition_bytes) {
        return;
    }
    try {
        store::make_private_directory(policy_directory_);
        store::make_private_directory(directory_);
        ReplacementFile file(AT_FDCWD, *path + ".", 0600);
        if (!file.valid() || !write_all(file.fd(), text) || !file.commit(*path)) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", *path), errno);
        }
        remove_oldest();
    } catch (const std::exception& error) {
        log_warning("a tool's definition is not kept: {}", error.what());
    }
}

void Definitions::remove_oldest() const {
    std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
        std::error_code gone; // another sidecar may remove it
        const std::filesystem::file_time_type written = std::filesystem::last_write_time(entry.path(), gone);
        if (!gone) {
            files.emplace_back(written, entry.path());
        }
    }
    if (files.size() <= max_files) {
        return;
    }
    const auto kept = files.begin() + static_cast<std::ptrdiff_t>(files.size() - max_files);
    std::nth_element(files.begin(), kept, files.end());
    for (auto file = files.begin(); file != kept; ++file) {
        std::error_code gone;
        std::filesystem::remove(file->second, gone);
    }
}

} // namespace cellgate::gate
