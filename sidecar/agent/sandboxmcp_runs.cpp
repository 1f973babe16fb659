#include "sandboxmcp_runs.hpp"

#include "base/encoding.hpp"
#include "base/hash.hpp"
#include "protocol/messages/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::agent {

namespace {

constexpr std::size_t max_runs = 50;
constexpr std::size_t max_content_bytes = std::size_t{16} << 20; // of all artifacts that are kept

std::size_t content_bytes(const SandboxmcpRun& run) {
    std::size_t bytes = 0;
    for (const SandboxmcpArtifact& artifact : run.artifacts) {
        bytes += artifact.content ? artifact.content->size() : 0;
    }
    return bytes;
}

// "png" of image/png, "svg" of image/svg+xml.
std::string ending_of(std::string_view type) {
    const std::string_view kind = type.substr(type.find('/') + 1);
    return std::string(kind.substr(0, kind.find('+')));
}

SandboxmcpArtifact artifact_of(const std::string& type, const RawJson& value, std::size_t number) {
    std::string content = value.type() == "string" ? decode_json_string(value.text()) : value.text();
    const std::optional<std::string> bytes = decode_base64(content);
    const bool is_binary = type.starts_with("image/") && type != "image/svg+xml" && bytes;
    SandboxmcpArtifact artifact;
    artifact.name = fmt::format("output-{}.{}", number, ending_of(type));
    artifact.sha256 = sha256(is_binary ? *bytes : content);
    artifact.size = is_binary ? bytes->size() : content.size();
    artifact.mime_type = type;
    artifact.content = std::move(content);
    return artifact;
}

} // namespace

void SandboxmcpRuns::add(SandboxmcpRun run) {
    ++count_;
    std::size_t bytes = content_bytes(run);
    runs_.push_front(std::move(run));
    for (std::size_t i = 1; i < runs_.size(); ++i) {
        bytes += content_bytes(runs_[i]);
        if (i == max_runs || bytes > max_content_bytes) {
            runs_.resize(i);
        }
    }
}

const SandboxmcpRun& SandboxmcpRuns::find(const std::string& request_id) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const SandboxmcpRun& each) { return each.request_id == request_id; });
    if (found == runs_.end()) {
        throw Error(ErrorCode::execution_not_found,
                    fmt::format("there is no request \"{}\" among the latest of this agent", request_id),
                    fmt::format("execute_code says the id; the latest {} are known", max_runs));
    }
    return *found;
}

std::vector<SandboxmcpArtifact> artifacts_of(const Streams& streams) {
    std::vector<SandboxmcpArtifact> artifacts;
    for (const std::map<std::string, RawJson>& data : streams.data) {
        for (const auto& [type, value] : data) {
            if (type != "text/plain") {
                artifacts.push_back(artifact_of(type, value, artifacts.size() + 1));
            }
        }
    }
    return artifacts;
}

Task<std::vector<SandboxmcpArtifact>> changed_files(SidecarClient* sidecar, std::string execution_id,
                                                    std::shared_ptr<mcp::ToolCall> call) {
    protocol::ChangesParams params;
    params.execution_id = std::move(execution_id);
    protocol::ChangesListResult changes;
    try {
        changes = co_await sidecar->call<protocol::ChangesList>(std::move(params), std::move(call));
    } catch (const protocol::RemoteError& error) {
        if (error.code != ErrorCode::execution_not_found && error.code != ErrorCode::denied) {
            throw; // these: none are kept, or they are not the agent's to see
        }
    }
    std::vector<SandboxmcpArtifact> artifacts;
    for (const protocol::ChangedFile& file : changes.files) {
        if (file.after) {
            SandboxmcpArtifact& artifact = artifacts.emplace_back();
            artifact.name = file.path;
            artifact.sha256 = file.after->sha256;
            artifact.size = file.after->bytes;
            artifact.change = file.kind == protocol::ChangeKind::created ? "created" : "modified";
        }
    }
    co_return artifacts;
}

Task<std::vector<protocol::RecordEntry>> record_of(SidecarClient* sidecar, std::string execution_id,
                                                   std::shared_ptr<mcp::ToolCall> call) {
    protocol::RecordQueryParams params;
    params.execution_id = std::move(execution_id);
    try {
        protocol::RecordQueryResult found =
            co_await sidecar->call<protocol::RecordQuery>(std::move(params), std::move(call));
        co_return std::move(found.entries);
    } catch (const protocol::RemoteError& error) {
        if (error.code != ErrorCode::denied) { // it is not the agent's to see
            throw;
        }
    }
    co_return std::vector<protocol::RecordEntry>{};
}

} // namespace cellgate::agent
