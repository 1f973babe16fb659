// Our sides against those of other programs: OpenSSL's own, and Python's with its strict checks.
#include "temp_folder.hpp"
#include "tls_fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

using namespace cellgate;
using namespace cellgate::async;
using namespace cellgate::tls;

namespace {

struct Served {
    std::string output; // the program's
    std::string errors;
    std::string received;
    std::string application_protocol;
    std::optional<HandshakeFailed> failure;
};

Task<void> serve(TcpListener* listener, std::shared_ptr<const Identity> identity, Served* served) {
    std::unique_ptr<SocketStream> below = co_await listener->accept();
    std::unique_ptr<TlsStream> stream;
    try {
        std::string early = co_await below->read();
        stream = co_await accept_tls(std::move(below), std::move(early), std::move(identity));
    } catch (const HandshakeFailed& error) {
        served->failure = error;
        co_return;
    }
    served->application_protocol = stream->application_protocol();
    served->received = co_await stream->read();
    stream->write("pong\n");
    stream->close();
}

Task<void> serve_program(Loop* loop, CertificateAuthority* authority, std::string host, std::string script,
                         Served* served) {
    TcpListener listener(*loop, 0);
    TaskScope scope;
    scope.spawn(serve(&listener, authority->identity_for(*parse_host(host)), served));
    const std::unique_ptr<Process> process = start_process(*loop, program(script, listener.port()));
    process->close_stdin();
    while (true) {
        const std::string bytes = co_await process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        served->output += bytes;
    }
    co_await process->exited();
    served->errors = process->stderr_tail();
    co_await scope.join();
}

Served run_client(CertificateAuthority& authority, const std::string& host, const std::string& script) {
    Served served;
    Loop loop;
    loop.run(serve_program(&loop, &authority, host, script, &served));
    INFO(served.errors);
    return served;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
}

constexpr const char* python_client = R"(
import os, socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
context.set_alpn_protocols(sys.argv[3].split(","))
with context.wrap_socket(socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))), server_hostname=sys.argv[2]) as s:
    s.sendall(b"ping")
    print(s.version(), s.selected_alpn_protocol(), s.recv(100), s.recv(100))
)";

struct ServerProgram {
    std::unique_ptr<Process> process;
    Endpoint endpoint;
    std::string certificate;
};

Task<ServerProgram> start_server(Loop* loop, const std::filesystem::path* folder, std::string options) {
    const std::string script = fmt::format(
        "cd {} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -out cert "
        "-subj /CN=a.example -addext subjectAltName=DNS:a.example 2>req.log && exec openssl s_server "
        "-accept 127.0.0.1:0 -key key -cert cert {}",
        folder->string(), options);
    ServerProgram server;
    server.process = start_process(*loop, program(script, 0));
    std::string output;
    while (output.find("ACCEPT 127.0.0.1:") == std::string::npos || !output.ends_with('\n')) {
        const std::string more = co_await server.process->stdio().read();
        INFO(server.process->stderr_tail());
        REQUIRE(!more.empty());
        output += more;
    }
    const std::size_t at = output.find("ACCEPT 127.0.0.1:") + 17;
    server.endpoint = *parse_endpoint("127.0.0.1:" + output.substr(at, output.find('\n', at) - at), std::nullopt);
    std::ifstream file(*folder / "cert");
    server.certificate = {std::istreambuf_iterator<char>(file), {}};
    co_return server;
}

// What the server says to a line; resumed() of the second connection.
Task<void> ask_twice(Loop* loop, const std::filesystem::path* folder, std::string options, bool* resumed) {
    const ServerProgram server = co_await start_server(loop, folder, options + " -rev");
    const auto roots = std::make_shared<TrustedRoots>(server.certificate);
    const Endpoint named{Host{"a.example", false}, server.endpoint.port};
    for (int i = 0; i < 2; ++i) {
        std::unique_ptr<SocketStream> below = co_await connect_tcp(*loop, server.endpoint);
        const std::unique_ptr<TlsStream> stream = co_await connect_tls(std::move(below), named, roots);
        stream->write("ping\n");
        const std::string answer = co_await read_at_least(stream.get(), 5);
        CHECK(answer == "gnip\n");
        *resumed = stream->resumed();
    }
    server.process->kill();
    co_await server.process->exited();
}

