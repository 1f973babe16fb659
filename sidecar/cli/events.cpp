// `cellgate events`: what happens in a workspace, as it is recorded. It reads the record itself: so it shows what every
// sidecar of the workspace does, goes on when one ends and another begins, and keeps none running.

#include "async/loop.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "base/sync.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "record/record_reader.hpp"
#include "record_text.hpp"
#include "run_on_loop.hpp"
#include "until_interrupted.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"
#include "workspace_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace cellgate::cli {

namespace {

constexpr std::size_t shown_first = 20;
constexpr Duration look_every = std::chrono::milliseconds(250);

struct EventsArguments {
    std::string workspace = ".";
    std::vector<std::string> types;
    std::optional<std::string> session_id;
    std::optional<std::int64_t> from_seq;
    bool json = false;
};

bool matches(const std::string& entry, const EventsArguments& arguments) {
    const std::vector<std::string>& types = arguments.types;
    const std::string type = json_member_text(entry, "type").value_or("");
    return (types.empty() || std::find(types.begin(), types.end(), type) != types.end()) &&
           (!arguments.session_id || json_member_text(entry, "sessionId") == arguments.session_id);
}

class Follower {
  public:
    Follower(const EventsArguments& arguments, std::string directory)
        : arguments_(arguments), directory_(std::move(directory)), next_(arguments.from_seq) {}

    // Until the output takes no more: a pipe that was closed is no failure.
    Task<void> run(Clock* clock) {
        while (true) {
            print_new();
            std::fflush(stdout);
            if (is_output_closed()) {
                std::clearerr(stdout);
                co_return;
            }
            if (std::ferror(stdout) != 0) {
                co_return;
            }
            co_await sleep_for(*clock, look_every);
        }
    }

  private:
    void print_new() {
        if (!record::RecordReader::exists(directory_)) {
            return; // nothing has happened yet
        }
        const record::RecordReader reader(directory_);
        if (!next_) {
            print_newest(reader);
        }
        reader.each(*next_, [this](const record::StoredEntry& entry) {
            next_ = entry.seq + 1;
            if (matches(entry.json, arguments_)) {
                print(entry);
            }
            return std::ferror(stdout) == 0;
        });
    }

    void print_newest(const record::RecordReader& reader) {
        record::Query query;
        query.types = arguments_.types;
        query.session_id = arguments_.session_id;
        query.limit = shown_first;
        next_ = reader.kept().end;
        query.before_seq = next_;
        const std::vector<record::StoredEntry> newest = reader.query(query);
        std::for_each(newest.rbegin(), newest.rend(), [this](const record::StoredEntry& entry) { print(entry); });
    }

    void print(const record::StoredEntry& entry) const {
        const std::string line = arguments_.json ? entry.json : escape_unprintable(record_line(entry.json));
        std::puts(line.c_str());
    }

    const EventsArguments& arguments_;
    std::string directory_;
    std::optional<std::int64_t> next_; // to be read
};

Task<void> follow(async::Loop* loop, EventsArguments* arguments) {
    Follower follower(*arguments, record_directory_of(arguments->workspace));
    co_await until_interrupted(loop, follower.run(&loop->clock()));
}

} // namespace

void add_events(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<EventsArguments>();
    CLI::App* command = app.add_subcommand("events", "Show what happens in the workspace, until Ctrl-C");
    add_root(*command, arguments->workspace);
    command->add_option("--type", arguments->types, "Only entries of this type; repeatable: " + entry_types())
        ->check(entry_type())
        ->type_name("TYPE");
    command->add_option("--session", arguments->session_id, "Only of this session")->type_name("ID");
    command
        ->add_option("--from", arguments->from_seq,
                     fmt::format("Begin with this entry; default: with the newest {}", shown_first))
        ->check(whole_number(0))
        ->type_name("NUMBER");
    add_json(*command, arguments->json);
    run_on_loop(*command, invocation, arguments, follow);
}

} // namespace cellgate::cli
