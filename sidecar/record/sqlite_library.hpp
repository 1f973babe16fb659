#pragma once
// `SqliteLibrary` is the system's SQLite, loaded when the first record is opened. Private to the module.

#include <sqlite3.h>

namespace cellgate::record {

struct SqliteLibrary {
    // Loads it once. Throws Error{store_failed} with a hint when there is none.
    static const SqliteLibrary& get();

    decltype(&::sqlite3_open_v2) open_v2;
    decltype(&::sqlite3_close_v2) close_v2;
    decltype(&::sqlite3_busy_timeout) busy_timeout;
    decltype(&::sqlite3_errmsg) errmsg;
    decltype(&::sqlite3_errcode) errcode;
    decltype(&::sqlite3_prepare_v2) prepare_v2;
    decltype(&::sqlite3_finalize) finalize;
    decltype(&::sqlite3_step) step;
    decltype(&::sqlite3_reset) reset;
    decltype(&::sqlite3_bind_int64) bind_int64;
    decltype(&::sqlite3_bind_text) bind_text;
    decltype(&::sqlite3_bind_blob) bind_blob;
    decltype(&::sqlite3_column_int64) column_int64;
    decltype(&::sqlite3_column_text) column_text;
    decltype(&::sqlite3_column_bytes) column_bytes;
};

} // namespace cellgate::record