Task<void> be_asked_for_a_certificate(Loop* loop, const std::filesystem::path* folder, std::string options,
                                      std::string* failure) {
    const ServerProgram server = co_await start_server(loop, folder, options + " -rev");
    const auto roots = std::make_shared<TrustedRoots>(server.certificate);
    const Endpoint named{Host{"a.example", false}, server.endpoint.port};
    std::unique_ptr<SocketStream> below = co_await connect_tcp(*loop, server.endpoint);
    try {
        const std::unique_ptr<TlsStream> stream = co_await connect_tls(std::move(below), named, roots);
        CHECK(stream->wanted_certificate());
        stream->write("ping\n");
        *failure = co_await stream->read();
    } catch (const Error& error) {
        *failure = error.message;
    }
    server.process->kill();
    co_await server.process->exited();
}

} // namespace

TEST_CASE("Python's strict client takes a certificate for a name, an address and a long name, and no other") {
    const TempFolder folder;
    CertificateAuthority authority("cellgate test");
    write_file(folder.path / "ca.pem", authority.certificate_pem());
    write_file(folder.path / "client.py", python_client);
    const auto client = [&](const std::string& host, const std::string& protocols) {
        return fmt::format("python3 {0}/client.py {0}/ca.pem {1} {2}", folder.path.string(), host, protocols);
    };
    const std::string label(60, 'a');
    for (const std::string& host : {std::string("a.example"), std::string("192.0.2.1"), std::string("2001:db8::1"),
                                    label + "." + label + "." + label + ".example"}) {
        const Served served = run_client(authority, host, client(host, "h2,http/1.1"));
        CHECK_MESSAGE(served.output == "TLSv1.3 http/1.1 b'pong\\n' b''\n", served.errors);
        CHECK(served.received == "ping");
        CHECK(served.application_protocol == "http/1.1");
    }
    const Served h2_only = run_client(authority, "a.example", client("a.example", "h2"));
    CHECK_MESSAGE(h2_only.output == "TLSv1.3 None b'pong\\n' b''\n", h2_only.errors);
    CHECK(h2_only.application_protocol.empty());
    const Served other = run_client(authority, "a.example", client("b.example", "h2"));
    CHECK(other.output.empty());
    CHECK(other.failure);
}

TEST_CASE("a client that does not trust the authority is told apart") {
    const TempFolder folder;
    CertificateAuthority authority("cellgate test");
    CertificateAuthority another("cellgate test 2");
    write_file(folder.path / "ca.pem", another.certificate_pem());
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        const Served served =
            run_client(authority, "a.example",
                       fmt::format("echo ping | openssl s_client -connect 127.0.0.1:$PORT -CAfile {}/ca.pem "
                                   "-verify_return_error -servername a.example -quiet {}",
                                   folder.path.string(), version));
        REQUIRE(served.failure);
        CHECK(served.failure->distrusted);
        CHECK(served.failure->message.starts_with("the client does not trust the certificate: "));
    }
}

TEST_CASE("OpenSSL's client talks with TLS 1.2 and 1.3, and no older one") {
    const TempFolder folder;
    CertificateAuthority authority("cellgate test");
    write_file(folder.path / "ca.pem", authority.certificate_pem());
    const auto client = [&](const char* version) {
        return fmt::format("echo ping | openssl s_client -connect 127.0.0.1:$PORT -CAfile {}/ca.pem -x509_strict "
                           "-verify_return_error -verify_hostname a.example -servername a.example -quiet {}",
                           folder.path.string(), version);
    };
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        const Served served = run_client(authority, "a.example", client(version));
        CHECK_MESSAGE(served.output == "pong\n", served.errors);
        CHECK(served.received == "ping\n");
    }
    const Served old = run_client(authority, "a.example", client("-tls1_1 -cipher ALL:@SECLEVEL=0"));
    CHECK(old.output.empty());
    REQUIRE(old.failure);
    CHECK_FALSE(old.failure->distrusted);
}

TEST_CASE("OpenSSL's server answers, and the second connection resumes the first") {
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        const TempFolder folder;
        bool resumed = false;
        Loop loop;
        loop.run(ask_twice(&loop, &folder.path, version, &resumed));
        CHECK(resumed);
        loop.run(
            ask_twice(&loop, &folder.path, std::string(version) + " -no_ticket -no_cache -num_tickets 0", &resumed));
        CHECK_FALSE(resumed);
    }
}

TEST_CASE("a server that wants a certificate is remembered, and named in the error") {
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        const TempFolder folder;
        std::string answer;
        Loop loop;
        loop.run(be_asked_for_a_certificate(&loop, &folder.path, std::string(version) + " -Verify 1", &answer));
        CHECK_MESSAGE(answer.ends_with("; it had asked for a certificate of the client, and there is none"), answer);
        loop.run(be_asked_for_a_certificate(&loop, &folder.path, std::string(version) + " -verify 1", &answer));
        CHECK(answer == "gnip\n");
    }
}
