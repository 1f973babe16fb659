#pragma once
// Display data too large for a message, as files that the client reads itself. Their names are made of the execution's
// id, the record's number and an index, never of what the kernel said; each is written once and belongs to the sidecar.

#include "protocol/messages/executions.hpp"

#include <cstddef>
#include <string>

namespace cellgate::service {

inline constexpr std::size_t max_inline_bytes = std::size_t{256} << 10;

// Moves the MIME types of a display output whose JSON is larger than `max_inline_bytes` into files `<stem>.<index>`,
// and names these in `record.files`. Base64 of a binary type is decoded; what is not base64, and all else, is kept as
// text. What cannot be written stays in the record.
void move_large_data_to_files(protocol::OutputRecord& record, const std::string& stem);

} // namespace cellgate::service
