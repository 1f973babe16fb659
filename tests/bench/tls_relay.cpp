// The floor of an inspected request: a proxy that ends the client's TLS, opens a TLS connection of its own behind it,
// and passes bytes on in both directions; it reads nothing of them. Usage: tls_relay CERTIFICATE_AND_KEY AUTHORITY. It
// prints its port of 127.0.0.1, and serves one connection after the other; each begins with CONNECT and the port to go
// to.

#include "worker.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

namespace {

using bench::die;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

void send_at_once(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

int connect_to(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        die("cannot connect");
    }
    send_at_once(socket);
    return socket;
}

// The port that CONNECT names.
int read_connect(int client) {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
        std::array<char, 4096> bytes{};
        const ssize_t size = read(client, bytes.data(), bytes.size());
        if (size <= 0) {
            die("no CONNECT");
        }
        head.append(bytes.data(), static_cast<std::size_t>(size));
    }
    constexpr std::string_view answer = "HTTP/1.1 200 Connection established\r\n\r\n";
    if (write(client, answer.data(), answer.size()) != static_cast<ssize_t>(answer.size())) {
        die("the client has gone");
    }
    return std::atoi(head.c_str() + head.find(':') + 1);
}

// What is there of `from`; false at its end.
bool pass(SSL* from, SSL* to) {
    std::array<char, 16384> bytes{};
    do {
        const int size = SSL_read(from, bytes.data(), bytes.size());
        if (size <= 0) {
            return SSL_get_error(from, size) == SSL_ERROR_WANT_READ; // it was a ticket
        }
        if (SSL_write(to, bytes.data(), size) != size) {
            return false;
        }
    } while (SSL_pending(from) > 0);
    return true;
}

void relay(SSL* client, SSL* server) {
    std::array<pollfd, 2> both{pollfd{SSL_get_fd(client), POLLIN, 0}, pollfd{SSL_get_fd(server), POLLIN, 0}};
    bool goes_on = true;
    while (goes_on) {
        poll(both.data(), both.size(), -1);
        goes_on = (both[0].revents == 0 || pass(client, server)) && (both[1].revents == 0 || pass(server, client));
    }
}

void serve_one(int client, SSL_CTX* accepting, SSL_CTX* connecting) {
    send_at_once(client);
    const int server = connect_to(read_connect(client));
    SSL* upstream = SSL_new(connecting);
    SSL_set_fd(upstream, server);
    SSL_set_tlsext_host_name(upstream, "localhost");
    SSL_set1_host(upstream, "localhost");
    SSL* downstream = SSL_new(accepting);
    SSL_set_fd(downstream, client);
    if (SSL_connect(upstream) != 1 || SSL_accept(downstream) != 1) {
        ERR_print_errors_fp(stderr);
        die("TLS");
    }
    relay(downstream, upstream);
    SSL_free(downstream);
    SSL_free(upstream);
    close(client);
    close(server);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        die("usage: tls_relay CERTIFICATE_AND_KEY AUTHORITY");
    }
    SSL_CTX* accepting = SSL_CTX_new(TLS_server_method());
    SSL_CTX* connecting = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(connecting, SSL_VERIFY_PEER, nullptr);
    for (SSL_CTX* context : {accepting, connecting}) {
        SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    }
    if (SSL_CTX_use_certificate_file(accepting, argv[1], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(accepting, argv[1], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_load_verify_locations(connecting, argv[2], nullptr) != 1) {
        die("a certificate cannot be read");
    }
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        die("cannot listen");
    }
    std::cout << ntohs(address.sin_port) << std::endl;
    while (true) {
        const int client = accept(listener, nullptr, nullptr);
        if (client >= 0) {
            serve_one(client, accepting, connecting);
        }
    }
}
