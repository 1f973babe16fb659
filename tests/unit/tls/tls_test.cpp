// Our accept against our connect.
#include "temp_folder.hpp"
#include "tls_fixture.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <stdlib.h>

using namespace cellgate;
using namespace cellgate::async;
using namespace cellgate::tls;

namespace {

constexpr std::size_t big = std::size_t{16} << 20;

Task<void> talk(Loop* loop, std::string endpoint) {
    CertificateAuthority authority("cellgate test");
    const Setup setup = setup_for(authority, endpoint);
    for (int i = 0; i < 2; ++i) {
        Sockets sockets = co_await connected_sockets(loop);
        Streams streams = co_await handshake_between(std::move(sockets), setup);
        REQUIRE(streams.client);
        REQUIRE(streams.server);
        CHECK(streams.client->application_protocol() == "http/1.1");
        CHECK(streams.server->application_protocol() == "http/1.1");
        CHECK_FALSE(streams.client->resumed()); // accept_tls() resumes none
        CHECK_FALSE(streams.client->wanted_certificate());
        streams.client->write("question");
        const std::string question = co_await read_at_least(streams.server.get(), 8);
        CHECK(question == "question");
        streams.client->close_output();
        const std::string end = co_await streams.server->read();
        CHECK(end.empty());
        CHECK_FALSE(streams.server->truncated());
        streams.server->write("answer");
        streams.server->close();
        const std::string answer = co_await read_all(streams.client.get());
        CHECK(answer == "answer");
        CHECK_FALSE(streams.client->truncated());
    }
}

Task<void> refuse(Loop* loop, Setup setup, std::string why, bool distrusted) {
    Sockets sockets = co_await connected_sockets(loop);
    const Streams streams = co_await handshake_between(std::move(sockets), std::move(setup));
    REQUIRE(streams.client_failure);
    CHECK(streams.client_failure->message == why);
    REQUIRE(streams.server_failure);
    CHECK(streams.server_failure->distrusted == distrusted);
    CHECK(streams.server_failure->code == ErrorCode::invalid_request);
}

Task<void> connect_once(Loop* loop, Setup setup) {
    Sockets sockets = co_await connected_sockets(loop);
    const Streams streams = co_await handshake_between(std::move(sockets), std::move(setup));
    CHECK(streams.client);
}

Task<void> truncate(Loop* loop) {
    CertificateAuthority authority("cellgate test");
    Sockets sockets = co_await connected_sockets(loop);
    SocketStream* below = sockets.first.get();
    Streams streams = co_await handshake_between(std::move(sockets), setup_for(authority, "a.example:443"));
    REQUIRE(streams.server);
    streams.server->write("part");
    co_await streams.server->drained(0);
    below->close_output();
    const std::string all = co_await read_all(streams.client.get());
    CHECK(all == "part");
    CHECK(streams.client->truncated());
}

Task<void> write_big(TlsStream* stream, std::size_t* max_queued) {
    constexpr std::size_t piece = std::size_t{256} << 10;
    for (std::size_t sent = 0; sent < big; sent += piece) {
        std::string bytes(piece, static_cast<char>('a' + sent / piece % 26));
        stream->write(std::move(bytes));
        *max_queued = std::max(*max_queued, stream->write_queue_size());
        co_await stream->drained(piece / 4);
    }
    stream->close_output();
}

Task<void> read_slowly(Loop* loop, TlsStream* stream, std::size_t* received) {
    while (true) {
        const std::string bytes = co_await stream->read();
        if (bytes.empty()) {
            co_return;
        }
        CHECK(bytes.size() <= (std::size_t{256} << 10) + (std::size_t{16} << 10));
        *received += bytes.size();
        for (int turn = 0; turn < 3; ++turn) {
            co_await loop->yield();
        }
    }
}

Task<void> both_ways(Loop* loop) {
    CertificateAuthority authority("cellgate test");
    Sockets sockets = co_await connected_sockets(loop);
    Streams streams = co_await handshake_between(std::move(sockets), setup_for(authority, "a.example:443"));
    REQUIRE(streams.client);
    std::size_t queued = 0;
    std::size_t there = 0;
    std::size_t back = 0;
    TaskScope scope;
    scope.spawn(write_big(streams.client.get(), &queued));
    scope.spawn(write_big(streams.server.get(), &queued));
    scope.spawn(read_slowly(loop, streams.client.get(), &back));
    scope.spawn(read_slowly(loop, streams.server.get(), &there));
    co_await scope.join();
    CHECK(there == big);
    CHECK(back == big);
    CHECK(queued < std::size_t{512} << 10);
    CHECK(queued > 0); // the reader was slow
}

// Carries bytes from one stream to another, changed by `change`, until one ends.
Task<void> carry(SocketStream* from, SocketStream* to, std::function<std::string(std::string)> change) {
    while (true) {
        const std::string bytes = co_await from->read();
        if (bytes.empty()) {
            to->close_output();
            co_return;
        }
        to->write(change(bytes));
    }
}

Task<void> carry_by_bytes(SocketStream* from, SocketStream* to) {
    while (true) {
        const std::string bytes = co_await from->read();
        if (bytes.empty()) {
            to->close_output();
            co_return;
        }
        for (const char byte : bytes) {
            to->write(std::string(1, byte));
            co_await to->drained(0);
        }
    }
}

Task<void> keep_handshake(Sockets ends, Setup setup, Streams* streams) {
    *streams = co_await handshake_between(std::move(ends), std::move(setup));
    if (streams->server && streams->client) {
        streams->server->write("x");
        streams->client->write("x");
    }
    streams->server.reset();
    streams->client.reset();
}

Task<void> byte_by_byte(Loop* loop) {
    CertificateAuthority authority("cellgate test");
    Sockets left = co_await connected_sockets(loop);
    Sockets right = co_await connected_sockets(loop);
    TaskScope scope;
    scope.spawn(carry_by_bytes(left.second.get(), right.first.get()));
    scope.spawn(carry_by_bytes(right.first.get(), left.second.get()));
    Sockets ends(std::move(left.first), std::move(right.second));
    Streams streams = co_await handshake_between(std::move(ends), setup_for(authority, "a.example:443"));
    CHECK(streams.server);
    CHECK(streams.client);
    streams.server.reset();
    streams.client.reset();
    co_await scope.join();
}

// Each round breaks one byte, or ends one direction; a round that ends does so without a crash.
Task<void> break_handshakes(Loop* loop, int rounds, bool breaking, int* failed) {
    CertificateAuthority authority("cellgate test");
    const Setup setup = setup_for(authority, "a.example:443");
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
        Sockets left = co_await connected_sockets(loop);
        Sockets right = co_await connected_sockets(loop);
        const std::size_t place = random() % (round % 2 == 0 ? 300 : 700); // of what goes to the server, the client
        const bool cut = random() % 2 == 0;
        const auto bit = static_cast<char>(1U << (random() % 8));
        std::size_t seen = 0;
        SocketStream* target = nullptr;
        const auto change = [&](std::string bytes) {
            if (breaking && place >= seen && place < seen + bytes.size()) {
                if (cut) {
                    bytes.resize(place - seen);
                    target->write(std::exchange(bytes, {}));
                    target->close_output();
                } else {
                    bytes[place - seen] = static_cast<char>(bytes[place - seen] ^ bit);
                }
            }
            seen += bytes.size();
            return bytes;
        };
        const auto keep = [](std::string bytes) { return bytes; };
        const bool to_server = round % 2 == 0;
        target = to_server ? left.second.get() : right.first.get();
        TaskScope scope;
        Streams streams;
        if (to_server) {
            scope.spawn(carry(right.first.get(), left.second.get(), change));
            scope.spawn(carry(left.second.get(), right.first.get(), keep));
        } else {
            scope.spawn(carry(right.first.get(), left.second.get(), keep));
            scope.spawn(carry(left.second.get(), right.first.get(), change));
        }
        Sockets ends(std::move(left.first), std::move(right.second));
        scope.spawn(keep_handshake(std::move(ends), setup, &streams));
        co_await scope.join();
        *failed += streams.server_failure || streams.client_failure ? 1 : 0;
    }
}

