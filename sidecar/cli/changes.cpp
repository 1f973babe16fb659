// `cellgate changes` and `cellgate undo`: which files executions changed, and making them as they were before.

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "change_text.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/record.hpp"
#include "terminal_client.hpp"
#include "user_agrees.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace cellgate::cli {

namespace {

constexpr std::int64_t max_executions = 200; // as many as the sidecar keeps the files of

struct ChangesArguments {
    std::string workspace = ".";
    std::vector<std::string> executions; // ids, or how they begin
    std::vector<std::string> paths;
    bool diff = false;
    bool yes = false;
    bool json = false;
    int exit_code = 0;
};

// What an entry reports of an execution's changes, or an undo's.
struct EntrySummary {
    std::int64_t files = 0;
    std::optional<std::string> undo_of;
    std::optional<std::string> agent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("files", self.files);
        visit("undoOf", self.undo_of);
        visit("agent", self.agent);
    }
};

// Newest first.
Task<std::vector<protocol::RecordEntry>> recorded(TerminalClient* client) {
    protocol::RecordQueryParams params;
    params.types = {"files.changed", "files.restored"};
    params.limit = max_executions;
    protocol::RecordQueryResult found = co_await client->sidecar().call<protocol::RecordQuery>(std::move(params));
    std::erase_if(found.entries, [](const protocol::RecordEntry& entry) { return !entry.execution_id; });
    co_return std::move(found.entries);
}

// By the id of the execution, or of the undo.
using Summaries = std::map<std::string, EntrySummary>;

Summaries summaries_of(const std::vector<protocol::RecordEntry>& entries) {
    Summaries all;
    for (const protocol::RecordEntry& entry : entries) {
        all.emplace(*entry.execution_id, from_json<EntrySummary>(entry.data.text(), "entry.data"));
    }
    return all;
}

// `UndoState` is how much of an execution's changes, or of an undo's, is undone now.
struct UndoState {
    std::vector<std::string> by; // the undos of it that are not undone themselves
    bool whole = false;
};

UndoState undo_state(const Summaries& all, const std::string& of) {
    UndoState state;
    std::int64_t files = 0;
    for (const auto& [id, undo] : all) {
        if (undo.undo_of == of && !undo_state(all, id).whole) {
            state.by.push_back(id);
            files += undo.files;
        }
    }
    state.whole = !state.by.empty() && files >= all.at(of).files;
    return state;
}

std::string undone_words(const UndoState& undone) {
    return fmt::format("{} by {}", undone.whole ? "undone" : "undone in part", fmt::join(undone.by, ", "));
}

void print_entry(const Summaries& summaries, const protocol::RecordEntry& entry) {
    const EntrySummary& summary = summaries.at(*entry.execution_id);
    std::string about;
    if (summary.undo_of) {
        about = "  undo of " + *summary.undo_of;
    } else if (summary.agent) {
        about = "  agent " + escape_unprintable(*summary.agent);
    }
    if (const UndoState undone = undo_state(summaries, *entry.execution_id); !undone.by.empty()) {
        about += "  " + undone_words(undone);
    }
    fmt::print("{}  {}  {} file{}{}\n", escape_unprintable(*entry.execution_id), entry.time, summary.files,
               summary.files == 1 ? "" : "s", about);
}

// The ids that these begin, newest first.
std::vector<std::string> chosen_ids(const std::vector<protocol::RecordEntry>& entries,
                                    const std::vector<std::string>& beginnings) {
    std::vector<std::string> ids;
    for (const std::string& beginning : beginnings) {
        std::vector<std::string> found;
        for (const protocol::RecordEntry& entry : entries) {
            const std::string& id = *entry.execution_id;
            if (id == beginning) {
                found = {id};
                break;
            }
            if (id.starts_with(beginning) && std::find(found.begin(), found.end(), id) == found.end()) {
                found.push_back(id);
            }
        }
        if (found.size() != 1) {
            throw Error(ErrorCode::execution_not_found,
                        found.empty() ? fmt::format("no changes of \"{}\" are kept", beginning)
                                      : fmt::format("{} executions begin with \"{}\"", found.size(), beginning),
                        "`cellgate changes` lists those that are");
        }
        ids.push_back(found.front());
    }
    const auto age = [&](const std::string& id) {
        return std::find_if(entries.begin(), entries.end(),
                            [&](const auto& entry) { return entry.execution_id == id; });
    };
    std::sort(ids.begin(), ids.end(), [&](const auto& one, const auto& other) { return age(one) < age(other); });
    return ids;
}

