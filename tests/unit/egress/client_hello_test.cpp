#include "base/error.hpp"
#include "client_hello.hpp"
#include "hello.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::egress;
using namespace egress_test;

TEST_CASE("the server name of a ClientHello is found") {
    CHECK(read_client_hello(client_hello("example.org")).value().server_name == "example.org");
    CHECK(read_client_hello(client_hello("example.org") + "what comes behind").value().server_name == "example.org");
    CHECK(!read_client_hello(record(hello_message(extension(43, "x")))).value().server_name);
}

TEST_CASE("a ClientHello that is not whole waits, at every byte") {
    const std::string whole = client_hello("example.org");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK(!read_client_hello(std::string_view(whole).substr(0, size)));
    }
}

TEST_CASE("a ClientHello in many records is one") {
    const std::string message = hello_message(server_name("example.org"));
    std::string records;
    for (std::size_t at = 0; at < message.size(); at += 7) {
        records += record(message.substr(at, 7));
    }
    CHECK(read_client_hello(records).value().server_name == "example.org");
}

TEST_CASE("a ClientHello that could be read in two ways is refused") {
    std::string two_extensions = record(hello_message(server_name("a.example") + server_name("b.example")));
    const std::string two_names =
        block(std::string(1, '\0') + block("a.example", 2) + std::string(1, '\0') + block("b.example", 2), 2);
    std::string cut = hello_message(server_name("example.org"));
    cut.replace(1, 3, bytes_of(cut.size() - 4 - 3, 3)); // the message ends before its extensions do
    for (const std::string& bytes :
         {two_extensions, record(hello_message(extension(0, two_names))), record(cut),
          record(std::string(1, '\2') + block("a server's", 3)), std::string("\x16\2\1\0\1\1", 6),
          std::string("\x16\3\1\0\0", 5), record("\1\0").append("\x17\3\3\0\1x", 6),
          record(std::string("\1\1\0\1", 4) + std::string(70'000 % 16'000, 'x'))}) {
        CAPTURE(bytes.size());
        CHECK_THROWS_AS(read_client_hello(bytes), Error);
    }
}
