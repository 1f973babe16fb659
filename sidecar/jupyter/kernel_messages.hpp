#pragma once
// `read_execute_reply` and the other functions are the codec of the messages between a client and its kernel: JSON text
// in, checked values out, and the reverse. All readers throw Error{invalid_params} for content that does not fit.

#include "jupyter/kernel_client.hpp"

#include <string>
#include <string_view>

namespace cellgate::jupyter {

std::string execute_request_content(const ExecuteRequest& request);
std::string shutdown_request_content(bool restart);
std::string input_reply_content(std::string value);

// Of a status message: "busy", "idle".
std::string read_execution_state(std::string_view content);
ExecuteReply read_execute_reply(std::string_view content);
KernelInfoReply read_kernel_info(std::string_view content);
// Without `id` and `parent`. A long prompt is truncated.
InputRequest read_input_request(std::string_view content);

// For an execution whose reply was lost; `shown`: the error that its output had.
ExecuteReply lost_reply(std::optional<KernelError> shown);
ExecuteReply reply_lost_in_cut(std::optional<KernelError> shown);
// For an execution of which nothing was heard before the connection was cut.
ExecuteReply unknown_fate();

} // namespace cellgate::jupyter