Task<void> accept_garbage(Loop* loop, std::string garbage) {
    CertificateAuthority authority("cellgate test");
    Sockets sockets = co_await connected_sockets(loop);
    std::shared_ptr<const Identity> identity = authority.identity_for(*parse_host("a.example"));
    bool failed = false;
    try {
        co_await accept_tls(std::move(sockets.first), std::move(garbage), std::move(identity));
    } catch (const HandshakeFailed& error) {
        failed = true;
        CHECK_FALSE(error.distrusted);
        CHECK(error.message.starts_with("the TLS handshake with the client failed: "));
    }
    CHECK(failed);
}

Task<void> wait_to_accept(std::unique_ptr<SocketStream> below, std::shared_ptr<const Identity> identity, bool* ended) {
    std::string early("\x16\x03", 2);
    try {
        co_await accept_tls(std::move(below), std::move(early), std::move(identity));
    } catch (const Cancelled&) {
        *ended = true;
    }
}

Task<void> cancel_an_accept(Loop* loop) {
    CertificateAuthority authority("cellgate test");
    Sockets sockets = co_await connected_sockets(loop);
    TaskScope scope;
    bool ended = false;
    scope.spawn(wait_to_accept(std::move(sockets.first), authority.identity_for(*parse_host("a.example")), &ended));
    co_await loop->yield();
    CHECK_FALSE(ended);
    scope.cancel();
    co_await scope.join();
    CHECK(ended);
    const std::string end = co_await sockets.second->read();
    CHECK(end.empty()); // its stream has closed
}

Task<void> wait_to_connect(std::unique_ptr<SocketStream> below, Setup setup, bool* ended) {
    try {
        co_await connect_tls(std::move(below), setup.server, setup.roots);
    } catch (const Cancelled&) {
        *ended = true;
    }
}

