#include "sidecar_client.hpp"

#include "base/names.hpp"
#include "base/text.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/origin_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <unistd.h>

namespace cellgate::agent {

namespace {

constexpr std::size_t max_latest_executions = 50;
constexpr std::size_t max_name_bytes = 200; // the sidecar shows fewer

constexpr std::string_view usual_language = "python";

// As a part of a session's id.
std::string in_an_id(std::string language) {
    constexpr std::size_t max_bytes = 40;
    const auto is_plain = [](unsigned char byte) { return byte < 0x80 && std::isalnum(byte) != 0; };
    std::replace_if(language.begin(), language.end(), std::not_fn(is_plain), '_');
    return language.substr(0, max_bytes);
}

// Lines that were wrapped for a terminal are joined, for a window that wraps them itself. Continuations are known by
// their mark, which begins no other line. A text with spaces in a row stays as it is: they could put what follows into
// a row of the window that looks like another line.
std::vector<std::string> whole_lines(const std::vector<std::string>& lines) {
    constexpr std::string_view mark = "↳ ";
    constexpr std::string_view before_mark = " +-"; // the sign of a change, and the indentation
    std::vector<std::string> whole;
    for (std::size_t i = 0; i < lines.size();) {
        std::string joined = lines[i];
        std::size_t end = i + 1;
        for (; end < lines.size(); ++end) {
            const std::string_view line = lines[end];
            const std::size_t at = std::min(line.find_first_not_of(before_mark), line.size());
            if (!line.substr(at).starts_with(mark)) {
                break;
            }
            joined += line.substr(at + mark.size());
        }
        const std::size_t text = joined.find_first_not_of(before_mark);
        if (text != std::string::npos && joined.find("  ", text) != std::string::npos) {
            for (; i < end; ++i) {
                whole.push_back(lines[i]);
            }
        } else {
            whole.push_back(std::move(joined));
        }
        i = end;
    }
    return whole;
}

protocol::ApprovalElicitResult answer_of(mcp::Consent consent) {
    protocol::ApprovalElicitResult answer;
    answer.decision = mcp::is_yes(consent) ? protocol::Verdict::allow : protocol::Verdict::deny;
    switch (consent) {
    case mcp::Consent::once:
        break;
    case mcp::Consent::until_end:
        answer.scope = protocol::Scope::execution;
        break;
    case mcp::Consent::declined:
        answer.how = protocol::Refusal::declined;
        break;
    case mcp::Consent::cancelled:
        answer.how = protocol::Refusal::cancelled;
        break;
    case mcp::Consent::not_ticked:
        answer.how = protocol::Refusal::not_ticked;
        break;
    }
    return answer;
}

} // namespace

SidecarClient::SidecarClient(Clock& clock, Connect connect, std::map<std::string, std::string> environment,
                             ParameterNames names)
    : clock_(clock), connect_(std::move(connect)), environment_(std::move(environment)), names_(std::move(names)),
      id_("agent-" + random_id().substr(0, 12)) {}

void SidecarClient::rename_parameter(std::string& message) const {
    for (const auto& [of_protocol, name] : names_) {
        if (message.starts_with(of_protocol)) {
            message.replace(0, of_protocol.size(), name);
            return;
        }
    }
}

Task<std::shared_ptr<protocol::Peer>> SidecarClient::connected(std::shared_ptr<mcp::ToolCall> on_behalf) {
    if (!first_call_) {
        first_call_ = std::move(on_behalf);
    }
    if (peer_ && !peer_->closed()) {
        co_return peer_;
    }
    const Mutex::Lock turn = co_await connecting_.lock();
    if (!peer_ || peer_->closed()) { // unless the previous turn connected
        peer_ = co_await connect();
    }
    co_return peer_;
}

Task<std::shared_ptr<protocol::Peer>> SidecarClient::connect() {
    std::unique_ptr<ByteStream> stream = co_await connect_();
    auto connection =
        std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length);
    const auto peer = std::make_shared<protocol::Peer>(std::move(connection), protocol::Dialect::editor);
    peer->on_notification<protocol::ExecuteOutput>([this](const protocol::ExecuteOutputParams& output) {
        const auto found = running_.find(output.execution_id);
        if (found != running_.end()) {
            const OnOutput on_output = found->second.on_output;
            on_output(output);
        }
    });
    peer->on_notification<protocol::ExecuteProgress>([this](const protocol::ExecuteProgressParams& progress) {
        const auto found = running_.find(progress.execution_id);
        if (found != running_.end() && progress.message) {
            found->second.call->report(fmt::format("{}, {}: {}", progress.server, progress.tool, *progress.message));
        }
    });
    peer->on_notification<protocol::Progress>([this](const protocol::ProgressParams& progress) {
        const auto found = installing_.find(progress.token.text());
        if (found != installing_.end() && progress.value.message) {
            const OnLine on_line = found->second;
            on_line(*progress.value.message);
        }
    });
    peer->on_request<protocol::ApprovalElicit>(
        [this](protocol::ApprovalElicitParams asked) { return elicit(std::move(asked)); });
    tasks_.spawn(serve(peer));
    for (auto& [language, session] : own_) {
        session.is_there = false;
    }
    protocol::InitializeParams params;
    const std::string& name = first_call_->client().name;
    params.client_info.name = name.empty() ? "an MCP client" : name.substr(0, max_name_bytes);
    params.client_info.version = first_call_->client().version.substr(0, max_name_bytes);
    params.capabilities.elicitation = first_call_->can_ask();
    params.process_id.value = ::getpid();
    try {
        co_await peer->call<protocol::Initialize>(std::move(params));
    } catch (const Error&) {
        peer->close();
        throw;
    }
    peer->notify<protocol::Initialized>(Empty{});
    co_return peer;
}