Task<protocol::ChangesReadResult> read(TerminalClient* client, std::string id, std::string path,
                                       protocol::ChangeSide side) {
    protocol::ChangesReadParams params{std::move(id), std::move(path), side};
    co_return co_await client->sidecar().call<protocol::ChangesRead>(std::move(params));
}

Task<protocol::ChangesListResult> list_of(TerminalClient* client, std::string id) {
    protocol::ChangesParams params{std::move(id)};
    co_return co_await client->sidecar().call<protocol::ChangesList>(std::move(params));
}

// As changes/list names files: relative to the workspace. Those outside it stay as they were typed.
std::vector<std::string> workspace_paths(const ChangesArguments& arguments) {
    const std::filesystem::path workspace = std::filesystem::canonical(arguments.workspace);
    std::vector<std::string> paths;
    for (const std::string& path : arguments.paths) {
        const std::filesystem::path inside = (workspace / path).lexically_normal().lexically_relative(workspace);
        paths.push_back(inside.string().starts_with("..") ? path : inside.string());
    }
    return paths;
}

bool is_chosen(const ChangesArguments& arguments, const std::string& path) {
    return arguments.paths.empty() ||
           std::find(arguments.paths.begin(), arguments.paths.end(), path) != arguments.paths.end();
}

enum class Diff { none, made, undone };

// The way back: what was created is deleted.
protocol::ChangedFile reversed(protocol::ChangedFile file) {
    std::swap(file.before, file.after);
    file.kind = !file.before  ? protocol::ChangeKind::created
                : !file.after ? protocol::ChangeKind::deleted
                              : protocol::ChangeKind::modified;
    return file;
}

// Throws for a file that was chosen and is not in the list.
void require_changed(const ChangesArguments& arguments, const protocol::ChangesListResult& list) {
    for (const std::string& path : arguments.paths) {
        const bool is_listed =
            std::any_of(list.files.begin(), list.files.end(), [&](const auto& file) { return file.path == path; });
        if (!is_listed && !list.count) {
            throw Error(ErrorCode::execution_not_found,
                        fmt::format("--path: expected a file that was changed, found {}", escape_unprintable(path)),
                        fmt::format("`cellgate changes {}` lists them", list.execution_id));
        }
    }
}

Task<void> print_list(const ChangesArguments* arguments, TerminalClient* client, std::string id, Diff diff) {
    const protocol::ChangesListResult list = co_await list_of(client, id);
    require_changed(*arguments, list);
    if (arguments->json) {
        fmt::print("{}\n", to_json(list));
        co_return;
    }
    if (diff == Diff::undone) {
        fmt::print("undo of {}; files will be created (A), modified (M) and deleted (D):\n", escape_unprintable(id));
    }
    for (const protocol::ChangedFile& file : list.files) {
        if (!is_chosen(*arguments, file.path)) {
            continue;
        }
        fmt::print("{}\n", change_line(diff == Diff::undone ? reversed(file) : file));
        if (diff != Diff::none) {
            const protocol::ChangesReadResult before =
                co_await read(client, id, file.path, protocol::ChangeSide::before);
            const protocol::ChangesReadResult after = co_await read(client, id, file.path, protocol::ChangeSide::after);
            const std::vector<std::string> lines =
                diff == Diff::undone ? file_diff(after, before) : file_diff(before, after);
            fmt::print("{}\n", fmt::join(lines, "\n"));
        }
    }
    for (const std::string& remark : list_remarks(list)) {
        fmt::print("{}\n", remark);
    }
}

