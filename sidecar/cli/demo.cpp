// `cellgate demo`: the main job with real components. A tour as an agent might write it runs in a temporary folder; the
// answers are compared with the results. At a terminal the user answers; without one the demo does, and prints its
// answers.

#include "approval_prompt.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/shell_words.hpp"
#include "base/sync.hpp"
#include "cells.hpp"
#include "commands.hpp"
#include "demo_tour.hpp"
#include "local_sidecar.hpp"
#include "output_printer.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/origin_text.hpp"
#include "store/directories.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cellgate::cli {

namespace {

struct DemoArguments {
    std::string filesystem_server;
    bool answer_itself = false;
};

// The arguments of the built-in write_file.
struct WriteArguments {
    std::string path;
    std::string content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("path", self.path);
        visit("content", self.content);
    }
};

std::string replaced(std::string text, const std::string& name, const std::string& value) {
    const std::string literal = to_json(value);
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += literal.size()) {
        text.replace(at, name.size(), literal);
    }
    return text;
}

class Demo final : public ClientEvents {
  public:
    Demo(async::Loop& loop, std::string workspace, std::unique_ptr<Terminal> terminal)
        : workspace_(std::move(workspace)), terminal_(std::move(terminal)) {
        if (terminal_) {
            prompts_ = std::make_unique<PromptQueue>(*terminal_, printer_);
        }
        service::SidecarOptions options;
        options.workspace = workspace_;
        options.environment = process_environment();
        directories_ = store::find_directories(options.environment);
        const auto home = options.environment.find("HOME");
        ssh_directory_ = (home == options.environment.end() ? std::string("/root") : home->second) + "/.ssh";
        sidecar_ = std::make_unique<LocalSidecar>(loop, std::move(options), *this, false);
    }

    Task<void> run(DemoArguments arguments) {
        std::ofstream(std::filesystem::path(workspace_) / "notes.txt") << "Five days in May.\n";
        co_await sidecar_->start();
        say(fmt::format("The workspace of this demo is {}.\n", workspace_));
        co_await generate("host", std::nullopt);
        co_await start_session();
        std::string tour = replaced(std::string(demo_tour), "SSH_DIRECTORY", ssh_directory_);
        tour = replaced(std::move(tour), "POLICY_DIRECTORY", directories_.config + "/policy");
        co_await run_cells(std::move(tour));
        check(held_ == 4 && !escaped_, "the code reached neither keys, rules, network nor wrappers");
        if (arguments.filesystem_server.empty()) {
            say("\nThe MCP server `filesystem` was skipped: npm is not there, or could not install it.");
        } else {
            protocol::McpServerConfig config;
            config.command = arguments.filesystem_server;
            config.args = std::vector<std::string>{workspace_};
            co_await generate("filesystem", std::move(config));
            std::string code = replaced(std::string(demo_filesystem), "WORKSPACE", workspace_);
            co_await run_cells(std::move(code));
            if (all_allowed_) {
                check(printed_.find("notes.txt") != std::string::npos, "the MCP server's answer reached the code");
            }
        }
    }

    Task<void> close() {
        if (prompts_) {
            co_await prompts_->close();
        }
        co_await answers_.join();
        co_await sidecar_->close();
        if (terminal_) {
            co_await terminal_->close();
        }
    }

    bool good() const { return good_; }

    static void say(const std::string& text) {
        std::fputs((text + "\n").c_str(), stdout);
        std::fflush(stdout);
    }

  private:
    Task<void> generate(std::string server, std::optional<protocol::McpServerConfig> config) {
        protocol::WrappersGenerateParams params;
        params.server = server;
        params.config = std::move(config);
        const protocol::WrappersGenerateResult result =
            co_await sidecar_->call<protocol::WrappersGenerate>(std::move(params));
        std::string names;
        for (const protocol::WrapperModule& module : result.modules) {
            names += (names.empty() ? "" : ", ") + module.module.substr(result.package.size() + 1);
        }
        say(fmt::format("Wrote the typed package {}: {}.", result.package, names));
    }

