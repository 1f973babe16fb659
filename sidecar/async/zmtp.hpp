#pragma once
// `ZmtpDecoder` reads ZMTP 3.1 (rfc.zeromq.org/spec/37, and 23 for peers that speak 3.0) with the mechanism NULL, as
// the connecting side: it takes the peer's bytes and returns their meaning and the answer to send. It is pure: no
// descriptor, no clock. The peer is hostile: memory grows with the bytes received, never with an announced length, and
// an incomplete greeting, command or message is bounded.

#include "async/zmq_socket.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cellgate::async {

// The first bytes of a connection.
std::string zmtp_greeting();
// The frames of one message.
std::string zmtp_message(const ZmqMessage& message);

struct ZmtpLimits {
    std::size_t message_bytes; // a larger frame ends the connection, a larger message is dropped
    std::size_t frames;        // per message; a message with more is dropped
};

struct ZmtpArrival {
    enum class Kind {
        greeting, // the answer is READY
        ready,    // messages may be sent, after the answer if there is one: a SUB subscribes to all
        ping,     // the answer is the PONG
        message,
        other, // nothing to do: a frame before the last of a message, a command without an answer
    };
    Kind kind = Kind::other;
    std::string answer;
    ZmqMessage message; // without frames when it was dropped
};

// Decodes the bytes of one connection.
class ZmtpDecoder {
  public:
    ZmtpDecoder(ZmqType type, std::string identity, ZmtpLimits limits);

    // Consumes bytes from the front of `bytes`, at most to the end of one arrival. Nothing: all were consumed, and more
    // are needed. Throws Error{parse_error} when the peer breaks the protocol; the connection cannot be read further.
    std::optional<ZmtpArrival> next(std::string_view& bytes);

    // The buffer for the next bytes of a large frame, to read into directly: call filled() with their number, then
    // next() for the arrival, if any. Empty when the next bytes are for next().
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

    std::string head_; // the received part of the greeting or of a frame's head
    // Of the frame that is being read, once its head is whole.
    bool in_body_ = false;
    bool command_ = false;
    bool more_ = false;
    std::size_t left_ = 0;
    std::string body_; // may be longer than its received part
    std::size_t filled_ = 0;
    // Of the message that is being read.
    ZmqMessage message_;
    std::size_t frames_ = 0;
    std::size_t bytes_ = 0;
    bool dropping_ = false;
};

} // namespace cellgate::async
