#pragma once
// `verify_record` checks a record against itself, its checkpoints, and checkpoints that were kept elsewhere. Private to
// the module.

#include "database.hpp"
#include "record/record_reader.hpp"

namespace cellgate::record {

// As RecordReader::verify().
VerifyResult verify_record(Database& database, const std::string& directory,
                           const std::optional<std::string>& kept_checkpoints);

} // namespace cellgate::record
