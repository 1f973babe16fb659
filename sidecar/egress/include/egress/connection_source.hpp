#pragma once
// `ConnectionSource` is the bridge's report of the program behind a connection (helper/bridge.hpp). Code in the sandbox
// can leave the report out or forge it: it is shown, and decides nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::egress {

struct ConnectionSource {
    struct Start {
        std::int64_t process = 0;
        std::int64_t thread = 0; // that started it
    };

    std::string program;                // its command line, escaped; may be empty
    bool is_command = false;            // the sandbox's own: the kernel, or the server
    std::optional<std::int64_t> socket; // its inode
    std::vector<Start> starts;          // of the program, of what started it, and so on
};

// `text`: "[command ]SOCKET[ PROCESS:THREAD]…\nPROGRAM". A text of another form is the program as a whole.
ConnectionSource read_source(std::string_view text);

// The program as an approval shows it. `command` is the name of the sandbox's own program for users.
std::optional<std::string> shown_program(const ConnectionSource& source, std::string_view command);

} // namespace cellgate::egress
