#include "carried_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace cellgate::helper {

namespace {

constexpr int client_side = 0;
constexpr int server_side = 1;

} // namespace

CarriedConnection::CarriedConnection(int client, int server, std::string preface, std::size_t answer_bytes)
    : sides_{Side{client, std::move(preface)}, Side{server}}, answer_left_(answer_bytes), answer_bytes_(answer_bytes) {}

CarriedConnection::~CarriedConnection() {
    ::close(sides_[client_side].fd);
    ::close(sides_[server_side].fd);
}

void CarriedConnection::ask(std::vector<pollfd>& polled) const {
    for (int side = 0; side < 2; ++side) {
        const bool may_read = side == server_side || answer_left_ == 0;
        const bool reads = may_read && !sides_[side].ended && sides_[side].waiting.empty();
        const bool writes = !sides_[1 - side].waiting.empty();
        const auto events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
        // One that nothing is wanted of is asked whether it is gone, but not again and again.
        const bool asked = events != 0 || !sides_[side].hung_up;
        polled.push_back({asked ? sides_[side].fd : -1, events, 0});
    }
}

bool CarriedConnection::carry(const pollfd* polled) {
    for (int side = 0; side < 2; ++side) {
        const short found = polled[side].revents;
        if (found == 0) {
            continue;
        }
        if ((found & (POLLERR | POLLHUP)) != 0 && !hang_up(side, (found & POLLERR) != 0)) {
            return false;
        }
        if (((polled[side].events & POLLOUT) != 0 && !write_to(side)) ||
            ((polled[side].events & POLLIN) != 0 && !read_from(side))) {
            return false;
        }
    }
    const bool client_is_done = is_done(client_side);
    return !is_done(server_side) || !client_is_done;
}

bool CarriedConnection::hang_up(int side, bool with_error) {
    sides_[side].hung_up = true;
    if (side == server_side) {
        send_no_more_to_server();
        return true;
    }
    // What it sent before goes on: an alert of TLS says why it has gone.
    if (with_error && answer_left_ == 0 && write_to(server_side) && sides_[side].waiting.empty()) {
        read_from(side);
    }
    return !with_error;
}

void CarriedConnection::send_no_more_to_server() {
    sides_[server_side].takes_more = false;
    sides_[client_side].waiting.clear();
    sides_[client_side].written = 0;
}

bool CarriedConnection::is_done(int side) {
    Side& from = sides_[side];
    if (from.ended && from.waiting.empty() && !from.told) {
        from.told = true;
        ::shutdown(sides_[1 - side].fd, SHUT_WR);
    }
    return from.told;
}

bool CarriedConnection::read_from(int side) {
    std::array<char, 65536> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const ssize_t size = ::read(sides_[side].fd, bytes.data(), bytes.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (size < 0 && side == client_side) {
        return false;
    }
    sides_[side].ended = size <= 0;
    std::string_view got(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (answer_left_ > 0 && !take_answer(got)) {
        return false;
    }
    if (size <= 0 || !sides_[1 - side].takes_more) {
        return true;
    }
    sides_[side].waiting.assign(got);
    return write_to(1 - side);
}

bool CarriedConnection::take_answer(std::string_view& got) {
    constexpr std::size_t of_greeting = 2;
    while (!got.empty() && answer_left_ > 0) {
        const std::size_t at = answer_bytes_ - answer_left_--;
        const bool is_status = at == 1 || at == of_greeting + 1;
        if (is_status && got.front() != 0) {
            return refuse_client();
        }
        got.remove_prefix(1);
    }
    return !sides_[server_side].ended || refuse_client();
}

bool CarriedConnection::refuse_client() const {
    constexpr linger at_once{1, 0};
    ::setsockopt(sides_[client_side].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return false;
}

bool CarriedConnection::write_to(int side) {
    Side& from = sides_[1 - side];
    while (!from.waiting.empty()) {
        const ssize_t size =
            ::write(sides_[side].fd, from.waiting.data() + from.written, from.waiting.size() - from.written);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return true;
        }
        if (size < 0 && side == client_side) {
            return false;
        }
        if (size < 0) {
            send_no_more_to_server();
            return true;
        }
        from.written += static_cast<std::size_t>(size);
        if (from.written == from.waiting.size()) {
            from.waiting.clear();
            from.written = 0;
        }
    }
    return true;
}

} // namespace cellgate::helper
