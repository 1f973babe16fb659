#include "traced_connection.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cellgate::service {

Trace::Trace(Clock& clock, const std::string& path) : clock_(clock), file_(nullptr, std::fclose) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open the trace file {}", path), errno);
    }
    file_.reset(::fdopen(fd, "a"));
}

void Trace::write(std::uint64_t client, std::string_view direction, const std::string& message) {
    std::string line = fmt::format(R"({{"time":"{}","client":"{}","direction":"{}","message":)",
                                   to_rfc3339(clock_.wall()), client, direction);
    // Invalid JSON is kept as text: a trace is for debugging.
    if (check_json(message)) {
        append_json_string(line, message);
    } else {
        line += RawJson::checked(message).text();
    }
    line += "}\n";
    std::fwrite(line.data(), 1, line.size(), file_.get());
    std::fflush(file_.get());
}

Task<std::optional<protocol::Frame>> TracedConnection::receive() {
    std::optional<protocol::Frame> frame = co_await connection_->receive();
    if (frame && frame->problem.empty()) {
        trace_->write(client_, "in", frame->text);
    }
    co_return frame;
}

void TracedConnection::send(std::string message) {
    connection_->send(message); // may throw: an unsent message is not in the trace
    trace_->write(client_, "out", message);
}

} // namespace cellgate::service
