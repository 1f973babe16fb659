#include "program_starts.hpp"

#include "tools/config.hpp"

namespace cellgate::tools {

namespace {

protocol::ToolSpec run_program() {
    protocol::ToolSpec spec;
    spec.name = "run_program";
    spec.title = "Run a program in the sandbox";
    spec.description = "The program runs in the kernel's own sandbox, where the code that starts it runs, too.";
    spec.input_schema = RawJson::parse(R"({"type":"object","properties":{
"argv":{"type":"array","items":{"type":"string"},"minItems":1,"description":"The program and its arguments. A line for a shell that is one plain command stands here as that command."},
"argv0":{"type":"string","description":"The name that the program gets for itself, where it is not that of its file."},
"cwd":{"type":"string","description":"Where it starts. Default: the kernel's working directory."},
"stdin":{"type":"string","description":"What it reads: of a %%bash cell, the script."}},
"required":["argv"],"additionalProperties":false})");
    spec.annotations = protocol::ToolAnnotations{std::nullopt, false, true, false, false};
    return spec;
}

} // namespace

ProgramStarts::ProgramStarts(const std::string& identity) : tools_{make_tool(run_program(), identity)} {}

Task<void> ProgramStarts::refresh() {
    co_return; // it never changes
}

Task<void> ProgramStarts::check(ToolPtr /*tool*/, RawJson /*arguments*/) {
    co_return;
}

gate::Action ProgramStarts::action_of(const Tool& tool, RawJson arguments) const {
    return gate::ToolCall{std::string(kernel_server_name), tool.spec.name, std::move(arguments), tool.server_identity,
                          tool.identity};
}

Task<std::optional<protocol::CallToolResult>> ProgramStarts::call(ToolPtr /*tool*/, gate::Action /*allowed*/,
                                                                  CallContext /*context*/,
                                                                  std::shared_ptr<mcp::CallFollower> /*follower*/) {
    co_return protocol::CallToolResult{RawJson::checked("[]"), std::nullopt, false};
}

Task<void> ProgramStarts::stop(std::string /*reason*/) {
    co_return; // it ends with this process
}

} // namespace cellgate::tools
