#include "sqlite_library.hpp"

#include "base/loaded_library.hpp"

namespace cellgate::record {

namespace {

SqliteLibrary load_sqlite() {
    const LoadedLibrary library("libsqlite3.so.0", "libsqlite3-0", "the record");
    SqliteLibrary sqlite{};
    library.find("sqlite3_open_v2", sqlite.open_v2);
    library.find("sqlite3_close_v2", sqlite.close_v2);
    library.find("sqlite3_busy_timeout", sqlite.busy_timeout);
    library.find("sqlite3_errmsg", sqlite.errmsg);
    library.find("sqlite3_errcode", sqlite.errcode);
    library.find("sqlite3_prepare_v2", sqlite.prepare_v2);
    library.find("sqlite3_finalize", sqlite.finalize);
    library.find("sqlite3_step", sqlite.step);
    library.find("sqlite3_reset", sqlite.reset);
    library.find("sqlite3_bind_int64", sqlite.bind_int64);
    library.find("sqlite3_bind_text", sqlite.bind_text);
    library.find("sqlite3_bind_blob", sqlite.bind_blob);
    library.find("sqlite3_column_int64", sqlite.column_int64);
    library.find("sqlite3_column_text", sqlite.column_text);
    library.find("sqlite3_column_bytes", sqlite.column_bytes);
    return sqlite;
}

} // namespace

const SqliteLibrary& SqliteLibrary::get() {
    static const SqliteLibrary sqlite = load_sqlite();
    return sqlite;
}

} // namespace cellgate::record
