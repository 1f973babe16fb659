#include "server_errors.hpp"

#include "base/escape_unprintable.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_stderr_bytes = 2000;
constexpr std::size_t max_shown_name_bytes = 128;

} // namespace

std::string shortened(std::string_view text, std::size_t longest, bool keep_lines) {
    const std::string start = escape_unprintable(cut_at_character(text, longest), keep_lines);
    return text.size() > longest ? fmt::format("{}… ({} bytes in all)", start, text.size()) : start;
}

std::string in_quotes(const std::string& name) {
    return fmt::format("\"{}\"", escape_unprintable(cut_at_character(name, max_shown_name_bytes)));
}

std::string stderr_of(const async::Process& process) {
    std::string text = process.stderr_tail();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    if (text.empty()) {
        return "; it wrote nothing to stderr";
    }
    const bool cut = text.size() > max_stderr_bytes;
    return fmt::format("; its stderr ends with:\n{}{}", cut ? "…" : "",
                       escape_unprintable(text.substr(cut ? text.size() - max_stderr_bytes : 0), true));
}

Error failed(const std::string& server, const std::string& what, std::string hint) {
    return Error(ErrorCode::tool_server_failed, fmt::format("the tool server {} {}", in_quotes(server), what),
                 std::move(hint));
}

Error invalid_config(const std::string& server, const std::string& why, std::string hint) {
    return Error(ErrorCode::config_invalid,
                 fmt::format("the tool server \"{}\" cannot be used: {}",
                             escape_unprintable(server.substr(0, max_shown_name_bytes)), why),
                 std::move(hint));
}

Error changed_meanwhile(const std::string& server) {
    return Error(
        ErrorCode::denied,
        fmt::format("the program of the tool server {} changed while its start was decided about", in_quotes(server)),
        "Call again once its files stay as they are.");
}

Error not_found(const std::string& server, const std::vector<std::string>& names) {
    return Error(ErrorCode::tool_server_not_found, fmt::format("there is no tool server {}", in_quotes(server)),
                 did_you_mean(server, names) +
                     " Others are named in .mcp.json of the workspace, by the editor, on the command line (--server "
                     "NAME -- COMMAND, or --mcp-config FILE), or by an agent, for as long as it is "
                     "connected: after that its wrappers are still there, and it has to register the server again.");
}

std::exception_ptr current_error() {
    try {
        throw;
    } catch (const Error&) {
        return std::current_exception();
    } catch (const std::exception& error) {
        return std::make_exception_ptr(Error(ErrorCode::internal_error, escape_unprintable(error.what())));
    } catch (...) {
        return std::make_exception_ptr(Error(ErrorCode::internal_error, "something unknown was thrown"));
    }
}

std::string message_of(std::exception_ptr error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& each) {
        return each.message;
    }
}

ErrorCode code_of(std::exception_ptr error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& each) {
        return each.code;
    }
}

} // namespace cellgate::tools
