#pragma once
// Display data too large for a message, as files that the client reads itself. Their names are made of the execution's
// id, the record's number and an index, never of what the kernel said; each is written once, whole or not at all, and
// belongs to the journal. May block, and may be called from any thread.

#include "protocol/messages/executions.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cellgate::service {

// Of a MIME type, for a client that takes files.
inline constexpr std::size_t max_inline_bytes = std::size_t{256} << 10;
// Of a record, for any client: far below what one message may hold.
inline constexpr std::size_t most_message_bytes = std::size_t{16} << 20;

// Moves the MIME types of a display output whose JSON is larger than `max_inline_bytes` into files `<stem>.<index>`,
// and names these in `record.files`. Base64 of a binary type is decoded; what is not base64, and all else, is kept as
// text. What cannot be written stays in the record.
void move_large_data_to_files(protocol::OutputRecord& record, const std::string& stem);

// A record that is larger than `limit` as the client gets it: with files if there is a stem for them, and without its
// output when it is too large even so.
void fit_into_message(protocol::OutputRecord& record, const std::optional<std::string>& stem, std::size_t limit);

} // namespace cellgate::service
