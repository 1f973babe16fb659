#include "lsp/server.hpp"

#include "approval_prompt.hpp"
#include "base/escape_unprintable.hpp"
#include "base/percent_encoding.hpp"
#include "daemon/connect.hpp"
#include "lsp/approval_text.hpp"
#include "lsp/client_connection.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace cellgate::cli::lsp {

namespace {

constexpr Duration moment = std::chrono::milliseconds(100);
constexpr std::int64_t refusal = -1;

constexpr const char* run_command = "cellgate.runCell";
constexpr const char* interrupt_command = "cellgate.interrupt";
constexpr const char* answer_command = "cellgate.answer";

// The first answer of a question. Editors preselect that one, so a key that was meant for the text allows nothing.
constexpr const char* later = "Decide later";

// What an editor can ask for. Documents are sent whole when they change.
constexpr std::string_view offered =
    R"({"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":1},)"
    R"("codeLensProvider":{},"codeActionProvider":{"codeActionKinds":["quickfix","source"]},)"
    R"("executeCommandProvider":{"commands":["cellgate.runCell","cellgate.interrupt","cellgate.answer"]}},)"
    R"("serverInfo":{"name":"cellgate","version":")" CELLGATE_VERSION R"("}})";

// Empty for another URI than that of a file here.
std::string path_of(std::string_view uri) {
    constexpr std::string_view scheme = "file://";
    if (!uri.starts_with(scheme)) {
        return {};
    }
    uri.remove_prefix(scheme.size());
    if (uri.starts_with("localhost/")) {
        uri.remove_prefix(std::string_view("localhost").size());
    }
    return uri.starts_with('/') ? percent_decode(uri) : std::string();
}

Command command_of(std::string title, const char* name, std::vector<RawJson> arguments) {
    return {std::move(title), name, std::move(arguments)};
}

CodeAction action_of(std::string kind, Command command, std::optional<std::vector<Diagnostic>> diagnostics) {
    CodeAction action;
    action.title = command.title;
    action.kind = std::move(kind);
    action.diagnostics = std::move(diagnostics);
    action.command = std::move(command);
    return action;
}

template <class T>
T argument(const ExecuteCommandParams& params, std::size_t index) {
    if (!params.arguments || params.arguments->size() <= index) {
        throw Error(ErrorCode::invalid_params, fmt::format("{}: expected {} arguments", params.command, index + 1));
    }
    return from_json<T>((*params.arguments)[index], fmt::format("params.arguments[{}]", index));
}

} // namespace

Server::Server(async::Loop& loop, std::unique_ptr<ByteStream> editor, std::string workspace)
    : loop_(loop), workspace_(std::move(workspace)),
      editor_(std::make_shared<ClientConnection>(std::move(editor)), protocol::Dialect::editor) {
    add_handlers();
}

void Server::add_handlers() {
    editor_.on_raw_request("initialize",
                           [this](RawJson params, const std::string&) { return initialize(std::move(params)); });
    editor_.on_raw_request("shutdown", [this](const RawJson&, const std::string&) { return shut_down(); });
    editor_.on_raw_request("workspace/executeCommand",
                           [this](RawJson params, const std::string&) { return execute_command(std::move(params)); });
    editor_.on_request<CodeLenses>([this](DocumentParams params) { return lenses(std::move(params)); });
    editor_.on_request<CodeActions>([this](DocumentParams params) { return actions(std::move(params)); });
    editor_.on_notification<DidOpen>([this](const DocumentParams& params) { opened(params); });
    editor_.on_notification<DidChange>([this](const DocumentParams& params) { changed(params); });
    editor_.on_notification<DidClose>([this](const DocumentParams& params) { closed(params); });
    editor_.on_notification<Exit>([this](const Empty&) { editor_.close(); });
}

Task<bool> Server::run() {
    co_await finally(editor_.run(), cancel_and_join(tasks_));
    co_return shut_down_;
}

// --- the conversation with the editor ---

Task<RawJson> Server::initialize(RawJson params) {
    auto given = from_json<InitializeParams>(params, "params");
    std::string workspace = workspace_;
    if (workspace.empty() && given.workspace_folders && !given.workspace_folders->empty()) {
        workspace = path_of(given.workspace_folders->front().uri);
    }
    if (workspace.empty()) {
        workspace = path_of(given.root_uri.value_or(""));
    }
    capabilities_ = given.capabilities.value_or(Capabilities{});
    std::string name = given.client_info ? given.client_info->name : "language client";
    room_ = name == "helix" ? Room::window : Room::document;
    tasks_.spawn(join_sidecar(workspace.empty() ? "." : std::move(workspace), std::move(name)));
    co_await joined_.wait();
    if (join_error_) {
        std::rethrow_exception(join_error_);
    }
    co_return RawJson::parse(offered);
}

