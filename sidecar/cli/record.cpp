// `cellgate record`: what happened in a workspace, read from its record: also while no sidecar runs, and while one
// does.

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/regular_file.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "otlp_spans.hpp"
#include "record/record_reader.hpp"
#include "record_text.hpp"
#include "time_argument.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"
#include "workspace_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace cellgate::cli {

namespace {

constexpr std::size_t default_entries = 50;

// An inclusion proof as --json has it; hashes are in hexadecimal.
struct WrittenProof {
    std::int64_t seq = 0;
    std::string entry; // whose bytes the leaf is of
    std::string leaf;
    std::int64_t size = 0;
    std::vector<std::string> path;
    std::string root;
    std::string checkpoint;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("seq", self.seq);
        visit("entry", self.entry);
        visit("leaf", self.leaf);
        visit("size", self.size);
        visit("path", self.path);
        visit("root", self.root);
        visit("checkpoint", self.checkpoint);
    }
};

struct Filters {
    std::string since;
    std::string until;
    record::Query query;
};

record::RecordReader reader_of(const std::string& workspace) {
    return record::RecordReader(record_directory_of(workspace));
}

record::Query query_of(const Filters& filters) {
    record::Query query = filters.query;
    query.since = filters.since.empty() ? std::nullopt : std::optional(time_before_now("--since", filters.since));
    query.until = filters.until.empty() ? std::nullopt : std::optional(time_before_now("--until", filters.until));
    return query;
}

int list(const std::string& workspace, const Filters& filters, bool as_json) {
    const record::Query query = query_of(filters);
    std::vector<record::StoredEntry> entries = reader_of(workspace).query(query);
    std::reverse(entries.begin(), entries.end());
    for (const record::StoredEntry& entry : entries) {
        fmt::print("{}\n", as_json ? entry.json : escape_unprintable(record_line(entry.json)));
    }
    if (entries.empty() && !as_json) {
        fmt::print("there is no such entry\n");
    }
    return 0;
}

int show(const std::string& workspace, std::int64_t seq, bool as_json) {
    bool found = false;
    reader_of(workspace).each(seq, [&](const record::StoredEntry& entry) {
        found = entry.seq == seq;
        if (found) {
            fmt::print("{}\n", as_json ? entry.json : escape_unprintable(Json::parse(entry.json).dump(2), true));
        }
        return false;
    });
    if (!found) {
        throw Error(ErrorCode::invalid_params, fmt::format("the record has no entry {}", seq),
                    "cellgate record list shows which there are");
    }
    return 0;
}

// Holds a page of the record at a time.
int export_lines(const std::string& workspace, const Filters& filters, bool otlp) {
    constexpr std::size_t page = 1000;      // entries
    constexpr std::size_t max_spans = 1000; // in a line
    record::Query query = query_of(filters);
    const record::RecordReader reader = reader_of(workspace);
    query.limit = page;
    query.oldest_first = true;
    query.from_seq = 0;
    OtlpSpans spans(daemon::find_instance_paths(workspace, process_environment()).workspace);
    const auto print_spans = [&spans](std::size_t least) {
        if (spans.size() >= least) {
            fmt::print("{}\n", spans.take());
        }
    };
    for (std::size_t found = page; found == page;) {
        const std::vector<record::StoredEntry> entries = reader.query(query);
        for (const record::StoredEntry& entry : entries) {
            if (otlp) {
                spans.add(entry.json);
                print_spans(max_spans);
            } else {
                fmt::print("{}\n", entry.json);
            }
            query.from_seq = entry.seq + 1;
        }
        found = entries.size();
    }
    print_spans(1);
    return 0;
}

int verify(const std::string& workspace, const std::string& checkpoint_file, bool as_json) {
    constexpr std::size_t max_checkpoint_bytes = std::size_t{64} << 20;
    std::optional<std::string> kept;
    if (!checkpoint_file.empty()) {
        const RegularFile file = read_regular_file(checkpoint_file, max_checkpoint_bytes);
        if (file.error != 0) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot read {}", checkpoint_file), file.error);
        }
        kept = file.bytes;
    }
    const record::VerifyResult result = reader_of(workspace).verify(kept);
    if (as_json) {
        Json found{{"ok", result.ok},
                   {"entries", result.entries},
                   {"pruned", result.removed},
                   {"signed", result.checkpoint_size}};
        if (!result.ok) {
            found["problem"] = result.problem;
        }
        print_json(found);
        return result.ok ? 0 : 1;
    }
    if (!result.ok) {
        fmt::print(stderr, "cellgate: the record is not as it was written: {}\n", escape_unprintable(result.problem));
        return 1;
    }
    fmt::print("{} entries, as they were written{}\n", result.entries,
               result.removed > 0 ? fmt::format("; {} of them are pruned", result.removed) : "");
    if (result.checkpoint_size < result.entries) {
        fmt::print("the last {} are not signed yet: a checkpoint is signed every 1000 entries and when cellgate ends\n",
                   result.entries - result.checkpoint_size);
    }
    return 0;
}

