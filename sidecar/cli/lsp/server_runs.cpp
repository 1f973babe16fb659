// The cells that the editor runs.

#include "base/enum_name.hpp"
#include "base/json_scan.hpp"
#include "base/names.hpp"
#include "lsp/server.hpp"
#include "output_text.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::cli::lsp {

namespace {

constexpr std::size_t max_output_bytes = std::size_t{4} << 10;

std::string end_words(const protocol::ExecuteResult& result) {
    const std::string_view status = enum_name(result.status);
    std::string words = fmt::format("{} after {:.1f} s", status, result.duration_seconds);
    if (result.reason) {
        words += ": " + *result.reason;
    }
    return words;
}

} // namespace

Server::Run* Server::find_run(const std::string& execution_id) {
    const auto found =
        std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.execution_id == execution_id; });
    return found == runs_.end() ? nullptr : &*found;
}

void Server::remove_ended(const Run& later) {
    const Run over = later; // it may be one of them, and move
    std::erase_if(runs_, [&](const Run& each) {
        return each.ended && each.execution_id != over.execution_id && each.uri == over.uri &&
               each.span.first <= over.span.last && over.span.first <= each.span.last;
    });
}

void Server::start_cell(const std::string& uri, std::int64_t line) {
    const auto found = documents_.find(uri);
    const Cell* const cell = found == documents_.end() ? nullptr : found->second.document.cell_at(line);
    if (cell == nullptr) {
        throw Error(ErrorCode::invalid_params, "there is no cell at this line");
    }
    Run run;
    run.uri = uri;
    run.span = found->second.document.span_of(*cell);
    run.first_sent = run.span.first;
    run.line = run.span.last;
    run.execution_id = random_id();
    run.end = "running";
    remove_ended(run);
    protocol::ExecuteParams params;
    params.execution_id = run.execution_id;
    params.code = cell->code;
    params.timeout_seconds = cell->timeout;
    params.cell = {uri, cell->line};
    tasks_.spawn(run_cell(run.execution_id, std::move(params), found->second.document.language_of(*cell)));
    runs_.push_back(std::move(run));
    publish(uri);
    refresh_lenses();
}

Task<void> Server::run_cell(std::string execution_id, protocol::ExecuteParams params, std::string language) {
    try {
        std::string session = co_await session_for(std::move(language));
        if (Run* const run = find_run(execution_id)) {
            run->session_id = session;
        }
        params.session_id = std::move(session);
        const protocol::ExecuteResult result = co_await sidecar().call<protocol::Execute>(std::move(params));
        end_run(execution_id, result);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        fail_run(execution_id, error.hint.empty() ? error.message : error.message + "\n" + error.hint);
    }
    refresh_lenses();
}

// The session of this language that all editors of the workspace use; it is started when it is not there.
Task<std::string> Server::session_for(std::string language) {
    std::string id = language == "python" ? "default" : language;
    for (char& each : id) {
        each = is_identifier(std::string("a") + each) ? each : '_';
    }
    const Empty nothing;
    const protocol::SessionListResult list = co_await sidecar().call<protocol::SessionList>(nothing);
    const bool is_there = std::any_of(list.sessions.begin(), list.sessions.end(),
                                      [&](const protocol::SessionInfo& each) { return each.session_id == id; });
    if (!is_there && id != "default") {
        protocol::SessionCreateParams create;
        create.session_id = id;
        create.language = std::move(language);
        co_await sidecar().call<protocol::SessionCreate>(std::move(create));
    }
    co_return id;
}

void Server::add_output(const protocol::ExecuteOutputParams& params) {
    Run* const run = find_run(params.execution_id);
    if (run == nullptr || run->ended || run->cut) {
        return;
    }
    if (!params.output) {
        run->output += "[output that was too much]\n";
    } else if (json_member_text(params.output->text(), "output_type") != "error") { // it is how the run ends
        run->output += output_text(*params.output, false).text;
    }
    if (run->output.size() > max_output_bytes) {
        const std::size_t line = run->output.rfind('\n', max_output_bytes);
        run->output.resize(line == std::string::npos ? max_output_bytes : line + 1);
        run->output += "…\n";
        run->cut = true;
    }
    publish_later(run->uri);
}

void Server::end_run(const std::string& execution_id, const protocol::ExecuteResult& result) {
    Run* const run = find_run(execution_id);
    if (run == nullptr) {
        return;
    }
    run->ended = true;
    run->end = end_words(result);
    run->severity = result.status == protocol::ExecutionStatus::ok ? Severity::information : Severity::error;
    if (result.error) {
        const auto& frames = result.error->frames;
        const auto in_document =
            std::find_if(frames.rbegin(), frames.rend(), [&](const auto& frame) { return frame.uri == run->uri; });
        if (in_document != frames.rend()) {
            run->line = in_document->line + run->span.first - run->first_sent;
        }
        run->end = fmt::format("{}: {}", result.error->ename, result.error->evalue);
    }
    for (const protocol::Note& note : result.notes.value_or(std::vector<protocol::Note>())) {
        run->end += "\n" + note.text;
    }
    const std::string uri = run->uri;
    remove_ended(*run);
    publish(uri);
}

void Server::fail_run(const std::string& execution_id, const std::string& why) {
    if (Run* const run = find_run(execution_id)) {
        run->ended = true;
        run->severity = Severity::error;
        run->end = why;
        const std::string uri = run->uri;
        remove_ended(*run);
        publish(uri);
    }
}

} // namespace cellgate::cli::lsp
