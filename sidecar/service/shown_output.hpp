#pragma once
// `shown_text` is output as the text that a user judges before an agent gets it: every text of it whole and as it is;
// pictures and other large data by their type and size.

#include "protocol/messages/executions.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "store/journal.hpp"

#include <string>

namespace cellgate::service {

std::string shown_text(const store::JournalRecord& record);
std::string shown_text(const protocol::CallToolResult& result);
// What the result of an execution says beyond `output`, the text of its records.
std::string shown_text(const protocol::ExecuteResult& result, const std::string& output);

} // namespace cellgate::service