Task<RawJson> Server::shut_down() {
    shut_down_ = true;
    co_return RawJson::parse("null");
}

Task<void> Server::join_sidecar(std::string workspace, std::string name) {
    try {
        daemon::WorkspaceSidecarOptions options;
        options.workspace = std::move(workspace);
        options.role = protocol::Role::user;
        std::unique_ptr<async::UnixStream> stream = co_await daemon::connect_to_workspace(loop_, std::move(options));
        sidecar_ = std::make_unique<WorkspaceClient>(loop_, std::move(stream), std::move(name));
        sidecar_->answer_approvals(
            [this](const protocol::Approval& approval) { requested(approval); },
            [this](const protocol::ApprovalResolvedParams& params) { resolved(params.approval_id); });
        sidecar_->on_notification<protocol::ExecuteOutput>(
            [this](const protocol::ExecuteOutputParams& params) { add_output(params); });
        co_await sidecar_->run(stay(&joined_));
        say(Severity::error, "cellgate's sidecar of this workspace has ended. Restart the language server.");
        editor_.close();
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        if (sidecar_) {
            editor_.close();
        }
        join_error_ = std::current_exception();
        joined_.set();
    }
}

Task<void> Server::stay(Event* joined) {
    joined->set();
    co_await sidecar_->wait();
}

WorkspaceClient& Server::sidecar() {
    if (!sidecar_) {
        throw Error(ErrorCode::server_not_initialized, "expected initialize first");
    }
    return *sidecar_;
}

void Server::opened(const DocumentParams& params) {
    const TextDocument& document = params.document;
    documents_.insert_or_assign(
        document.uri,
        OpenDocument{Document(document.language.value_or(""), document.text.value_or("")), document.version});
    for (auto& [id, waiting] : waiting_) {
        if (is_in_document(waiting)) {
            if (waiting.question) {
                waiting.question->cancel();
            }
            waiting.line = waiting.approval.origin->line;
        }
    }
    publish(document.uri);
}

void Server::changed(const DocumentParams& params) {
    const auto found = documents_.find(params.document.uri);
    if (found == documents_.end() || !params.changes || params.changes->empty()) {
        return;
    }
    const std::string& text = params.changes->back().text;
    const LineMove move(found->second.document.text(), text);
    for (auto& [id, waiting] : waiting_) {
        if (is_in_document(waiting)) {
            waiting.line = move(waiting.line);
        }
    }
    for (Run& run : runs_) {
        if (run.uri == found->first) {
            run.span = {move(run.span.first), move(run.span.last)};
            run.line = move(run.line);
        }
    }
    found->second.document.set_text(text);
    found->second.version = params.document.version;
    publish(found->first);
}

void Server::closed(const DocumentParams& params) {
    const std::string uri = params.document.uri;
    documents_.erase(uri);
    std::erase_if(runs_, [&](const Run& run) { return run.uri == uri && run.ended; });
    PublishDiagnosticsParams nothing;
    nothing.uri = uri;
    editor_.notify<PublishDiagnostics>(nothing);
    for (auto& [id, waiting] : waiting_) {
        if (waiting.approval.origin && waiting.approval.origin->uri == uri) {
            ask(waiting);
        }
    }
}

Task<std::vector<CodeLens>> Server::lenses(DocumentParams params) {
    std::vector<CodeLens> lenses;
    const auto found = documents_.find(params.document.uri);
    if (found == documents_.end()) {
        co_return lenses;
    }
    const Document& document = found->second.document;
    for (const Cell& cell : document.cells()) {
        CodeLens lens;
        lens.range = document.range_of(cell.line);
        lens.command = command_of("Run Cell", run_command, {to_raw_json(params.document.uri), to_raw_json(cell.line)});
        for (const Run& run : runs_) {
            if (!run.ended && run.uri == params.document.uri && run.span.first == cell.line) {
                lens.command = command_of("Interrupt", interrupt_command, {to_raw_json(run.session_id)});
            }
        }
        lenses.push_back(std::move(lens));
    }
    co_return lenses;
}

