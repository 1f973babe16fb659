#pragma once
// `SandboxmcpRuns` is the latest executions of an agent, with what get_artifacts and audit_execution say about them: an
// execution without a session of its own has a session that ends with it, and the sidecar forgets it then.

#include "base/raw_json.hpp"
#include "output_reader.hpp"
#include "protocol/messages/record.hpp"
#include "sidecar_client.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::agent {

// A picture or other data that an execution displayed, or a file of the workspace that changed meanwhile.
struct SandboxmcpArtifact {
    std::string name; // of a file: relative to the workspace
    std::string sha256;
    std::uint64_t size = 0;               // bytes
    std::optional<std::string> mime_type; // of data
    std::optional<std::string> content;   // of data; binary data in base64
    std::optional<std::string> change;    // of a file: created, modified
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("sha256", self.sha256);
        visit("size", self.size);
        visit("mime_type", self.mime_type);
        visit("content", self.content);
        visit("change", self.change);
    }
};

struct SandboxmcpRun {
    std::string request_id; // of the execution
    std::string session_id;
    std::string name_space;
    std::vector<SandboxmcpArtifact> artifacts;
    std::vector<protocol::RecordEntry> entries; // newest first
};

class SandboxmcpRuns {
  public:
    // The oldest ones make room.
    void add(SandboxmcpRun run);
    // Throws Error{execution_not_found}.
    const SandboxmcpRun& find(const std::string& request_id) const;
    // Newest first.
    const std::deque<SandboxmcpRun>& all() const { return runs_; }
    std::uint64_t count() const { return count_; } // of all that were added

  private:
    std::deque<SandboxmcpRun> runs_;
    std::uint64_t count_ = 0;
};

// Of data that is not plain text.
std::vector<SandboxmcpArtifact> artifacts_of(const Streams& streams);

// The files that changed in the workspace while the agent's execution ran. None where no changes are kept.
Task<std::vector<SandboxmcpArtifact>> changed_files(SidecarClient* sidecar, std::string execution_id,
                                                    std::shared_ptr<mcp::ToolCall> call);

// The record of the agent's execution.
Task<std::vector<protocol::RecordEntry>> record_of(SidecarClient* sidecar, std::string execution_id,
                                                   std::shared_ptr<mcp::ToolCall> call);

} // namespace cellgate::agent
