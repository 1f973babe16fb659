#include "run_code.hpp"

#include "base/json_scan.hpp"
#include "base/names.hpp"
#include "output_reader.hpp"
#include "protocol/code_advice.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace cellgate::agent {

namespace {

constexpr Duration between_reports = std::chrono::milliseconds(200);

std::string latest_line(const RawJson& output) {
    const std::string text = plain_text(json_member_text(output.text(), "text").value_or(""));
    const std::size_t end = text.find_last_not_of(" \n\r\t");
    if (end == std::string::npos) {
        return "there is output";
    }
    const std::size_t line_break = text.find_last_of("\n\r", end);
    const std::size_t begin = line_break == std::string::npos ? 0 : line_break + 1;
    return text.substr(begin, end + 1 - begin);
}

// Reports at most a few times a second.
SidecarClient::OnOutput reporter(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> call) {
    return [sidecar, call, last = std::optional<Instant>()](const protocol::ExecuteOutputParams& output) mutable {
        const Instant now = sidecar->clock().now();
        if (!output.output || (last && now - *last < between_reports)) {
            return;
        }
        last = now;
        call->report(latest_line(*output.output));
    };
}

Task<protocol::ExecuteResult> run_as_told(SidecarClient* sidecar, protocol::ExecuteParams params,
                                          std::shared_ptr<mcp::ToolCall> call, std::string* id) {
    std::string before;
    if (id) {
        before = std::exchange(*id, random_id());
        params.execution_id = *id;
    }
    SidecarClient::OnOutput on_output = reporter(sidecar, call);
    try {
        co_return co_await sidecar->execute(std::move(params), std::move(call), std::move(on_output));
    } catch (const protocol::RemoteError&) { // it did not begin
        if (id) {
            *id = std::move(before);
        }
        throw;
    }
}

Task<protocol::ExecuteResult> run_in_time(SidecarClient* sidecar, protocol::ExecuteParams params, double usual_seconds,
                                          std::shared_ptr<mcp::ToolCall> call, std::string* id) {
    if (!params.timeout_seconds) {
        protocol::ExecuteParams usual = params;
        usual.timeout_seconds = usual_seconds;
        try {
            co_return co_await run_as_told(sidecar, std::move(usual), call, id);
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::limit_exceeded) {
                throw;
            }
        }
        // It is more than a user allows agents: without a time limit, the sidecar takes that.
    }
    co_return co_await run_as_told(sidecar, std::move(params), std::move(call), id);
}

} // namespace

Task<protocol::ExecuteResult> run_code(SidecarClient* sidecar, protocol::ExecuteParams params, double usual_seconds,
                                       std::shared_ptr<mcp::ToolCall> call, std::string* id) {
    protocol::ExecuteParams again = params;
    std::exception_ptr not_found;
    try {
        co_return co_await run_in_time(sidecar, std::move(params), usual_seconds, call, id);
    } catch (const protocol::RemoteError& error) {
        if (error.code != ErrorCode::session_not_found || !again.session_id) {
            throw;
        }
        not_found = std::current_exception();
    }
    std::string session = *again.session_id;
    const bool is_renewed = co_await sidecar->renew(std::move(session), call);
    if (!is_renewed) {
        std::rethrow_exception(not_found);
    }
    co_return co_await run_in_time(sidecar, std::move(again), usual_seconds, std::move(call), id);
}

std::string advice_of(const protocol::Note& note) {
    return note.remedy.starts_with(protocol::code_advice) ? note.remedy : "for your user: " + note.remedy;
}

} // namespace cellgate::agent
