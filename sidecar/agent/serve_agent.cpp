#include "agent/serve_agent.hpp"

#include "agent_server.hpp"
#include "daemon/stdio.hpp"

#include <memory>

namespace cellgate::agent {

Task<void> serve_agent(async::Loop* loop, AgentOptions options, Environment environment) {
    auto connection = std::make_shared<protocol::FramedConnection>(daemon::take_stdio(*loop), protocol::Framing::lines);
    const AgentSettings settings = read_agent_settings(std::move(options), environment);
    AgentServer server(loop, std::move(connection), settings);
    co_await server.run();
}

} // namespace cellgate::agent