Task<void> SidecarClient::serve(std::shared_ptr<protocol::Peer> peer) {
    co_await peer->run();
}

// That of the execution. A run of a saved tool has none: then another call, since all of them ask the same user.
std::shared_ptr<mcp::ToolCall> SidecarClient::call_to_ask_in(const std::string& execution_id) const {
    const auto own = running_.find(execution_id);
    if (own != running_.end()) {
        return own->second.call;
    }
    const auto other = std::find_if(running_.begin(), running_.end(),
                                    [](const auto& each) { return each.second.call && each.second.call->can_ask(); });
    return other == running_.end() ? asking_ : other->second.call;
}

Task<protocol::ApprovalElicitResult> SidecarClient::elicit(protocol::ApprovalElicitParams params) {
    std::shared_ptr<mcp::ToolCall> call = asking_;
    if (params.execution_id) {
        call = call_to_ask_in(*params.execution_id);
    }
    if (!call || !call->can_ask()) {
        throw Error(ErrorCode::forbidden, "no call of the agent can ask its user");
    }
    mcp::ConsentRequest question;
    question.text = "Code that runs in cellgate wants to do this:\n";
    for (const std::string& line : whole_lines(params.display)) {
        question.text += "\n" + line;
    }
    if (params.origin) {
        question.text += "\n\n" + protocol::origin_text(*params.origin);
    }
    question.until_end = params.until_cell_ends;
    const mcp::Consent consent = co_await call->ask(std::move(question));
    co_return answer_of(consent);
}

Task<std::string> SidecarClient::own_session(std::optional<std::string> language,
                                             std::shared_ptr<mcp::ToolCall> on_behalf) {
    co_await connected(on_behalf);
    const std::string name = lower(language.value_or(std::string(usual_language)));
    OwnSession& session = own_[name];
    if (session.is_there) {
        co_return session.id;
    }
    const Mutex::Lock turn = co_await creating_.lock();
    if (!session.is_there) { // unless the previous turn created it
        protocol::SessionCreateParams params;
        if (name == usual_language) {
            session.id = id_;
        } else {
            session.id = fmt::format("{}-{}", id_, in_an_id(name));
            params.language = std::move(language);
        }
        params.session_id = session.id;
        try {
            co_await create_session(std::move(params), std::move(on_behalf));
        } catch (const protocol::RemoteError& error) {
            // The session of a lost connection has not ended yet.
            if (error.code != ErrorCode::session_exists) {
                throw;
            }
        }
        session.is_there = true;
        session.lost = std::exchange(session.was_there, true);
    }
    co_return session.id;
}