Task<void> show_changes(ChangesArguments* arguments, TerminalClient& client) {
    const std::vector<protocol::RecordEntry> entries = co_await recorded(&client);
    const Summaries summaries = summaries_of(entries);
    if (arguments->executions.empty()) {
        for (const protocol::RecordEntry& entry : entries) {
            if (arguments->json) {
                fmt::print("{}\n", to_json(entry));
            } else {
                print_entry(summaries, entry);
            }
        }
        if (entries.empty() && !arguments->json) {
            fmt::print("no changes are kept: they are of what agents run, and of `cellgate run --changes`\n");
        }
        co_return;
    }
    const Diff diff = arguments->diff ? Diff::made : Diff::none;
    for (const std::string& id : chosen_ids(entries, arguments->executions)) {
        co_await print_list(arguments, &client, id, diff);
        if (const UndoState undone = undo_state(summaries, id); !undone.by.empty() && !arguments->json) {
            fmt::print("{}\n", undone_words(undone));
        }
    }
}

// Whether it was undone. `earlier`: what of it was undone before.
Task<bool> undo_one(const ChangesArguments* arguments, TerminalClient* client, std::string id, UndoState earlier) {
    if (!arguments->json && earlier.whole) {
        client->printer().note(
            fmt::format("cellgate: {} is undone already; to undo that: cellgate undo {}", id, earlier.by.back()));
        co_return false;
    }
    if (!arguments->json) {
        co_await print_list(arguments, client, id, Diff::undone);
    }
    if (!arguments->yes) {
        const bool agreed =
            co_await user_agrees(&client->loop(), "Make these files as they were before? [y/N] ", "undoes it");
        if (!agreed) {
            fmt::print("nothing was changed\n");
            co_return false;
        }
    }
    protocol::ChangesUndoParams params;
    params.execution_id = id;
    if (!arguments->paths.empty()) {
        params.paths = arguments->paths;
    }
    const protocol::ChangesUndoResult result =
        co_await client->sidecar().call<protocol::ChangesUndo>(std::move(params));
    const bool is_undone = result.refused.empty();
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
        co_return is_undone;
    }
    std::fflush(stdout);
    for (const protocol::PathProblem& refused : result.refused) {
        client->printer().note(fmt::format("cellgate: {}: {}", refused.path, refused.why));
    }
    if (!is_undone) {
        client->printer().note(
            earlier.by.empty()
                ? "cellgate: nothing was changed"
                : fmt::format("cellgate: nothing was changed; {} has undone a part of it before", earlier.by.back()));
        co_return false;
    }
    fmt::print("changes to {} file{} undone", result.restored.size(), result.restored.size() == 1 ? "" : "s");
    fmt::print("{}\n", result.undo_id ? fmt::format("; to undo that: cellgate undo {}", *result.undo_id) : "");
    co_return true;
}

Task<void> undo(ChangesArguments* arguments, TerminalClient& client) {
    const std::vector<protocol::RecordEntry> entries = co_await recorded(&client);
    arguments->paths = workspace_paths(*arguments);
    for (const std::string& id : chosen_ids(entries, arguments->executions)) {
        UndoState earlier = undo_state(summaries_of(entries), id);
        const bool undone = co_await undo_one(arguments, &client, id, std::move(earlier));
        if (!undone) {
            arguments->exit_code = 1;
            co_return;
        }
    }
}

} // namespace

void add_changes(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ChangesArguments>();
    CLI::App* command =
        app.add_subcommand("changes", "List the executions that changed files of the workspace, or the files of one");
    command
        ->add_option("EXECUTION", arguments->executions, "Its id, or how that begins: show the files that it changed")
        ->type_name("");
    command->add_flag("--diff", arguments->diff, "Also the lines that changed");
    add_json(*command, arguments->json);
    add_root(*command, arguments->workspace);
    run_on_loop(*command, invocation, arguments, with_client(show_changes));
}

void add_undo(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ChangesArguments>();
    CLI::App* command = app.add_subcommand(
        "undo", "Make the files that an execution changed as they were before it, after showing the difference");
    command
        ->add_option(
            "EXECUTION", arguments->executions,
            "Its id, or how that begins; `cellgate changes` lists them. Of several the newest is undone first. "
            "Also the id of an undo")
        ->type_name("")
        ->required();
    command->add_option("--path", arguments->paths, "Only this file of the workspace; may be given more than once")
        ->type_name("PATH");
    CLI::Option* yes = command->add_flag("--yes", arguments->yes, "Do not ask");
    add_json(*command, arguments->json)->needs(yes);
    add_root(*command, arguments->workspace);
    run_on_loop(*command, invocation, arguments, with_client(undo));
}

} // namespace cellgate::cli
