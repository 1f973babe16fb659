#include "socket_stream.hpp"

namespace cellgate::async {

std::unique_ptr<SocketStream> open_socket(Loop& loop, int fd) {
    return std::make_unique<ConnectedSocket<SocketStream>>(loop, fd);
}

} // namespace cellgate::async
