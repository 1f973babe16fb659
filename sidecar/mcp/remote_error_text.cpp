#include "remote_error_text.hpp"

#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_error_text = 4096;

} // namespace

std::string remote_error_text(const protocol::RemoteError& remote) {
    std::string text = fmt::format("{} (code {})", escape_unprintable(remote.message.substr(0, max_error_text), true),
                                   static_cast<int>(remote.code));
    if (!remote.data.is_null()) {
        text += "\n" + escape_unprintable(remote.data.text().substr(0, max_error_text), true);
    }
    return text;
}

} // namespace cellgate::mcp