Task<std::vector<CodeAction>> Server::actions(DocumentParams params) {
    std::vector<CodeAction> actions;
    const auto found = documents_.find(params.document.uri);
    if (found == documents_.end() || !params.range) {
        co_return actions;
    }
    const std::int64_t first = params.range->start.line;
    const std::int64_t last = params.range->end.line;
    const Document& document = found->second.document;
    for (const auto& [id, waiting] : waiting_) {
        if (!is_in_document(waiting) || waiting.approval.origin->uri != params.document.uri || waiting.line < first ||
            waiting.line > last) {
            continue;
        }
        Diagnostic diagnostic;
        diagnostic.range = document.range_of(waiting.line);
        diagnostic.severity = static_cast<int>(Severity::warning);
        diagnostic.message = shown_text(waiting.approval, room_);
        const std::size_t choices = whole_text(waiting.approval, room_) ? waiting.approval.choices.size() : 0;
        for (std::size_t i = 0; i < choices; ++i) {
            Command command = command_of("Allow " + waiting.approval.choices[i].label, answer_command,
                                         {to_raw_json(id), to_raw_json(static_cast<std::int64_t>(i))});
            actions.push_back(action_of("quickfix", std::move(command), std::vector<Diagnostic>{diagnostic}));
        }
        Command deny = command_of("Deny", answer_command, {to_raw_json(id), to_raw_json(refusal)});
        actions.push_back(action_of("quickfix", std::move(deny), std::vector<Diagnostic>{diagnostic}));
    }
    if (const Cell* const cell = document.cell_at(first)) {
        Command command =
            command_of("Run Cell", run_command, {to_raw_json(params.document.uri), to_raw_json(cell->line)});
        actions.push_back(action_of("source", std::move(command), std::nullopt));
    }
    for (const Run& run : runs_) {
        if (!run.ended && run.uri == params.document.uri && run.span.first <= last && first <= run.span.last) {
            Command command = command_of("Interrupt", interrupt_command, {to_raw_json(run.session_id)});
            actions.push_back(action_of("source", std::move(command), std::nullopt));
        }
    }
    co_return actions;
}

Task<RawJson> Server::execute_command(RawJson params) {
    const auto given = from_json<ExecuteCommandParams>(params, "params");
    if (given.command == run_command) {
        start_cell(argument<std::string>(given, 0), argument<std::int64_t>(given, 1));
    } else if (given.command == interrupt_command) {
        protocol::SessionInterrupt::Params interrupt;
        interrupt.session_id = argument<std::string>(given, 0);
        co_await sidecar().call<protocol::SessionInterrupt>(std::move(interrupt));
    } else if (given.command == answer_command) {
        co_await answer(argument<std::string>(given, 0), argument<std::int64_t>(given, 1));
    } else {
        throw Error(ErrorCode::invalid_params, "params.command: expected a command of cellgate's");
    }
    co_return RawJson::parse("null");
}

// --- what waits for an answer ---

bool Server::is_in_document(const Waiting& waiting) const {
    const auto& origin = waiting.approval.origin;
    return origin && origin->uri && documents_.contains(*origin->uri);
}

void Server::requested(const protocol::Approval& approval) {
    Waiting& waiting = waiting_[approval.approval_id];
    waiting.approval = approval;
    if (!is_in_document(waiting)) {
        ask(waiting);
        return;
    }
    waiting.line = approval.origin->line;
    // What was typed since the cell was run has moved its lines.
    if (const Run* const run = find_run(approval.execution_id.value_or(""));
        run != nullptr && run->first_sent != run->span.first) {
        waiting.line += run->span.first - run->first_sent;
    }
    publish(*approval.origin->uri);
}

void Server::resolved(const std::string& approval_id) {
    const auto gone = waiting_.extract(approval_id);
    if (!gone) {
        return;
    }
    if (gone.mapped().question) {
        gone.mapped().question->cancel();
    }
    if (is_in_document(gone.mapped())) {
        publish(*gone.mapped().approval.origin->uri);
    }
}

void Server::ask(Waiting& waiting) {
    waiting.question = tasks_.spawn(ask_in_window(waiting.approval.approval_id));
}

