// `cellgate verify FILE`: whether an execution left a file as it is, by the record.

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/changes.hpp"
#include "protocol/messages/record.hpp"
#include "record/record_reader.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"
#include "workspace_record.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <memory>

namespace cellgate::cli {

namespace {

struct VerifyArguments {
    std::string workspace = ".";
    std::string file;
    bool json = false;
};

struct EntryFiles {
    std::vector<protocol::ChangedFile> changes;
    std::optional<std::string> agent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("changes", self.changes);
        visit("agent", self.agent);
    }
};

// Whether the entry's execution left a file of that content; says so.
bool print_match(const protocol::RecordEntry& entry, const std::string& hash, bool as_json) {
    const auto files = from_json<EntryFiles>(entry.data.text(), "entry.data");
    bool found = false;
    for (const protocol::ChangedFile& file : files.changes) {
        if (file.after && file.after->sha256 == hash) {
            found = true;
            if (as_json) {
                Json match{{"path", file.path},
                           {"executionId", entry.execution_id.value_or("")},
                           {"time", entry.time},
                           {"seq", entry.seq}};
                if (files.agent) {
                    match["agent"] = *files.agent;
                }
                print_json(match);
                continue;
            }
            fmt::print("{}: as {} left it at {}{} (entry {} of the record)\n", escape_unprintable(file.path),
                       escape_unprintable(entry.execution_id.value_or("?")), entry.time,
                       files.agent ? ", for the agent " + escape_unprintable(*files.agent) : "", entry.seq);
        }
    }
    return found;
}

int verify(const VerifyArguments& arguments) {
    const std::optional<std::string> content = read_file(arguments.file);
    if (!content) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", arguments.file), errno);
    }
    const std::string hash = sha256(*content);
    const record::RecordReader reader(record_directory_of(arguments.workspace));
    record::Query query;
    query.types = {"files.changed", "files.restored"};
    query.text = hash;
    bool found = false;
    for (const record::StoredEntry& stored : reader.query(query)) {
        const auto entry = from_json<protocol::RecordEntry>(stored.json, "entry");
        found = print_match(entry, hash, arguments.json) || found;
    }
    if (!found) {
        fmt::print(stderr, "cellgate: no execution whose changes the record has left a file with this content\n");
        return 1;
    }
    const record::VerifyResult record = reader.verify(std::nullopt);
    if (!record.ok) {
        fmt::print(stderr, "cellgate: but the record is not as it was written: {}\n",
                   escape_unprintable(record.problem));
    }
    return record.ok ? 0 : 1;
}

} // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<VerifyArguments>();
    CLI::App* command =
        app.add_subcommand("verify", "Say which execution left a file as it is, by the record of the workspace");
    command->add_option("FILE", arguments->file, "The file, or a copy of it")
        ->required()
        ->check(existing_file())
        ->type_name("");
    add_root(*command, arguments->workspace);
    add_json(*command, arguments->json);
    command->callback([arguments, &invocation] { invocation.run = [arguments] { return verify(*arguments); }; });
}

} // namespace cellgate::cli
