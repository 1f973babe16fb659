// `cellgate transfer`: copies a variable from one session to another.

#include "protocol/messages/sessions.hpp"
#include "running_sidecar.hpp"

#include <fmt/format.h>

#include <memory>

namespace cellgate::cli {

namespace {

struct TransferArguments {
    std::string workspace = ".";
    protocol::SessionTransferParams params;
    std::string as;
    bool json = false;
    int exit_code = 1;
};

Task<void> transfer(WorkspaceClient* client, TransferArguments* arguments) {
    protocol::SessionTransferParams params = arguments->params;
    if (!arguments->as.empty()) {
        params.as = arguments->as;
    }
    const protocol::SessionTransferResult result = co_await client->call<protocol::SessionTransfer>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    } else {
        fmt::print("{}, {} bytes as JSON\n", result.type, result.bytes);
    }
}

} // namespace

void add_transfer(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<TransferArguments>();
    protocol::SessionTransferParams& params = arguments->params;
    CLI::App* command = app.add_subcommand("transfer", "Copies a variable of a session that runs to another one");
    command->add_option("from", params.from, "The session that has it")->type_name("FROM")->required();
    command->add_option("to", params.to, "The session that gets it")->type_name("TO")->required();
    command->add_option("name", params.name, "The variable")->type_name("NAME")->required();
    command->add_option("--as", arguments->as, "What it is called there; default: the same")->type_name("NAME");
    run_beside_sidecar(*command, invocation, std::move(arguments), transfer);
}

} // namespace cellgate::cli
