#pragma once
// `Database` is a connection to the SQLite database of a record; `Statement` is a prepared statement of it. All
// functions block, and throw Error{store_failed} that says what SQLite said. A connection is used by one thread at a
// time, and outlives its statements. A lock that another process holds is waited for, at most five seconds. Private to
// the module.

#include "record/merkle_tree.hpp"
#include "sqlite_library.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::record {

inline constexpr int patience = 5000; // ms, for another process that writes

class Database {
  public:
    enum class Access { read, write };

    // `write` makes the file when there is none, for this user alone.
    Database(const std::string& path, Access access);

    // How long to wait for another process that writes. Seconds, unless it was set.
    void set_patience(int milliseconds);
    // One or several statements without a result.
    void run(const std::string& sql);
    // The first column of the first row of `sql`; nothing without a row.
    std::optional<std::int64_t> integer(std::string_view sql);
    std::optional<std::string> text(std::string_view sql);

    const std::string& path() const { return path_; }
    [[noreturn]] void fail() const;

  private:
    friend class Statement;
    struct Close {
        void operator()(sqlite3* connection) const { SqliteLibrary::get().close_v2(connection); }
    };

    std::string path_;
    bool writes_;
    std::unique_ptr<sqlite3, Close> connection_;
};

class Statement {
  public:
    Statement(Database& database, std::string_view sql);

    // Binds the next parameter. Text and bytes must live until the last step.
    Statement& bind(std::int64_t value);
    Statement& bind(std::string_view text);
    Statement& bind_optional(const std::optional<std::string>& text); // nothing is NULL
    Statement& bind(const Hash& hash);
    // Goes to the next row; false after the last one.
    bool step();
    // To the end; the statement may be bound and run again then.
    void run();

    std::int64_t integer(int column) const;
    // Text or bytes; empty for NULL.
    std::string text(int column) const { return optional_text(column).value_or(""); }
    std::optional<std::string> optional_text(int column) const; // nothing for NULL
    // All zeros when there are not 32 bytes.
    Hash hash(int column) const;

  private:
    void check(int status) const;

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { SqliteLibrary::get().finalize(statement); }
    };

    const SqliteLibrary& sqlite_;
    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

// `Transaction` is undone unless it is committed. One that writes takes the lock at once; one that reads sees one
// state.
class Transaction {
  public:
    Transaction(Database& database, Database::Access access) : database_(database) {
        database_.run(access == Database::Access::write ? "BEGIN IMMEDIATE" : "BEGIN");
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    void commit();

  private:
    Database& database_;
    bool committed_ = false;
};

} // namespace cellgate::record
