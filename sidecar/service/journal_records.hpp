#pragma once
// `read_records` is a page of a journal as clients get it: what cannot be read any more, or not be sent, is skipped.
// May block.

#include "protocol/messages/executions.hpp"
#include "store/journal.hpp"

#include <cstddef>
#include <vector>

namespace cellgate::service {

std::vector<protocol::OutputRecord> read_records(const store::JournalPage& page, std::size_t inline_limit);

} // namespace cellgate::service
