#include "server_options.hpp"

#include "value_checks.hpp"

namespace cellgate::cli {

CLI::Option* ServerOptions::add_to(CLI::App& command, const std::string& what) {
    CLI::Option* address = command.add_option("--jupyter-server", url, what)->check(http_url())->type_name("URL");
    command
        .add_option("--token-secret", token_secret,
                    "The secret (`cellgate secret add NAME`) that the Jupyter server gets as its token; without, it is "
                    "asked for")
        ->type_name("NAME")
        ->needs(address);
    return address;
}

std::optional<protocol::KernelServer> ServerOptions::server(const std::string& name) const {
    if (url.empty()) {
        return std::nullopt;
    }
    protocol::KernelServer server;
    server.url = url;
    if (!token_secret.empty()) {
        server.token = "${secret:" + token_secret + "}";
    }
    if (!name.empty()) {
        server.name = name;
    }
    return server;
}

} // namespace cellgate::cli
