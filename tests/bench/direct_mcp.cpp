// The floor of a tool call: an MCP server on stdio, called from C++ without anything between. Usage: direct_mcp
// ARGUMENTS COMMAND…; a sample is one call of its tool `echo` with the JSON text ARGUMENTS.

#include "worker.hpp"

namespace {

// One line; what is no answer is passed over.
std::string call(const bench::Child& server, std::string& buffer, const std::string& request) {
    server.write(request + "\n");
    while (true) {
        std::size_t end = 0;
        while ((end = buffer.find('\n')) == std::string::npos) {
            server.read(buffer);
        }
        std::string line = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        if (line.find("\"result\"") != std::string::npos) {
            return line;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        bench::die("usage: direct_mcp ARGUMENTS COMMAND…");
    }
    const bench::Child server(std::vector<std::string>(argv + 2, argv + argc));
    std::string buffer;
    call(server, buffer,
         R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
         R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})");
    server.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    std::uint64_t id = 0;
    bench::serve([&] {
        const double start = bench::now();
        const std::string reply =
            call(server, buffer,
                 R"({"jsonrpc":"2.0","id":)" + std::to_string(++id) +
                     R"(,"method":"tools/call","params":{"name":"echo","arguments":)" + argv[1] + "}}");
        const double seconds = bench::now() - start;
        if (reply.find("Echo: ") == std::string::npos) {
            bench::die("expected an echo, found " + reply);
        }
        return seconds;
    });
}
