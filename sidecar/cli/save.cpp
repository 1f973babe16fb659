// `cellgate save FILE NAME`: a function of Python becomes a tool of the server `saved`, once its user has agreed.

#include "argument_error.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/record.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"
#include "tools/rule_text.hpp"
#include "tools/saved_tool.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::cli {

namespace {

struct SaveArguments {
    SidecarArguments sidecar;
    std::string file;
    std::vector<std::string> rules;
    std::vector<std::string> rules_of; // executions
    std::string test;
    tools::SaveToolParams function;
    bool json = false;
    int exit_code = 0;
};

Task<std::string> execution_of(TerminalClient* client, std::string named) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(named.data(), named.data() + named.size(), number);
    if (error != std::errc() || end != named.data() + named.size()) {
        co_return named;
    }
    protocol::RecordQueryParams query;
    query.before_seq = number + 1;
    query.limit = 1;
    const protocol::RecordQueryResult found = co_await client->sidecar().call<protocol::RecordQuery>(std::move(query));
    if (found.entries.empty() || found.entries.front().seq != number || !found.entries.front().execution_id) {
        throw Error(ErrorCode::arguments_invalid,
                    fmt::format("--rules-of: entry {} of the record belongs to no execution", number),
                    "`cellgate record list` shows the entries");
    }
    co_return *found.entries.front().execution_id;
}

void check_rules(const std::vector<std::string>& rules) {
    try {
        for (const std::string& rule : rules) {
            tools::parse_rule(rule, std::chrono::system_clock::now());
        }
    } catch (const Error& error) {
        rethrow_of_typed_rule(error);
    }
}

Task<void> save(SaveArguments* arguments, TerminalClient& client) {
    check_rules(arguments->rules);
    if (!arguments->rules_of.empty()) {
        arguments->function.rules_of.emplace();
    }
    for (const std::string& named : arguments->rules_of) {
        std::string execution_id = co_await execution_of(&client, named);
        arguments->function.rules_of->push_back(std::move(execution_id));
    }
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
        const Error problem = system_error(ErrorCode::arguments_invalid, fmt::format("cannot read {}", file), errno);
        throw ArgumentError(problem.code, problem.message, problem.hint);
    }
    return std::move(*code);
}

void read_function(SaveArguments& arguments) {
    arguments.function.code = read_code(arguments.file);
    arguments.function.rules = arguments.rules;
    if (!arguments.test.empty()) {
        arguments.function.test = RawJson::parse(arguments.test);
    }
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
        ->check(variable_name())
        ->type_name("");
    command->add_option("--description", arguments->function.description, "Default: the docstring's first paragraph");
    command->add_option("--rule", arguments->rules,
                        "What each of its runs may do without asking, as `cellgate policy add` takes it: "
                        "\"allow fs/read_file\". May be given more than once");
    command
        ->add_option("--rules-of", arguments->rules_of,
                     "Rules for what this execution was allowed, from the record: the number of any of its entries, as "
                     "`cellgate record list` shows it, or its id. May be given more than once")
        ->type_name("EXECUTION");
    command->add_option("--test", arguments->test, "Arguments, as JSON, of a call that has to succeed first");
    add_json(*command, arguments->json);
    arguments->sidecar.add_to(*command);
    run_on_loop(*command, invocation, arguments, [](async::Loop* loop, SaveArguments* parsed) {
        read_function(*parsed);
        return with_client(save)(loop, parsed);
    });
}

} // namespace cellgate::cli
