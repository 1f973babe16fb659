#pragma once
// `EventStream` reads server-sent events (text/event-stream; HTML, section 9.2.6) from bytes that come in any pieces.

#include "base/clock.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

struct ServerSentEvent {
    std::string type; // "message" where the server named none
    std::string data;
};

class EventStream {
  public:
    // `max_bytes`: of one event.
    explicit EventStream(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    // The events that `bytes` complete; those without data are left out. Throws Error{limit_exceeded}.
    std::vector<ServerSentEvent> add(std::string_view bytes);

    // From where the stream can be resumed; empty while the server has given no id.
    const std::string& last_id() const { return last_id_; }
    // How long to wait before that, if the server said so.
    std::optional<Duration> retry() const { return retry_; }

  private:
    void take_line(std::string_view line, std::vector<ServerSentEvent>& events);
    void take_field(std::string_view name, std::string_view value);

    std::size_t max_bytes_;
    bool begun_ = false;       // past a byte order mark
    bool ended_in_cr_ = false; // a LF that follows belongs to that line end
    std::string line_;
    std::string type_;
    std::string data_;
    std::string id_; // of the event that is being read
    std::string last_id_;
    std::optional<Duration> retry_;
};

} // namespace cellgate::mcp
