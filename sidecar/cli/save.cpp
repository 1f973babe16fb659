// `cellgate save FILE NAME`: a function of Python becomes a tool of the server `saved`, once its user has agreed.

#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"
#include "tools/saved_tool.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::cli {

namespace {

struct SaveArguments {
    SidecarArguments sidecar;
    std::string file;
    std::vector<std::string> rules;
    std::string test;
    tools::SaveToolParams function;
    bool json = false;
    int exit_code = 0;
};

Task<void> save(SaveArguments* arguments, TerminalClient& client) {
    protocol::ToolsCallParams params{"host", "save_tool", to_raw_json(arguments->function), std::nullopt,
                                     RawJson::checked("\"save\"")};
    const protocol::CallToolResult result = co_await client.sidecar().call<protocol::ToolsCall>(std::move(params));
    const bool failed = result.is_error.value_or(false);
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    } else {
        for (const std::string_view block : json_elements(result.content.text())) {
            fmt::print(failed ? stderr : stdout, "{}\n", json_member_text(block, "text").value_or(""));
        }
    }
    arguments->exit_code = failed ? 1 : 0;
}

std::string read_code(const std::string& file) {
    std::optional<std::string> code = read_file(file == "-" ? "/dev/stdin" : file);
    if (!code) {
        throw system_error(ErrorCode::arguments_invalid, fmt::format("cannot read {}", file), errno);
    }
    return std::move(*code);
}

} // namespace

void add_save(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<SaveArguments>();
    CLI::App* command = app.add_subcommand("save", "Save a function as a tool of the server `saved`");
    command->add_option("FILE", arguments->file, "Python that defines the function; - is standard input")
        ->required()
        ->type_name("");
    command->add_option("NAME", arguments->function.name, "Of the function, and of the tool")
        ->required()
        ->type_name("");
    command->add_option("--description", arguments->function.description, "Default: the docstring's first paragraph");
    command->add_option("--rule", arguments->rules,
                        "What each of its runs may do without asking, as `cellgate policy add` takes it: "
                        "\"allow fs/read_file\". May be given more than once");
    command->add_option("--test", arguments->test, "Arguments, as JSON, of a call that has to succeed first");
    add_json(*command, arguments->json);
    arguments->sidecar.add_to(*command);
    command->callback([arguments, &invocation] {
        invocation.run = [arguments] {
            arguments->function.code = read_code(arguments->file);
            arguments->function.rules = arguments->rules;
            if (!arguments->test.empty()) {
                arguments->function.test = RawJson::parse(arguments->test);
            }
            async::Loop loop;
            loop.run(with_terminal_client(&loop, arguments->sidecar.options(),
                                          [&](TerminalClient& client) { return save(arguments.get(), client); }));
            return arguments->exit_code;
        };
    });
}

} // namespace cellgate::cli
