#pragma once
// `server_errors` are the errors of tool servers, and the texts of servers in them, which are escaped and bounded.

#include "async/process.hpp"
#include "base/error.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

// Escaped, and cut with a mark.
std::string shortened(std::string_view text, std::size_t longest, bool keep_lines = false);

std::string in_quotes(const std::string& name);

std::string stderr_of(const async::Process& process);

Error failed(const std::string& server, const std::string& what, std::string hint = {});

// Error{config_invalid}: what is wrong with the configuration of a server.
Error invalid_config(const std::string& server, const std::string& why, std::string hint = {});

Error changed_meanwhile(const std::string& server);

Error not_found(const std::string& server, const std::vector<std::string>& names);

// The exception that is being handled, as every waiter can catch it.
std::exception_ptr current_error();

// Of an Error.
std::string message_of(std::exception_ptr error);
ErrorCode code_of(std::exception_ptr error);

} // namespace cellgate::tools
