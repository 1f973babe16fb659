#include "database.hpp"

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>

namespace cellgate::record {

namespace {

const char* hint_for(int status) {
    switch (status) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return "the disk may be full: free some space";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "move it away to begin a new record, and keep it";
    case SQLITE_BUSY:
        return "another process holds it: end that";
    default:
        return "";
    }
}

} // namespace

Database::Database(const std::string& path, Access access) : path_(path), writes_(access == Access::write) {
    const SqliteLibrary& sqlite = SqliteLibrary::get();
    if (writes_) {
        // SQLite would let others read it, and gives its further files the mode of this one.
        const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    }
    sqlite3* connection = nullptr;
    const int status =
        sqlite.open_v2(path.c_str(), &connection, writes_ ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, nullptr);
    connection_.reset(connection);
    if (status != SQLITE_OK) {
        fail();
    }
    set_patience(patience);
    run("PRAGMA cell_size_check=ON"); // finds damage earlier
}

void Database::set_patience(int milliseconds) {
    SqliteLibrary::get().busy_timeout(connection_.get(), milliseconds);
}

void Database::fail() const {
    const SqliteLibrary& sqlite = SqliteLibrary::get();
    sqlite3* connection = connection_.get();
    throw Error(ErrorCode::store_failed,
                fmt::format("cannot {} {}: {}", writes_ ? "write" : "read", path_, sqlite.errmsg(connection)),
                hint_for(sqlite.errcode(connection)));
}

void Database::run(const std::string& sql) {
    std::string_view rest = sql;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        Statement(*this, rest.substr(0, end)).run();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

std::optional<std::int64_t> Database::integer(std::string_view sql) {
    Statement statement(*this, sql);
    return statement.step() ? std::optional(statement.integer(0)) : std::nullopt;
}

std::optional<std::string> Database::text(std::string_view sql) {
    Statement statement(*this, sql);
    return statement.step() ? std::optional(statement.text(0)) : std::nullopt;
}

Statement::Statement(Database& database, std::string_view sql) : sqlite_(SqliteLibrary::get()), database_(database) {
    sqlite3_stmt* statement = nullptr;
    const int status =
        sqlite_.prepare_v2(database.connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    statement_.reset(statement);
    check(status);
}

void Statement::check(int status) const {
    if (status != SQLITE_OK) {
        database_.fail();
    }
}

Statement& Statement::bind(std::int64_t value) {
    check(sqlite_.bind_int64(statement_.get(), ++bound_, value));
    return *this;
}
Statement& Statement::bind(std::string_view text) {
    check(sqlite_.bind_text(statement_.get(), ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
    return *this;
}
Statement& Statement::bind_optional(const std::optional<std::string>& text) {
    // Without an address, SQLite binds NULL.
    return bind(text ? std::string_view(*text) : std::string_view());
}
Statement& Statement::bind(const Hash& hash) {
    check(sqlite_.bind_blob(statement_.get(), ++bound_, hash.data(), static_cast<int>(hash.size()), SQLITE_STATIC));
    return *this;
}

bool Statement::step() {
    const int status = sqlite_.step(statement_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) {
        database_.fail();
    }
    return status == SQLITE_ROW;
}

void Statement::run() {
    while (step()) {
    }
    sqlite_.reset(statement_.get());
    bound_ = 0;
}

std::int64_t Statement::integer(int column) const {
    return sqlite_.column_int64(statement_.get(), column);
}

std::optional<std::string> Statement::optional_text(int column) const {
    const unsigned char* text = sqlite_.column_text(statement_.get(), column);
    if (text == nullptr) {
        return std::nullopt;
    }
    const int size = sqlite_.column_bytes(statement_.get(), column);
    return std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}

Hash Statement::hash(int column) const {
    const std::string bytes = text(column);
    Hash hash{};
    if (bytes.size() == hash.size()) {
        std::copy(bytes.begin(), bytes.end(), hash.begin());
    }
    return hash;
}

Transaction::~Transaction() {
    try {
        if (!committed_) {
            database_.run("ROLLBACK");
        }
    } catch (const Error&) {
        // SQLite has undone it by itself, as it does when the disk is full.
    }
}

void Transaction::commit() {
    database_.run("COMMIT");
    committed_ = true;
}

} // namespace cellgate::record
