// Requests of hostile clients: deceptive hosts, ambiguous requests, another host within a tunnel.

#include "hello.hpp"
#include "proxy_fixture.hpp"

using namespace egress_test;

TEST_CASE("deceptive spellings are no hosts") {
    Fixture fixture;
    fixture.rule(Effect::allow, "*.example.org");
    std::vector<std::string> answers;
    fixture.run([&]() -> Task<void> {
        for (const std::string& target :
             {std::string("evil.example\0.example.org:443", 29), std::string("evil.example%00.example.org:443"),
              std::string("user@www.example.org:443"), std::string("evil.example\r\nX: .example.org:443"),
              std::string("::1%x.example.org:443"), std::string("0x7f000001:443"), std::string("2130706433:443"),
              std::string("127.1:443"), std::string("www.example.org"), std::string("www.example.org:99999"),
              std::string("/:443"), std::string(":443")}) {
            answers.push_back(co_await fixture.say("CONNECT " + target + " HTTP/1.1\r\n\r\n"));
        }
    });
    for (const std::string& answer : answers) {
        CHECK(is_refused(answer, "400"));
    }
    CHECK(answers.size() == 12);
    CHECK(fixture.user->requested.empty());
    CHECK(fixture.network.looked_up.empty());
}

TEST_CASE("ambiguous requests are refused") {
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    std::vector<std::string> answers;
    const std::string url = "http://example.org/";
    fixture.run([&]() -> Task<void> {
        for (const std::string& text :
             {"GET " + url + " HTTP/1.1\r\nHost: evil.example\r\n\r\n",
              "GET " + url + " HTTP/1.1\r\nHost: example.org\r\nHost: evil.example\r\n\r\n",
              "GET " + url + " HTTP/1.1\r\n\r\n", std::string("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET ftp://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET http://user@example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              std::string("GET http://evil.example#@example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n"),
              "POST " + url +
                  " HTTP/1.1\r\nHost: example.org\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
              std::string("CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n"),
              std::string("CONNECT example.org:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              "GET " + url + " HTTP/1.1\r\nX: " + std::string(70'000, 'x')}) {
            answers.push_back(co_await fixture.say(text));
        }
    });
    CHECK(answers.size() == 11);
    for (const std::string& answer : answers) {
        CAPTURE(answer.substr(0, 200));
        const bool refused = is_refused(answer, "400") || is_refused(answer, "403") || is_refused(answer, "431");
        CHECK(refused);
    }
    CHECK(fixture.received.empty());
}

TEST_CASE("bytes behind a request are not passed on") {
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    const std::string second = get("http://evil.example/", "evil.example");
    CHECK(fixture.said(get("http://example.org/", "example.org") + second) == "the answer");
    CHECK(fixture.received.at(0).find("evil.example") == std::string::npos);
    Fixture with_body;
    with_body.rule(Effect::allow, "example.org");
    with_body.awaited = "12345";
    CHECK(with_body.said("POST http://example.org/ HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\n\r\n12345" +
                         second) == "the answer");
    CHECK(with_body.received.at(0).ends_with("\r\n\r\n12345"));
}

TEST_CASE("a tunnel is for the host that it was asked for") {
    const std::string alert{"\x15\x03\x03\x00\x02\x02\x31", 7};
    Fixture fixture;
    fixture.rule(Effect::allow, "example.org");
    CHECK(fixture.said(connect_to("example.org:443") + client_hello("evil.example")) == established + alert);
    CHECK((fixture.received.empty() || fixture.received[0].empty()));
    Fixture plain;
    plain.rule(Effect::allow, "example.org");
    const std::string answer = plain.said(connect_to("example.org:80") + get("/", "evil.example"));
    CHECK(answer.starts_with(established));
    CHECK(is_refused(answer.substr(established.size()), "403"));
    CHECK((plain.received.empty() || plain.received[0].empty()));
}