Task<protocol::SessionInfo> SidecarClient::create_session(protocol::SessionCreateParams params,
                                                          std::shared_ptr<mcp::ToolCall> on_behalf) {
    if (!params.session_id) {
        params.session_id = fmt::format("{}-{}", id_, ++created_);
    }
    params.env = environment_;
    // Its start may need an approval: the kernel can be the workspace's own.
    co_return co_await call_with_approval<protocol::SessionCreate>(std::move(params), std::move(on_behalf));
}

Task<bool> SidecarClient::renew(std::string session, std::shared_ptr<mcp::ToolCall> on_behalf) {
    const auto own =
        std::find_if(own_.begin(), own_.end(), [&session](const auto& each) { return each.second.id == session; });
    if (own == own_.end()) {
        co_return false;
    }
    own->second.is_there = false;
    std::optional<std::string> language = own->first;
    co_await own_session(std::move(language), std::move(on_behalf));
    co_return true;
}

bool SidecarClient::take_loss(const std::string& session) {
    for (auto& [language, own] : own_) {
        if (own.id == session) {
            return std::exchange(own.lost, false);
        }
    }
    return false;
}

Task<void> SidecarClient::close_session(std::string session, std::shared_ptr<mcp::ToolCall> on_behalf) {
    protocol::SessionParams params;
    params.session_id = session;
    co_await call<protocol::SessionClose>(std::move(params), std::move(on_behalf));
    for (auto& [language, own] : own_) {
        if (own.id == session) {
            own.is_there = own.was_there = false;
        }
    }
}

Task<protocol::PackagesInstallResult> SidecarClient::install(protocol::PackagesInstallParams params,
                                                             std::shared_ptr<mcp::ToolCall> on_behalf, OnLine on_line) {
    const std::string token = to_json(random_id());
    params.work_done_token = RawJson::checked(token);
    installing_[token] = std::move(on_line);
    const ScopeExit forget([&] { installing_.erase(token); });
    co_return co_await call_with_approval<protocol::PackagesInstall>(std::move(params), std::move(on_behalf));
}

Task<protocol::ExecuteResult> SidecarClient::execute(protocol::ExecuteParams params,
                                                     std::shared_ptr<mcp::ToolCall> on_behalf, OnOutput on_output) {
    const std::string id = params.execution_id.value_or(random_id());
    params.execution_id = id;
    running_[id] = Running{on_behalf, std::move(on_output)};
    latest_.push_front(id);
    latest_.resize(std::min(latest_.size(), max_latest_executions));
    const ScopeExit forget([&] { running_.erase(id); });
    CallStatus status = [&id, this, on_behalf] { return status_of_execution(id, on_behalf); };
    std::shared_ptr<mcp::ToolCall> reporter = on_behalf;
    Task<protocol::ExecuteResult> executed = call<protocol::Execute>(std::move(params), std::move(on_behalf));
    co_return co_await keep_alive(clock_, std::move(reporter), std::move(status), std::move(executed));
}

std::vector<std::string> SidecarClient::ended_executions() const {
    std::vector<std::string> ids;
    std::copy_if(latest_.begin(), latest_.end(), std::back_inserter(ids),
                 [this](const std::string& id) { return !running_.contains(id); });
    return ids;
}

std::vector<std::string> SidecarClient::running_executions() const {
    std::vector<std::string> ids;
    for (const auto& [id, running] : running_) {
        ids.push_back(id);
    }
    return ids;
}

Task<std::string> SidecarClient::status_of_request() {
    co_return "waits; cellgate may have asked the user, who answers in the editor";
}

Task<std::string> SidecarClient::status_of_execution(std::string id, std::shared_ptr<mcp::ToolCall> on_behalf) {
    protocol::ExecutionParams params;
    params.execution_id = std::move(id);
    const protocol::ExecutionInfo info = co_await call<protocol::ExecutionGet>(std::move(params), std::move(on_behalf));
    if (info.waits_behind) {
        co_return fmt::format("waits for its turn, behind {} execution{} of other agents", *info.waits_behind,
                              *info.waits_behind == 1 ? "" : "s");
    }
    if (info.state == protocol::ExecutionState::queued) {
        co_return "waits for other code in its session";
    }
    if (info.pending_approvals) {
        co_return fmt::format("waits for the user, who has {} of its actions to answer", *info.pending_approvals);
    }
    co_return "runs";
}

Task<void> SidecarClient::close() {
    if (peer_) {
        peer_->close();
    }
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::agent