Task<void> cancel_a_connect(Loop* loop) {
    CertificateAuthority authority("cellgate test");
    Sockets sockets = co_await connected_sockets(loop);
    TaskScope scope;
    bool ended = false;
    scope.spawn(wait_to_connect(std::move(sockets.second), setup_for(authority, "a.example:443"), &ended));
    const std::string hello = co_await sockets.first->read();
    CHECK_FALSE(ended);
    scope.cancel();
    co_await scope.join();
    CHECK(ended);
    const std::string end = co_await sockets.first->read();
    CHECK(end.empty());
}

} // namespace

TEST_CASE("a client and a server talk, by name and by address") {
    for (const char* endpoint : {"api.example.org:443", "192.0.2.1:8443", "[2001:db8::1]:443"}) {
        Loop loop;
        loop.run(talk(&loop, endpoint));
    }
}

TEST_CASE("a server of another name, of an unknown authority, or of the past is refused") {
    CertificateAuthority authority("cellgate test");
    Loop loop;
    Setup other_name = setup_for(authority, "api.example.org:443");
    other_name.server.host.name = "www.example.org";
    loop.run(
        refuse(&loop, other_name, "the certificate of www.example.org:443 is not trusted: hostname mismatch", true));
    Setup other_address = setup_for(authority, "192.0.2.1:443");
    other_address.server.host.name = "192.0.2.2";
    loop.run(
        refuse(&loop, other_address, "the certificate of 192.0.2.2:443 is not trusted: IP address mismatch", true));
    CertificateAuthority another("cellgate test 2");
    Setup unknown = setup_for(authority, "api.example.org:443");
    unknown.roots = std::make_shared<TrustedRoots>(another.certificate_pem());
    loop.run(refuse(&loop, unknown,
                    "the certificate of api.example.org:443 is not trusted: unable to get local issuer certificate",
                    true));
    CertificateAuthority old("old", [] { return std::time(nullptr) - 20 * 86400; });
    loop.run(refuse(&loop, setup_for(old, "api.example.org:443"),
                    "the certificate of api.example.org:443 is not trusted: certificate has expired", true));
}

TEST_CASE("the system's roots are those of SSL_CERT_FILE") {
    const TempFolder folder;
    CertificateAuthority authority("cellgate test");
    std::ofstream(folder.path / "roots") << authority.certificate_pem();
    ::setenv("SSL_CERT_FILE", (folder.path / "roots").c_str(), 1);
    Setup setup = setup_for(authority, "api.example.org:443");
    setup.roots = TrustedRoots::of_system();
    ::unsetenv("SSL_CERT_FILE");
    CHECK(TrustedRoots::of_system() == setup.roots);
    Loop loop;
    loop.run(connect_once(&loop, setup));
    CertificateAuthority another("cellgate test 2");
    setup.identity = another.identity_for(setup.server.host);
    loop.run(refuse(&loop, setup,
                    "the certificate of api.example.org:443 is not trusted: unable to get local issuer certificate",
                    true));
}

TEST_CASE("an end without close_notify is told apart") {
    Loop loop;
    loop.run(truncate(&loop));
}

TEST_CASE("16 MiB go both ways at once to slow readers, and little is kept") {
    Loop loop;
    loop.run(both_ways(&loop));
}

TEST_CASE("a handshake may come byte by byte") {
    Loop loop;
    loop.run(byte_by_byte(&loop));
}

TEST_CASE("a broken handshake ends") {
    Loop loop;
    int failed = 0;
    loop.run(break_handshakes(&loop, 4, false, &failed));
    CHECK(failed == 0);
    loop.run(break_handshakes(&loop, 150, true, &failed));
    CHECK(failed > 140); // a version in a record's head is not looked at
}

TEST_CASE("garbage in place of a hello is refused") {
    Loop loop;
    loop.run(accept_garbage(&loop, "GET / HTTP/1.1\r\n\r\n"));
    loop.run(accept_garbage(&loop, std::string(5000, '\xff')));
}

TEST_CASE("a handshake that is cancelled leaves nothing") {
    Loop loop;
    loop.run(cancel_an_accept(&loop));
    loop.run(cancel_a_connect(&loop));
}

TEST_CASE("a host's certificate is kept, for the last 256 hosts and until it is old") {
    std::time_t now = std::time(nullptr);
    CertificateAuthority authority("cellgate test", [&now] { return now; });
    const auto first = authority.identity_for(*parse_host("first.example"));
    CHECK(authority.identity_for(*parse_host("first.example")) == first);
    now += 8L * 86400;
    const auto renewed = authority.identity_for(*parse_host("first.example"));
    CHECK(renewed != first);
    for (int i = 0; i < 255; ++i) {
        authority.identity_for(*parse_host("h" + std::to_string(i) + ".example"));
    }
    CHECK(authority.identity_for(*parse_host("first.example")) == renewed);
    authority.identity_for(*parse_host("last.example"));
    CHECK(authority.identity_for(*parse_host("first.example")) != renewed);
}
