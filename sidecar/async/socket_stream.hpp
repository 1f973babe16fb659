#pragma once
// `ConnectedSocket` is the stream over a connected socket.

#include "system_stream.hpp"

namespace cellgate::async {

// Base is SocketStream or derives from it.
template <class Base>
class ConnectedSocket : public Base {
  public:
    ConnectedSocket(Loop& loop, int fd) : stream_(loop, fd, fd) {}

    Task<std::string> read() override { return stream_.read(); }
    void write(std::string bytes) override { stream_.write(std::move(bytes)); }
    std::size_t write_queue_size() const override { return stream_.write_queue_size(); }
    Task<void> drained(std::size_t below) override { return stream_.drained(below); }
    void close_output() override { stream_.close_output(); }
    bool peer_gone() const override { return stream_.peer_gone(); }
    void abort() override { stream_.abort(); }
    void close() override { stream_.close(); }

  private:
    SystemStream stream_;
};

// Takes ownership of `fd`.
std::unique_ptr<SocketStream> open_socket(Loop& loop, int fd);

} // namespace cellgate::async
