#include "record/record_reader.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "checkpoint.hpp"
#include "database.hpp"
#include "schema.hpp"
#include "stored_hashes.hpp"
#include "verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::record {

namespace {

std::string existing_database(const std::string& directory) {
    std::string path = directory + "/record.sqlite";
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        throw Error(ErrorCode::store_failed, fmt::format("there is no record in {}", directory),
                    "a sidecar makes it when it serves the workspace");
    }
    return path;
}

// A pattern of LIKE that finds `text` anywhere.
std::string like_pattern(std::string_view text) {
    std::string pattern = "%";
    for (const char c : text) {
        pattern += c == '%' || c == '_' || c == '\\' ? "\\" : "";
        pattern += c;
    }
    return pattern + '%';
}

// The conditions of a query, with what their parameters are.
struct Conditions {
    std::string sql = "TRUE";
    std::vector<std::string> texts;

    void add(std::string_view condition, const std::optional<std::string>& text) {
        if (text) {
            sql += fmt::format(" AND {}", condition);
            texts.push_back(*text);
        }
    }
    // One of them; none means any.
    void add_choice(std::string_view column, const std::vector<std::string>& choices) {
        if (!choices.empty()) {
            std::string marks = "?";
            for (std::size_t i = 1; i < choices.size(); ++i) {
                marks += ", ?";
            }
            sql += fmt::format(" AND {} IN ({})", column, marks);
            texts.insert(texts.end(), choices.begin(), choices.end());
        }
    }
    void bind_to(Statement& statement) const {
        for (const std::string& text : texts) {
            statement.bind(text);
        }
    }
};

std::optional<std::string> written(const std::optional<WallTime>& time) {
    return time ? std::optional(to_rfc3339(*time)) : std::nullopt;
}

// Where entries of the time that is asked for can be, by blocks. Nothing when there are none.
struct Bounds {
    std::int64_t first = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
};
std::optional<Bounds> find_bounds(Database& database, const Query& query) {
    Bounds bounds;
    if (query.since || query.until) {
        // The last block is not complete, and so not in the table.
        const std::int64_t last = database.integer("SELECT max(seq) FROM entries").value_or(0) / block_size;
        Conditions conditions;
        conditions.add("last_time >= ?", written(query.since));
        conditions.add("first_time < ?", written(query.until));
        Statement statement(
            database, fmt::format("WITH all_blocks AS (SELECT n, first_time, last_time FROM blocks UNION ALL "
                                  "SELECT {}, min(time), max(time) FROM entries WHERE seq >= {}) "
                                  "SELECT min(n), max(n), count(*) FROM all_blocks WHERE first_time IS NOT NULL AND {}",
                                  last, last * block_size, conditions.sql));
        conditions.bind_to(statement);
        if (!statement.step() || statement.integer(2) == 0) {
            return std::nullopt;
        }
        bounds = {statement.integer(0) * block_size, statement.integer(1) * block_size + block_size - 1};
    }
    if (query.before_seq) {
        bounds.last = std::min(bounds.last, *query.before_seq - 1);
    }
    bounds.first = std::max(bounds.first, query.from_seq.value_or(0));
    return bounds;
}

Conditions conditions_of(const Query& query, const Bounds& bounds) {
    Conditions conditions;
    conditions.sql = fmt::format("seq BETWEEN {} AND {}", bounds.first, bounds.last);
    conditions.add("time >= ?", written(query.since));
    conditions.add("time < ?", written(query.until));
    conditions.add_choice("type", query.types);
    conditions.add("session_id = ?", query.session_id);
    conditions.add("execution_id = ?", query.execution_id);
    conditions.add("json LIKE ? ESCAPE '\\'", query.text ? std::optional(like_pattern(*query.text)) : std::nullopt);
    return conditions;
}

} // namespace

struct RecordReader::Impl {
    std::string directory;
    Database database{existing_database(directory), Database::Access::read};
};

bool RecordReader::exists(const std::string& directory) {
    const std::string path = directory + "/record.sqlite";
    if (::access(path.c_str(), F_OK) != 0) {
        return false;
    }
    try {
        Database database(path, Database::Access::read);
        return require_format(database) != 0; // 0: it is being made
    } catch (const Error&) {
        return true; // reading says what is wrong
    }
}

RecordReader::RecordReader(std::string directory) : impl_(new Impl{std::move(directory)}) {}
RecordReader::~RecordReader() = default;
RecordReader::RecordReader(RecordReader&&) noexcept = default;

std::vector<StoredEntry> RecordReader::query(const Query& query) const {
    Database& database = impl_->database;
    require_format(database);
    const Transaction transaction(database, Database::Access::read);
    std::vector<StoredEntry> found;
    const std::optional<Bounds> bounds = find_bounds(database, query);
    if (!bounds) {
        return found;
    }
    // From one end, and no further than it takes.
    const Conditions conditions = conditions_of(query, *bounds);
    Statement rows(database, fmt::format("SELECT seq, json FROM entries WHERE {} ORDER BY seq {} LIMIT {}",
                                         conditions.sql, query.oldest_first ? "ASC" : "DESC", query.limit));
    conditions.bind_to(rows);
    while (rows.step()) {
        found.push_back({rows.integer(0), rows.text(1)});
    }
    return found;
}

KeptRange RecordReader::kept() const {
    require_format(impl_->database);
    const Transaction transaction(impl_->database, Database::Access::read);
    return {impl_->database.integer("SELECT min(seq) FROM entries").value_or(0),
            impl_->database.integer("SELECT max(seq) + 1 FROM entries").value_or(0)};
}

void RecordReader::each(std::int64_t from_seq, const std::function<bool(const StoredEntry&)>& visit) const {
    require_format(impl_->database);
    Statement rows(impl_->database, "SELECT seq, json FROM entries WHERE seq >= ? ORDER BY seq");
    rows.bind(from_seq);
    while (rows.step() && visit({rows.integer(0), rows.text(1)})) {
    }
}

VerifyResult RecordReader::verify(const std::optional<std::string>& kept_checkpoints) const {
    return verify_record(impl_->database, impl_->directory, kept_checkpoints);
}

InclusionProof RecordReader::proof(std::int64_t seq) const {
    Database& database = impl_->database;
    require_format(database);
    const Transaction transaction(database, Database::Access::read);
    Statement entry(database, "SELECT json FROM entries WHERE seq = ?");
    if (!entry.bind(seq).step()) {
        throw Error(ErrorCode::invalid_params, fmt::format("expected the number of an entry, found {}", seq));
    }
    const std::vector<Checkpoint> newest =
        parse_checkpoints(database.text("SELECT text FROM checkpoints ORDER BY size DESC LIMIT 1").value_or(""));
    if (newest.empty() || newest[0].size <= seq) {
        throw Error(ErrorCode::invalid_params, fmt::format("no checkpoint covers entry {} yet", seq),
                    "one is written after 1,000 entries, and when the sidecar ends");
    }
    StoredHashes hashes(database);
    std::vector<Hash> path = inclusion_path(
        seq, newest[0].size, [&](std::int64_t begin, std::int64_t end) { return hashes.root_of(begin, end); });
    const std::string json = entry.text(0);
    if (!newest[0].is_signed_by(VerifierKey::read(impl_->directory)) ||
        !is_included(leaf_hash(json), seq, newest[0].size, path, newest[0].root)) {
        throw Error(ErrorCode::store_failed,
                    fmt::format("the newest checkpoint does not prove entry {}: the record was changed", seq),
                    "cellgate record verify says what was changed");
    }
    return {seq, json, newest[0].size, std::move(path), newest[0].root, newest[0].text};
}

} // namespace cellgate::record