    Task<void> start_session() {
        protocol::SessionCreateParams params;
        params.session_id = "demo";
        const protocol::SessionInfo session = co_await sidecar_->call<protocol::SessionCreate>(std::move(params));
        std::string layers;
        for (const std::string& layer : session.layers) {
            layers += (layers.empty() ? "" : ", ") + layer;
        }
        say(fmt::format("Started {} {} in a sandbox: {}.", session.kernel.language, session.kernel.version.value_or(""),
                        layers));
    }

    Task<void> run_cells(std::string text) {
        const std::vector<Cell> cells = split_cells(text);
        for (const Cell& cell : cells) {
            say("\n" + separator_before(text, cell.line));
            all_allowed_ = true;
            printed_.clear();
            expected_.clear();
            protocol::ExecuteParams params;
            params.execution_id = random_id();
            params.session_id = "demo";
            params.code = cell.code;
            params.cell = protocol::CellPosition{"file://" + workspace_ + "/tour.py", cell.line};
            const protocol::ExecuteResult result = co_await sidecar_->call<protocol::Execute>(std::move(params));
            const bool ended_well = result.status == protocol::ExecutionStatus::ok;
            check(ended_well == all_allowed_,
                  all_allowed_ ? "the cell ended well" : "the cell ended with the reason that was given");
            check_files();
        }
    }

    static std::string separator_before(const std::string& text, std::int64_t line) {
        std::istringstream lines(text);
        std::string found;
        for (std::int64_t i = 0; i < line; ++i) {
            std::getline(lines, found);
        }
        return found;
    }

    void on_output(const protocol::ExecuteOutputParams& output) override {
        if (!output.output) {
            return;
        }
        printed_ += output.output->text();
        for (std::size_t at = 0; (at = output.output->text().find("held: ", at)) != std::string::npos; ++at) {
            ++held_;
        }
        escaped_ = escaped_ || output.output->text().find("ESCAPED") != std::string::npos;
        printer_.print(*output.output);
    }

    void on_approval_requested(const protocol::Approval& approval) override {
        if (prompts_) {
            prompts_->add(std::make_shared<ApprovalPrompt>(
                approval, sidecar_->responder(), *prompts_,
                [this](const protocol::Approval& asked, const protocol::ApprovalRespondParams& answer) {
                    remember(asked, answer);
                }));
        } else {
            answers_.spawn(answer(approval));
        }
    }

    void on_progress(const std::string& /*text*/) override {} // its tool is quick

    void on_approval_resolved(const protocol::ApprovalResolvedParams& resolved) override {
        if (prompts_) {
            prompts_->withdraw(ApprovalPrompt::prompt_id(resolved.approval_id));
        }
    }

    Task<protocol::InputRequestResult> on_input_request(protocol::InputRequestParams) override {
        throw Error(ErrorCode::internal_error, "the tour asks for no input");
        co_return protocol::InputRequestResult{};
    }

    // The demo's answer without a terminal.
    Task<void> answer(protocol::Approval approval) {
        protocol::ApprovalRespondParams params;
        params.approval_ids.push_back(approval.approval_id);
        params.decision = protocol::Verdict::allow;
        say("cellgate asks:");
        for (const std::string& line : approval.display) {
            say("    " + line);
        }
        if (approval.origin) {
            say("    from " + protocol::origin_text(*approval.origin));
        }
        std::string said = "allow this one call";
        if (approval.action.tool == "write_file") {
            auto write = from_json<WriteArguments>(*approval.action.arguments_text, "arguments");
            if (write.path == "denied.txt") {
                params.decision = protocol::Verdict::deny;
                params.reason = "keep reports out of this folder";
                said = "deny: " + *params.reason;
            } else if (write.path == "summary.txt") {
                write.content = "All is well, says the user who read this.\n";
                params.arguments_text = to_json(write);
                said = "allow, with these arguments instead: " + *params.arguments_text;
            }
        }
        say("  the demo answers: " + said);
        protocol::ApprovalRespondParams sent = params;
        co_await sidecar_->call<protocol::ApprovalRespond>(std::move(sent));
        remember(approval, params);
    }

