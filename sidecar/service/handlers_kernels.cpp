// kernel/*.

#include "base/text.hpp"
#include "handlers.hpp"
#include "jupyter/kernel_choice.hpp"
#include "jupyter/kernel_query.hpp"
#include "jupyter/server_api.hpp"
#include "protocol/messages/kernels.hpp"

#include <algorithm>

namespace cellgate::service {

namespace {

// ipykernel has no answer for a place beyond the end.
std::int64_t place_in(const std::string& code, std::int64_t cursor) {
    return std::min(cursor, static_cast<std::int64_t>(count_characters(code)));
}

struct Kernels {
    SidecarServices& sidecar;
    const Client& client;

    Task<protocol::KernelListResult> list(protocol::KernelListParams params) {
        if (params.server) {
            co_return co_await list_of_server(std::move(*params.server));
        }
        jupyter::KernelRequest request;
        request.workspace = sidecar.workspace.path;
        request.environment = sidecar.workspace.environment;
        const std::vector<jupyter::KernelInfo> kernels =
            co_await jupyter::list_kernels(sidecar.loop, std::move(request));
        protocol::KernelListResult result;
        for (const jupyter::KernelInfo& kernel : kernels) {
            protocol::KernelListEntry entry{kernel.name, kernel.display_name, kernel.language, "interpreter", {},
                                            {},          kernel.problem};
            if (kernel.is_spec) {
                entry.source = "kernelspec";
                entry.resource_dir = kernel.path;
            } else {
                entry.interpreter = kernel.path;
            }
            result.kernels.push_back(std::move(entry));
        }
        co_return result;
    }

    Task<std::vector<jupyter::ServerKernelspec>> kernelspecs_at(jupyter::ServerAddress address) {
        async::HttpClient http(sidecar.loop);
        jupyter::ServerApi api(http, sidecar.loop.clock(), std::move(address));
        co_return co_await api.kernelspecs();
    }

    Task<protocol::KernelListResult> list_of_server(protocol::KernelServer server) {
        server.url = jupyter::server_url(server.url);
        jupyter::TokenSource tokens = [this, &server](std::optional<std::string> refusal) {
            return sidecar.server_tokens.take(std::nullopt, server, std::move(refusal));
        };
        using Specs = std::vector<jupyter::ServerKernelspec>;
        jupyter::ServerUse<Specs> use = [this](jupyter::ServerAddress address) {
            return kernelspecs_at(std::move(address));
        };
        Specs specs = co_await jupyter::use_server<Specs>(server.url, std::move(tokens), std::move(use));
        protocol::KernelListResult result;
        for (jupyter::ServerKernelspec& spec : specs) {
            result.kernels.push_back({std::move(spec.name), std::move(spec.display_name), std::move(spec.language),
                                      "server", std::nullopt, std::nullopt, std::nullopt});
        }
        co_return result;
    }

    // Of a session that there is: a question starts none.
    std::shared_ptr<session::Session> find(const std::optional<std::string>& session_id) const {
        return sidecar.sessions.find(session_id.value_or(std::string(default_session_id)));
    }

    Task<protocol::KernelCompleteResult> complete(protocol::KernelCompleteParams params) {
        const std::int64_t cursor = place_in(params.code, params.cursor_pos);
        const std::shared_ptr<session::Session> session = find(params.session_id);
        jupyter::KernelQuery query = jupyter::completion_query(params.code, cursor);
        const std::string reply = co_await session->ask(std::move(query));
        jupyter::Completion found = jupyter::read_completion(reply, cursor);
        co_return protocol::KernelCompleteResult{std::move(found.matches), std::move(found.types), found.cursor_start,
                                                 found.cursor_end};
    }

    Task<protocol::KernelInspectResult> inspect(protocol::KernelInspectParams params) {
        const std::int64_t cursor = place_in(params.code, params.cursor_pos);
        const std::int64_t level = params.detail_level.value_or(0);
        const std::shared_ptr<session::Session> session = find(params.session_id);
        std::optional<std::string> text = co_await session->inspect(std::move(params.code), cursor, level);
        if (text) {
            text = masked_text(sidecar.known_secrets.mask(), std::move(*text));
        }
        const bool found = text.has_value();
        co_return protocol::KernelInspectResult{found, std::move(text)};
    }

    void require_variables_to_see(const session::Session& session) const {
        if (client.role == protocol::Role::user) {
            return;
        }
        if (!session.belongs_to(client.id)) {
            client.refuse("an agent sees the variables of its own sessions");
        }
        if (sidecar.review.hides(session.id(), std::nullopt)) {
            client.refuse("a user has to see results in this session before an agent does");
        }
    }

    Task<protocol::KernelVariablesResult> variables(protocol::KernelVariablesParams params) {
        const std::shared_ptr<session::Session> session = find(params.session_id);
        require_variables_to_see(*session);
        std::optional<jupyter::Variables> found = co_await session->variables();
        if (!found) {
            throw Error(ErrorCode::unsupported, "the kernel does not tell of its variables",
                        "kernels of Python with a recent ipykernel, of TypeScript (Deno) and of bash do");
        }
        protocol::KernelVariablesResult result;
        result.truncated = found->truncated;
        for (jupyter::Variable& each : found->all) {
            std::string value = masked_text(sidecar.known_secrets.mask(), std::move(each.value));
            result.variables.push_back(
                {std::move(each.name), std::move(each.type), std::move(value), std::move(each.size)});
        }
        co_return result;
    }
};

} // namespace

void add_kernel_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Kernels>(sidecar, client);
    client.peer.on_request<protocol::KernelList>(
        [handlers](protocol::KernelListParams params) { return handlers->list(std::move(params)); });
    client.peer.on_request<protocol::KernelComplete>(
        [handlers](protocol::KernelCompleteParams params) { return handlers->complete(std::move(params)); });
    client.peer.on_request<protocol::KernelInspect>(
        [handlers](protocol::KernelInspectParams params) { return handlers->inspect(std::move(params)); });
    client.peer.on_request<protocol::KernelVariables>(
        [handlers](protocol::KernelVariablesParams params) { return handlers->variables(std::move(params)); });
}

} // namespace cellgate::service