std::string hex(const record::Hash& hash) {
    return to_hex(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

int prove(const std::string& workspace, std::int64_t seq, bool as_json) {
    const record::InclusionProof proof = reader_of(workspace).proof(seq);
    WrittenProof written;
    written.seq = seq;
    written.entry = proof.json;
    written.leaf = hex(record::leaf_hash(proof.json));
    written.size = proof.size;
    std::transform(proof.path.begin(), proof.path.end(), std::back_inserter(written.path), hex);
    written.root = hex(proof.root);
    written.checkpoint = proof.checkpoint;
    if (as_json) {
        fmt::print("{}\n", to_json(written));
        return 0;
    }
    fmt::print("entry {}:\n{}\n\n", seq, escape_unprintable(written.entry));
    fmt::print("its leaf, SHA-256 of 0x00 and the entry:\n{}\n\n", written.leaf);
    fmt::print("the hashes beside its way to the root, the lowest first:\n");
    for (const std::string& each : written.path) {
        fmt::print("{}\n", each);
    }
    fmt::print("\nthe root that they give, of the first {} entries:\n{}\n\n", written.size, written.root);
    fmt::print("the checkpoint that signs it:\n{}", escape_unprintable(written.checkpoint, true));
    return 0;
}

void add_filters(CLI::App& command, Filters& filters) {
    command.add_option("--since", filters.since, "Not before this time, or so long ago: 30s, 90m, 12h, 7d")
        ->type_name("TIME");
    command.add_option("--until", filters.until, "Before this time")->type_name("TIME");
    command.add_option("--type", filters.query.types, "Only entries of this type; repeatable: " + entry_types())
        ->check(entry_type())
        ->type_name("TYPE");
    command.add_option("--session", filters.query.session_id, "Only of this session")->type_name("ID");
    command.add_option("--execution", filters.query.execution_id, "Only of this execution")->type_name("ID");
    command.add_option("--text", filters.query.text, "Only with this text, in upper or lower case")->type_name("TEXT");
}

} // namespace

void add_record(CLI::App& app, Invocation& invocation) {
    CLI::App* command =
        app.add_subcommand("record", "What happened in the workspace: list, show, verify, prove or export it");
    command->require_subcommand(0, 1);
    auto workspace = std::make_shared<std::string>(".");
    auto as_json = std::make_shared<bool>(false);
    auto filters = std::make_shared<Filters>();
    filters->query.limit = default_entries;
    const auto runs = [&](CLI::App* part, std::function<int()> run) {
        add_root(*part, *workspace);
        add_json(*part, *as_json);
        part->callback([run = std::move(run), part, &invocation] {
            if (part->get_subcommands().empty()) {
                invocation.run = run;
            }
        });
        return part;
    };
    const auto add = [&](const char* name, const char* meaning, std::function<int()> run) {
        return runs(command->add_subcommand(name, meaning), std::move(run));
    };
    const auto list_entries = [workspace, filters, as_json] { return list(*workspace, *filters, *as_json); };
    runs(command, list_entries);
    CLI::App* listing = add("list", "List the newest entries, the last one last", list_entries);
    add_filters(*listing, *filters);
    listing->add_option("--limit", filters->query.limit, fmt::format("At most so many; default: {}", default_entries))
        ->check(whole_number(1))
        ->type_name("N");
    auto seq = std::make_shared<std::int64_t>(0);
    add("show", "Show all of one entry", [workspace, seq, as_json] { return show(*workspace, *seq, *as_json); })
        ->add_option("NUMBER", *seq, "The entry's number, as list shows it")
        ->required()
        ->check(whole_number(0))
        ->type_name("");
    auto checkpoint = std::make_shared<std::string>();
    add("verify", "Check that nothing in it was changed, removed or added",
        [workspace, checkpoint, as_json] { return verify(*workspace, *checkpoint, *as_json); })
        ->add_option("--checkpoint", *checkpoint,
                     "A file of checkpoints that was kept elsewhere: finds a record that was cut or written again, too")
        ->check(existing_file())
        ->type_name("FILE");
    auto otlp = std::make_shared<bool>(false);
    CLI::App* exporting = add("export", "Print entries as JSON lines, the oldest first",
                              [workspace, filters, otlp] { return export_lines(*workspace, *filters, *otlp); });
    add_filters(*exporting, *filters);
    exporting->add_flag(
        "--otlp", *otlp,
        "As spans of OpenTelemetry instead: executions, and the actions in them. Each line is a request "
        "for a collector's /v1/traces");
    CLI::App* proving = add("prove", "Prove that an entry is in the record that the newest checkpoint signs",
                            [workspace, seq, as_json] { return prove(*workspace, *seq, *as_json); });
    proving->add_option("NUMBER", *seq, "The entry's number, as list shows it")
        ->required()
        ->check(whole_number(0))
        ->type_name("");
}

} // namespace cellgate::cli
