#pragma once
// `Server` is the language server of `cellgate lsp`: between an editor that speaks LSP and the workspace's sidecar.
// What waits for an answer is a warning at the line that calls; the answers are code actions, where the whole
// action fits there. Cells are lenses and code actions; what they print is a diagnostic.

#include "async/loop.hpp"
#include "base/byte_stream.hpp"
#include "base/sync.hpp"
#include "lsp/approval_text.hpp"
#include "lsp/document.hpp"
#include "lsp/messages.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/peer.hpp"
#include "workspace_client.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace cellgate::cli::lsp {

class Server {
  public:
    // `workspace`: if it is empty, the folder that the editor names, or else the current one.
    Server(async::Loop& loop, std::unique_ptr<ByteStream> editor, std::string workspace);

    // Until the editor says `exit`, or the connection ends. False: without a `shutdown` before it.
    Task<bool> run();

  private:
    struct OpenDocument {
        Document document;
        std::optional<std::int64_t> version;
    };
    struct Waiting {
        protocol::Approval approval;
        std::int64_t line = 0;                 // of the call, where it is now
        std::shared_ptr<CancelState> question; // to a user who has not opened the document
    };
    // A run of a cell, the last of it.
    struct Run {
        std::string uri;
        LineSpan span;               // now
        std::int64_t first_sent = 0; // its first line when it was run
        std::string execution_id;
        std::string session_id;
        bool ended = false;
        std::string output; // its beginning
        bool cut = false;
        Severity severity = Severity::information;
        std::int64_t line = 0; // where that is shown
        std::string end;       // how it ended
    };

    void add_handlers();
    Task<RawJson> initialize(RawJson params);
    Task<RawJson> shut_down();
    Task<RawJson> execute_command(RawJson params);
    Task<std::vector<CodeLens>> lenses(DocumentParams params);
    Task<std::vector<CodeAction>> actions(DocumentParams params);

    void opened(const DocumentParams& params);
    void changed(const DocumentParams& params);
    void closed(const DocumentParams& params);

    Task<void> join_sidecar(std::string workspace, std::string name);
    Task<void> stay(Event* joined);
    WorkspaceClient& sidecar();

    void requested(const protocol::Approval& approval);
    void resolved(const std::string& approval_id);
    bool is_in_document(const Waiting& waiting) const;
    // A question, where there is no line to show it at.
    void ask(Waiting& waiting);
    Task<void> ask_in_window(std::string approval_id);
    // -1: no.
    Task<void> answer(std::string approval_id, std::int64_t choice);
    Waiting& find_waiting(const std::string& approval_id);

    void start_cell(const std::string& uri, std::int64_t line);
    Task<void> run_cell(std::string execution_id, protocol::ExecuteParams params, std::string language);
    Task<std::string> session_for(std::string language);
    void add_output(const protocol::ExecuteOutputParams& params);
    void end_run(const std::string& execution_id, const protocol::ExecuteResult& result);
    void fail_run(const std::string& execution_id, const std::string& why);
    Run* find_run(const std::string& execution_id);
    // Other runs of the same lines.
    void remove_ended(const Run& later);

    void publish(const std::string& uri);
    // Soon: output may come in many pieces.
    void publish_later(const std::string& uri);
    Task<void> publish_after_a_moment(std::string uri);
    void refresh_lenses();
    Task<void> ask_to_refresh();
    void say(Severity severity, std::string text);

    async::Loop& loop_;
    std::string workspace_;
    protocol::Peer editor_;
    std::unique_ptr<WorkspaceClient> sidecar_;
    Event joined_;
    std::exception_ptr join_error_;
    Capabilities capabilities_;
    Room room_ = Room::document; // of diagnostics
    bool shut_down_ = false;
    std::map<std::string, OpenDocument> documents_; // by their URIs
    std::map<std::string, Waiting> waiting_;        // by the approvals' ids
    std::vector<Run> runs_;
    std::set<std::string> dirty_; // documents that will be published
    TaskScope tasks_;
};

} // namespace cellgate::cli::lsp
