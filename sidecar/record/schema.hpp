#pragma once
// `schema` is the tables and indexes of a record, each with the text that the database keeps of it: so verifying finds
// any other. The columns after `json` are no data: they are computed from it, for queries. Private to the module.

#include <array>

namespace cellgate::record {

inline constexpr int schema_version = 1; // user_version

inline constexpr std::array schema = {
    "CREATE TABLE entries(seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, json TEXT NOT NULL, "
    "time TEXT AS (json_extract(json, '$.time')), type TEXT AS (json_extract(json, '$.type')), "
    "session_id TEXT AS (json_extract(json, '$.sessionId')), "
    "execution_id TEXT AS (json_extract(json, '$.executionId')))",
    // Roots of complete subtrees: of 256^level leaves, the n-th of them.
    "CREATE TABLE nodes(level INTEGER, n INTEGER, hash BLOB NOT NULL, PRIMARY KEY(level, n)) WITHOUT ROWID",
    // Pending files whose entries are here, until they are removed.
    "CREATE TABLE moved(name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE checkpoints(size INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE INDEX entries_time ON entries(time)",
    "CREATE INDEX entries_type ON entries(type)",
    "CREATE INDEX entries_session ON entries(session_id) WHERE session_id IS NOT NULL",
    "CREATE INDEX entries_execution ON entries(execution_id) WHERE execution_id IS NOT NULL",
};

} // namespace cellgate::record
