#pragma once
// `move_large_data_to_files` is for display data too large for a message: it goes into files that the client reads. A
// file's name is made of the execution's id, the record's number and an index, never of kernel output. Each file is
// written once, completely or not at all, and belongs to the journal. May block; callable from any thread.

#include "protocol/messages/executions.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cellgate::service {

// Per MIME type, for a client that accepts files.
inline constexpr std::size_t max_inline_bytes = std::size_t{256} << 10;
// Per record, for any client: far below the maximum size of a message.
inline constexpr std::size_t max_message_bytes = std::size_t{16} << 20;

// Moves the MIME types of a display output whose JSON is larger than `max_inline_bytes` into files `<stem>.<index>`,
// and names these in `record.files`. Base64 of a binary type is decoded; invalid base64 and all
// other types are kept as text. Data that cannot be written stays in the record.
void move_large_data_to_files(protocol::OutputRecord& record, const std::string& stem);

// Shrinks a record that is larger than `limit`: moves data into files if `stem` is given, and drops the output if the
// record is still too large.
void fit_into_message(protocol::OutputRecord& record, const std::optional<std::string>& stem, std::size_t limit);

} // namespace cellgate::service
