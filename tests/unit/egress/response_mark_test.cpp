#include "response_mark.hpp"

#include <doctest/doctest.h>

using namespace cellgate::egress;

namespace {

// When it comes in pieces of `size`.
std::string marked(const std::string& bytes, std::size_t size) {
    ResponseMark mark;
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        out += mark.pass(std::string_view(bytes).substr(at, size));
    }
    return out;
}

} // namespace

TEST_CASE("an answer says that the connection ends with it, in pieces of any size") {
    const std::string rest = "Content-Length: 2\r\nConnection: keep-alive\r\n\r\nHTTP/1.1 in the body\r\n";
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{10'000}}) {
        CAPTURE(size);
        CHECK(marked("HTTP/1.1 200 OK\r\n" + rest, size) == "HTTP/1.1 200 OK\r\nconnection: close\r\n" + rest);
        CHECK(marked("HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 404 No\r\n" + rest,
                     size) == "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 404 "
                              "No\r\nconnection: close\r\n" +
                                  rest);
    }
}

TEST_CASE("what is no answer passes as it is") {
    for (const std::string& bytes :
         {std::string("the answer"), std::string("\x15\x03\x03\0", 4), std::string("SSH-2.0-x\r\ny"),
          std::string(200'000, 'x'), std::string("HTTP/1.1 ") + std::string(200'000, 'x')}) {
        CHECK(marked(bytes, 1000) == bytes);
    }
}
