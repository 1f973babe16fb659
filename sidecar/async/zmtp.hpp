#pragma once
// ZMTP 3.1 (rfc.zeromq.org/spec/37, and 23 for peers that speak 3.0) with the mechanism NULL, as the side that
// connects: bytes of the peer go in; what they mean, and what has to be answered, comes out. Pure: no descriptor, no
// clock. The peer is hostile: memory follows what it sent, never a length that it only announced, and what is kept of a
// greeting, a command or a message that is not whole yet is bounded.

#include "async/zmq_socket.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cellgate::async {

// With what a connection begins.
std::string zmtp_greeting();
// The frames of one message.
std::string zmtp_message(const ZmqMessage& message);

struct ZmtpLimits {
    std::size_t message_bytes; // a larger frame ends the connection, a larger message is dropped
    std::size_t frames;        // of a message; one of more is dropped
};

struct ZmtpArrival {
    enum class Kind {
        greeting, // the answer is READY
        ready,    // messages may be sent, after the answer if there is one: a SUB subscribes to all
        ping,     // the answer is the PONG
        message,
        other, // nothing to do: a frame of a message that goes on, a command that asks for nothing
    };
    Kind kind = Kind::other;
    std::string answer;
    ZmqMessage message; // without frames when it was dropped
};

// What comes on one connection.
class ZmtpDecoder {
  public:
    ZmtpDecoder(ZmqType type, std::string identity, ZmtpLimits limits);

    // Takes bytes off the front of `bytes`, to the end of one arrival at most. Nothing: all were taken, and more are
    // needed. Throws Error{parse_error} when the peer breaks the protocol; the connection cannot be read further.
    std::optional<ZmtpArrival> next(std::string_view& bytes);

    // Where the next bytes of a large frame will stay: they can be read into it, filled() says how many were, and then
    // next() has the arrival if there is one. Empty when the next bytes are for next().
    std::span<char> space();
    void filled(std::size_t count);

  private:
    bool gather(std::string_view& bytes, std::size_t size);
    ZmtpArrival end_greeting();
    void begin_frame();
    void keep(std::string_view part);
    ZmtpArrival end_frame();
    ZmtpArrival end_command();
    void check_metadata(std::string_view metadata) const;
    std::string ready_command() const;

    ZmqType type_;
    std::string identity_;
    ZmtpLimits limits_;
    bool greeted_ = false;
    bool ready_ = false;
    std::string subscription_;

    std::string head_; // of the greeting, or of a frame, as far as it has come
    // Of the frame that is being read, once its head is whole.
    bool in_body_ = false;
    bool command_ = false;
    bool more_ = false;
    std::size_t left_ = 0;
    std::string body_; // may be longer than what has come of it
    std::size_t filled_ = 0;
    // Of the message that is being read.
    ZmqMessage message_;
    std::size_t frames_ = 0;
    std::size_t bytes_ = 0;
    bool dropping_ = false;
};

} // namespace cellgate::async