    void remember(const protocol::Approval& approval, const protocol::ApprovalRespondParams& answer) {
        const bool allowed = answer.decision == protocol::Verdict::allow;
        all_allowed_ = all_allowed_ && allowed;
        if (approval.action.tool == "write_file") {
            const auto shown = from_json<WriteArguments>(*approval.action.arguments_text, "arguments");
            const std::string text = answer.arguments_text.value_or(approval.action.arguments_text->text());
            const auto final = from_json<WriteArguments>(text, "arguments");
            expected_.push_back({allowed ? final.path : shown.path,
                                 allowed ? std::optional(final.content) : std::nullopt,
                                 answer.arguments_text.has_value()});
        }
    }

    void check_files() {
        for (const Expected& expected : expected_) {
            const std::optional<std::string> found = read_file(std::filesystem::path(workspace_) / expected.path);
            check(found == expected.content,
                  !expected.content
                      ? fmt::format("it was denied, and there is no {}", expected.path)
                      : fmt::format("{} holds exactly the {} bytes that were {}", expected.path,
                                    expected.content->size(), expected.edited ? "put in their place" : "shown"));
        }
    }

    void check(bool holds, const std::string& what) {
        say(fmt::format("{} {}", holds ? "  [checked]" : "  [FAILED] expected:", what));
        good_ = good_ && holds;
    }

    struct Expected {
        std::string path;
        std::optional<std::string> content; // none: the file is not there
        bool edited;
    };

    std::string workspace_;
    std::string ssh_directory_;
    store::Directories directories_;
    OutputPrinter printer_;
    std::unique_ptr<Terminal> terminal_;
    std::unique_ptr<PromptQueue> prompts_;
    std::unique_ptr<LocalSidecar> sidecar_;
    TaskScope answers_;
    std::vector<Expected> expected_;
    std::string printed_;
    bool all_allowed_ = true;
    bool escaped_ = false;
    int held_ = 0;
    bool good_ = true;
};

Task<void> run_demo(async::Loop* loop, DemoArguments arguments, std::string workspace, int* exit_code) {
    std::unique_ptr<Terminal> terminal;
    if (!arguments.answer_itself) {
        terminal = Terminal::open(*loop);
    }
    Demo::say(terminal ? "You are asked; deny the first write with d, allow the second, change the third with e."
                       : "There is no terminal to ask at, so the demo answers itself.");
    Demo demo(*loop, workspace, std::move(terminal));
    co_await finally(demo.run(std::move(arguments)), demo.close());
    *exit_code = demo.good() ? 0 : 1;
}

} // namespace

void add_demo(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<DemoArguments>();
    CLI::App* command =
        app.add_subcommand("demo", "See the main job happen, and its effects checked, in a folder of its own");
    command
        ->add_option("--filesystem-server", arguments->filesystem_server,
                     "The program of @modelcontextprotocol/server-filesystem, to show a real MCP server too")
        ->type_name("PROGRAM");
    command->add_flag("--answer-itself", arguments->answer_itself, "Answer the questions as without a terminal");
    command->callback([arguments, &invocation] {
        invocation.run = [arguments, program = invocation.program] {
            const std::string workspace =
                store::make_unique_directory(std::filesystem::temp_directory_path(), "cellgate-demo-");
            int exit_code = 1;
            async::Loop loop;
            loop.run(run_demo(&loop, *arguments, workspace, &exit_code));
            Demo::say(exit_code == 0 ? "\nEverything went as it was answered."
                                     : "\nSomething did not go as it was answered.");
            Demo::say(fmt::format("What the tour left is in {1}.\n"
                                  "Next: put cells into a file, divided by `# %%`, and run them: {0} run FILE\n"
                                  "      make a package of your own MCP server: {0} generate NAME -- COMMAND\n"
                                  "      see README.md, \"A first cell\".",
                                  shell_word(program), workspace));
            return exit_code;
        };
    });
}

} // namespace cellgate::cli
