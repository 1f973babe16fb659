// `cellgate run FILE`: the cells of a file, one after the other, with output as it comes and questions at the terminal.

#include "artifacts.hpp"
#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/names.hpp"
#include "base/shell_words.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "file_language.hpp"
#include "gate/connection_rule.hpp"
#include "json_output.hpp"
#include "protocol/messages/changes.hpp"
#include "protocol/messages/sessions.hpp"
#include "server_options.hpp"
#include "session_options.hpp"
#include "sidecar_arguments.hpp"
#include "source_file.hpp"
#include "terminal_client.hpp"
#include "value_checks.hpp"

#include <csignal>
#include <filesystem>
#include <map>

namespace cellgate::cli {

namespace {

struct RunArguments {
    SidecarArguments sidecar;
    std::string file;
    std::string kernel;
    std::string language;
    std::vector<std::string> variables; // "NAME=VALUE"
    ServerOptions jupyter;
    std::optional<std::string> existing; // a connection file
    std::string profile;                 // empty: none, or the default
    SessionSandbox sandbox;
    double timeout = 0;
    bool changes = false;
    bool json = false;
    std::string save; // empty: nothing is saved
};

struct FileRun {
    RunArguments arguments;
    std::vector<Cell> cells;
    std::string language;                        // the file's; empty: --kernel names what runs it
    std::map<std::string, std::string> sessions; // by language, each with its id
    std::string uri;
    bool is_notebook = false;
    std::vector<std::string> notes; // about the file, before it runs
    std::optional<Artifacts> artifacts;
    int exit_code = 0;
    std::string executing;
    bool interrupted = false;
};

bool is_system_exit(const protocol::ExecuteResult& result) {
    return result.error && result.error->ename == "SystemExit";
}

// sys.exit(), sys.exit(None) or sys.exit(0): the program is done, as it is where Python runs it.
bool has_exited_well(const protocol::ExecuteResult& result) {
    return is_system_exit(result) &&
           (result.error->evalue.empty() || result.error->evalue == "None" || result.error->evalue == "0");
}

// Where the error came from in the file, which the traceback counts from the beginning of the cell; empty: nowhere
// there, or a notebook.
std::string place_in_file(const FileRun& run, const protocol::ExecuteResult& result) {
    std::string place;
    if (result.error && !run.is_notebook) {
        for (const protocol::ExecutionFrame& frame : result.error->frames) { // the innermost is the last
            place = frame.uri == run.uri ? fmt::format(" at {} line {}", run.arguments.file, frame.line + 1) : place;
        }
    }
    return place;
}

void explain_result(const FileRun& run, const protocol::ExecuteResult& result, std::size_t cell,
                    OutputPrinter& printer) {
    constexpr const char* words[] = {"ok",
                                     "ended in an error",
                                     "ran out of its time",
                                     "was cancelled",
                                     "was ended with its kernel",
                                     "ran out of memory"};
    static_assert(std::size(words) == enum_names(protocol::ExecutionStatus{}).size());
    std::string text = fmt::format("cellgate: cell {} {}{}", cell + 1, words[static_cast<int>(result.status)],
                                   place_in_file(run, result));
    if (is_system_exit(result)) {
        text = fmt::format("cellgate: cell {} ended with sys.exit({})", cell + 1, result.error->evalue);
    }
    if (result.reason) {
        text += ": " + *result.reason;
    }
    printer.note(text);
}

// A session lasts for one run here: a remedy that restarts it is an option of the next run.
std::string remedy_of(const protocol::Note& note) {
    if (note.rule && note.rule->host) {
        return "to allow it, run again with --allow-domain " +
               shell_word(gate::host_entry(*note.rule->host, note.rule->protocol));
    }
    if (!note.sandbox) {
        return note.remedy;
    }
    std::string options;
    for (const std::string& path : note.sandbox->allow_read.value_or(std::vector<std::string>{})) {
        options += " --allow-read " + shell_word(path);
    }
    for (const std::string& path : note.sandbox->allow_write.value_or(std::vector<std::string>{})) {
        options += " --allow-write " + shell_word(path);
    }
    return "to allow it, run again with" + escape_unprintable(options);
}

void print_notes(const protocol::ExecuteResult& result, OutputPrinter& printer) {
    if (result.notes) {
        for (const protocol::Note& note : *result.notes) {
            printer.note(fmt::format("cellgate: {}\n  {}", note.text, remedy_of(note)));
        }
    }
}

Task<void> interrupt_on_signal(async::Loop* loop, FileRun* run, TerminalClient* client) {
    while (true) {
        co_await async::wait_for_signal(*loop, SIGINT);
        run->interrupted = true;
        if (!run->executing.empty()) {
            protocol::ExecuteCancelParams params;
            params.execution_id = run->executing;
            params.force = true;
            co_await client->sidecar().call<protocol::ExecuteCancel>(std::move(params));
        }
    }
}

// The session in which code of the language runs: one for each.
Task<std::string> session_of(FileRun* run, std::string language, TerminalClient& client) {
    if (const auto found = run->sessions.find(language); found != run->sessions.end()) {
        co_return found->second;
    }
    protocol::SessionCreateParams create;
    create.session_id = run->sessions.empty() ? "run" : fmt::format("run-{}", run->sessions.size() + 1);
    const bool is_chosen = language == run->language;
    if (is_chosen && run->arguments.existing) {
        protocol::KernelChoice choice;
        choice.connection_file = run->arguments.existing;
        create.kernel = choice;
    } else if (is_chosen && !run->arguments.jupyter.url.empty()) {
        protocol::KernelChoice choice;
        choice.server = run->arguments.jupyter.server(run->arguments.kernel);
        create.kernel = choice;
    } else if (!is_chosen || run->arguments.kernel.empty()) {
        create.language = language;
    } else {
        create.kernel = kernel_choice(run->arguments.kernel);
    }
    if (!create.kernel || !(create.kernel->connection_file || create.kernel->server)) {
        create.sandbox = run->arguments.sandbox.choice();
    }
    if (!run->arguments.profile.empty()) {
        create.profile = run->arguments.profile;
    }
    create.env = kernel_environment(run->arguments.variables);
    create.work_done_token = RawJson::parse("\"session\""); // progress is shown, such as of an image that is unpacked
    const protocol::SessionInfo session = co_await client.sidecar().call<protocol::SessionCreate>(std::move(create));
    if (run->arguments.sandbox.none) {
        client.printer().note("cellgate: no sandbox: the code can do everything that you can");
    }
    for (const std::string& notice : session.sandbox_notices.value_or(std::vector<std::string>{})) {
        client.printer().note(fmt::format("cellgate: sandbox: {}", notice));
    }
    run->sessions[language] = session.session_id;
    co_return session.session_id;
}

// Of the cell that has ended; it is counted from 1.
Task<void> keep_changes(FileRun* run, std::string execution_id, std::size_t cell, TerminalClient* client) {
    protocol::ChangesParams params{execution_id};
    const protocol::ChangesListResult list = co_await client->sidecar().call<protocol::ChangesList>(std::move(params));
    if (!list.files.empty()) {
        client->printer().note(fmt::format("cellgate: cell {} changed {} file{}: cellgate undo {}", cell,
                                           list.count.value_or(static_cast<std::int64_t>(list.files.size())),
                                           list.files.size() == 1 ? "" : "s", execution_id));
    } else if (!list.complete && list.not_covered && !list.not_covered->empty()) {
        client->printer().note("cellgate: which files changed is not known: " + list.not_covered->front().why);
    }
    if (run->artifacts) {
        co_await run->artifacts->save(client, std::move(execution_id), cell);
    }
}

Task<void> run_cells(FileRun* run, TerminalClient& client) {
    for (std::size_t i = 0; i < run->cells.size() && !run->interrupted; ++i) {
        protocol::ExecuteParams params;
        params.execution_id = random_id();
        std::string language = run->cells[i].language.value_or(run->language);
        params.session_id = co_await session_of(run, std::move(language), client);
        params.code = run->cells[i].code;
        params.cell = protocol::CellPosition{run->uri, run->cells[i].line};
        if (run->cells[i].timeout || run->arguments.timeout > 0) {
            params.timeout_seconds = run->cells[i].timeout.value_or(run->arguments.timeout);
        }
        const bool keeps_changes = run->arguments.changes || run->artifacts;
        if (keeps_changes) {
            params.changes = true;
        }
        run->executing = *params.execution_id;
        const protocol::ExecuteResult result = co_await client.sidecar().call<protocol::Execute>(std::move(params));
        const std::string executed = std::exchange(run->executing, {});
        if (run->arguments.json) {
            client.printer().print_line(to_json(result));
        }
        print_notes(result, client.printer());
        if (keeps_changes) {
            co_await keep_changes(run, executed, i + 1, &client);
        }
        if (has_exited_well(result)) {
            break;
        }
        if (result.status != protocol::ExecutionStatus::ok) {
            explain_result(*run, result, i, client.printer());
            run->exit_code = 1;
            break;
        }
        if (result.reason && i + 1 < run->cells.size()) { // its kernel has ended, and the rest would begin from nothing
            client.printer().note(
                fmt::format("cellgate: cell {}: {}; what follows was not run", i + 1, *result.reason));
            break;
        }
    }
}

Task<void> run_file(async::Loop* loop, FileRun* run, TerminalClient& client) {
    for (const std::string& note : run->notes) {
        client.printer().note(fmt::format("cellgate: {} {}", run->arguments.file, note));
    }
    // Until there is a cell to interrupt, ctrl-C ends all.
    std::string first = run->cells.empty() ? run->language : run->cells.front().language.value_or(run->language);
    co_await session_of(run, std::move(first), client);
    TaskScope signals;
    signals.spawn(interrupt_on_signal(loop, run, &client));
    co_await finally(run_cells(run, client), cancel_and_join(signals));
    if (run->artifacts) {
        client.printer().note("cellgate: " + run->artifacts->summary());
    }
    if (run->interrupted) {
        run->exit_code = 130;
    }
}

int run(const RunArguments& arguments) {
    FileRun file_run;
    file_run.arguments = arguments;
    SourceFile source = read_source_file(arguments.file);
    file_run.cells = std::move(source.cells);
    file_run.is_notebook = source.is_notebook;
    if (!source.is_notebook) {
        file_run.notes = doubtful_languages(source.text);
    }
    file_run.language = arguments.language.empty() ? std::move(source.language)
                                                   : language_of_name(arguments.language).value_or(arguments.language);
    if (file_run.language.empty() && arguments.kernel.empty() && !arguments.existing && arguments.jupyter.url.empty()) {
        return refuse_language(arguments.file,
                               fmt::format("To run it in a kernel of your choice: cellgate run --kernel NAME {}. "
                                           "`cellgate kernels` lists them.",
                                           shell_word(arguments.file)));
    }
    if (!arguments.save.empty()) {
        file_run.artifacts.emplace(arguments.save, arguments.sidecar.workspace);
    }
    file_run.uri = file_uri(std::filesystem::absolute(arguments.file).string());
    async::Loop loop;
    loop.run(with_terminal_client(&loop, arguments.sidecar.options(), [&](TerminalClient& client) {
        if (arguments.json) {
            client.print_outputs_as_json();
        }
        return run_file(&loop, &file_run, client);
    }));
    return file_run.exit_code;
}

// The options for kernels that have no sandbox.
std::vector<CLI::Option*> add_kernels_elsewhere(CLI::App& command, const std::shared_ptr<RunArguments>& arguments) {
    CLI::Option* existing =
        command
            .add_option_function<std::string>(
                "--existing",
                [arguments](const std::string& file) {
                    std::error_code ignored;
                    arguments->existing =
                        std::filesystem::exists(file, ignored) ? std::filesystem::absolute(file).string() : file;
                },
                "Use a kernel that already runs, without a sandbox, and leave it running: its connection file, or a "
                "name or pattern in Jupyter's runtime directory; \"\" is the newest one there")
            ->type_name("CONNECTION_FILE")
            ->excludes("--kernel");
    CLI::Option* server = arguments->jupyter.add_to(
        command, "Run the cells on this Jupyter server, without a sandbox; --kernel is a kernelspec of its own then");
    server->excludes(existing);
    return {existing, server};
}

} // namespace

void add_run(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Run the cells of a file (divided by `# %%` or `// %%`) or of a "
                                                  "notebook in a sandboxed kernel for its language; asks before "
                                                  "anything leaves it");
    command
        ->add_option("FILE", arguments->file,
                     "A file of Python (.py), TypeScript (.ts), bash (.sh) or another language that has a kernel, or a "
                     "Jupyter notebook (.ipynb), which stays as it is")
        ->required()
        ->check(existing_file())
        ->type_name("");
    add_kernel(*command, arguments->kernel);
    command->add_option("--language", arguments->language, "As kernels spell it: typescript. Default: the file's")
        ->type_name("NAME")
        ->excludes("--kernel");
    const std::vector<CLI::Option*> elsewhere = add_kernels_elsewhere(*command, arguments);
    add_profile(*command, arguments->profile);
    add_kernel_environment(*command, "--kernel-env", arguments->variables);
    command->add_option("--timeout", arguments->timeout, "Seconds for each cell; waiting for an answer does not count")
        ->check(positive_number())
        ->type_name("SECONDS");
    command->add_flag("--changes", arguments->changes,
                      "Keep which files of the workspace the cells change: `cellgate changes`, `cellgate undo`");
    command
        ->add_option("--save", arguments->save,
                     "Copy the files that cells create or change, and the pictures that they show, into this folder, "
                     "which is outside the workspace")
        ->type_name("DIR");
    add_json(*command, arguments->json);
    for (CLI::Option* option : arguments->sandbox.add_to(*command)) {
        option->excludes(elsewhere[0])->excludes(elsewhere[1]);
    }
    command
        ->add_option("--server", arguments->sidecar.server,
                     "The name of the tool server at --url, or that COMMAND starts. For more than one: --mcp-config")
        ->type_name("NAME");
    show_forms(*command, "With --server NAME: what starts that tool server, once code calls it");
    arguments->sidecar.add_to(*command);
    command->callback([arguments, &invocation] {
        arguments->sidecar.take_server_command(invocation);
        if (!arguments->sidecar.server.empty() && !arguments->sidecar.server_command &&
            arguments->sidecar.url.empty()) {
            throw CLI::ValidationError("--server",
                                       fmt::format("expected --url, or -- COMMAND... at the end, what starts "
                                                   "the tool server{}",
                                                   arguments->sidecar.server.find("://") == std::string::npos
                                                       ? ""
                                                       : ". A kernel on a Jupyter server: --jupyter-server"));
        }
        invocation.run = [arguments] { return run(*arguments); };
    });
}

} // namespace cellgate::cli
