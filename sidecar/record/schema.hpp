#pragma once
// `schema` is the tables and indexes of a record, each with the text that the database keeps of it: so verifying finds
// any other. What is beside `json` in `entries` is its members' values, for queries; `json` is last, since a condition
// on another column then reads no more than that. Private to the module.

#include "database.hpp"

#include <array>

namespace cellgate::record {

inline constexpr int schema_version = 2; // user_version

inline constexpr std::array schema = {
    "CREATE TABLE entries(seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, time TEXT NOT NULL, type TEXT NOT NULL, "
    "session_id TEXT, execution_id TEXT, json TEXT NOT NULL)",
    // Roots of complete subtrees: of 256^level leaves, the n-th of them.
    "CREATE TABLE nodes(level INTEGER, n INTEGER, hash BLOB NOT NULL, PRIMARY KEY(level, n)) WITHOUT ROWID",
    // Pending files whose entries are here, until they are removed.
    "CREATE TABLE moved(name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE checkpoints(size INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    // The least and the greatest time of the entries from 256 · n on, once there are 256: a query by time reads the
    // blocks that it needs. Clocks are set back at times.
    "CREATE TABLE blocks(n INTEGER PRIMARY KEY, first_time TEXT NOT NULL, last_time TEXT NOT NULL)",
    // The one index, as each costs a page at almost every entry.
    "CREATE INDEX entries_execution ON entries(execution_id) WHERE execution_id IS NOT NULL",
};

// 0 for a database without tables, else schema_version. Throws Error{store_failed} when it has another format.
int require_format(Database& database);

} // namespace cellgate::record
