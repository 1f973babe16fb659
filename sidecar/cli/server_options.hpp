#pragma once
// `ServerOptions` are the options that name a Jupyter server, and its token as a secret: a token in a command line
// would be shown to other programs of the machine, and kept by the shell.

#include "protocol/messages/sessions.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace cellgate::cli {

struct ServerOptions {
    std::string url; // empty: none
    std::string token_secret;

    // Returns the option for the address.
    CLI::Option* add_to(CLI::App& command, const std::string& what);
    // `name`: the kernelspec; empty: the server's default.
    std::optional<protocol::KernelServer> server(const std::string& name) const;
};

} // namespace cellgate::cli