Task<void> Server::ask_in_window(std::string approval_id) {
    const protocol::Approval approval = find_waiting(approval_id).approval;
    const std::optional<std::string> whole = whole_text(approval, Room::window);
    ShowMessageRequestParams question;
    question.message = whole.value_or(reference_text(approval));
    question.actions.push_back({later});
    if (whole) {
        for (const protocol::Choice& choice : approval.choices) {
            question.actions.push_back({"Allow " + choice.label});
        }
    }
    question.actions.push_back({"Deny"});
    RawJson params = to_raw_json(question);
    std::string title = later;
    try {
        const RawJson given = co_await editor_.call_raw("window/showMessageRequest", std::move(params));
        if (given.type() != "null") {
            title = from_json<MessageAction>(given, "result").title;
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) { // an editor without such questions
    }
    if (title == later) {
        say(Severity::warning, fmt::format("{} still waits for an answer: cellgate approvals allow {}",
                                           approval.display.front(), ApprovalPrompt::short_id(approval.approval_id)));
        co_return;
    }
    std::int64_t choice = refusal;
    for (std::size_t i = 1; i + 1 < question.actions.size(); ++i) {
        choice = question.actions[i].title == title ? static_cast<std::int64_t>(i - 1) : choice;
    }
    co_await answer(approval_id, choice);
}

Server::Waiting& Server::find_waiting(const std::string& approval_id) {
    const auto found = waiting_.find(approval_id);
    if (found == waiting_.end()) {
        throw Error(ErrorCode::approval_not_found, "it was answered, or does not wait any more");
    }
    return found->second;
}

Task<void> Server::answer(std::string approval_id, std::int64_t choice) {
    const protocol::Approval& approval = find_waiting(approval_id).approval;
    protocol::ApprovalRespondParams params;
    params.approval_ids = {approval_id};
    params.decision = protocol::Verdict::deny;
    if (choice != refusal) {
        if (choice < 0 || static_cast<std::size_t>(choice) >= approval.choices.size() || !whole_text(approval, room_)) {
            throw Error(ErrorCode::denied, "expected one of the answers that were offered");
        }
        const protocol::Choice& chosen = approval.choices[static_cast<std::size_t>(choice)];
        params.decision = protocol::Verdict::allow;
        params.scope = chosen.scope;
        params.rule = chosen.rule;
        if (approval.confirm) {
            say(Severity::information, "Touch your security key to confirm it.");
        }
    }
    co_await sidecar().call<protocol::ApprovalRespond>(std::move(params));
}

// --- what the editor shows ---

void Server::publish(const std::string& uri) {
    const auto found = documents_.find(uri);
    if (found == documents_.end()) {
        return;
    }
    const Document& document = found->second.document;
    PublishDiagnosticsParams shown;
    shown.uri = uri;
    shown.version = found->second.version;
    const auto add = [&](std::int64_t line, Severity severity, std::string text) {
        Diagnostic diagnostic;
        diagnostic.range = document.range_of(line);
        diagnostic.severity = static_cast<int>(severity);
        diagnostic.message = std::move(text);
        shown.diagnostics.push_back(std::move(diagnostic));
    };
    for (const auto& [id, waiting] : waiting_) {
        if (is_in_document(waiting) && waiting.approval.origin->uri == uri) {
            add(waiting.line, Severity::warning, shown_text(waiting.approval, room_));
        }
    }
    for (const Run& run : runs_) {
        if (run.uri == uri) {
            add(run.line, run.severity, printable_text(run.output + run.end));
        }
    }
    editor_.notify<PublishDiagnostics>(shown);
}

void Server::publish_later(const std::string& uri) {
    if (dirty_.insert(uri).second) {
        tasks_.spawn(publish_after_a_moment(uri));
    }
}

Task<void> Server::publish_after_a_moment(std::string uri) {
    co_await sleep_for(loop_.clock(), moment);
    dirty_.erase(uri);
    publish(uri);
}

void Server::refresh_lenses() {
    const auto& workspace = capabilities_.workspace;
    if (workspace && workspace->code_lens && workspace->code_lens->refresh.value_or(false)) {
        tasks_.spawn(ask_to_refresh());
    }
}

Task<void> Server::ask_to_refresh() {
    co_await editor_.call_raw("workspace/codeLens/refresh", RawJson::parse("{}"));
}

void Server::say(Severity severity, std::string text) {
    ShowMessageParams message;
    message.type = static_cast<int>(severity);
    message.message = std::move(text);
    editor_.notify<ShowMessage>(message);
}

} // namespace cellgate::cli::lsp
