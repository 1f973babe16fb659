#include "base/error.hpp"
#include "elicitation_page.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cellgate;

TEST_CASE("the host of a page is what a browser would open") {
    const std::pair<const char*, const char*> pages[] = {
        {"https://pay.example/cards?state=4711", "pay.example"},
        {"HTTPS://Pay.Example", "pay.example"},
        {"http://127.0.0.1:8080/x", "127.0.0.1:8080"},
        {"https://xn--bcher-kva.example/", "xn--bcher-kva.example"},
        {"https://pay.example#@evil.example", "pay.example"},
        {"https://pay.example?next=https://a@b", "pay.example"},
    };
    for (const auto& [url, host] : pages) {
        CHECK(tools::host_of_page(url) == host);
    }
}

TEST_CASE("what is no page, or may be taken for another host's, is refused") {
    const std::string refused[] = {
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vscode://a.b/c",
        "//pay.example/",
        "https:pay.example",
        "https://pay.example@evil.example/",
        "https://evil.example\\@pay.example/",
        "https://pay.exa\tmple/",
        "https://pay.example/ x",
        "https://b\xc3\xbc"
        "cher.example/",
        "https:///x",
        "https://0x7f000001/",
        "https://pay.example:99999/",
        "https://" + std::string(9000, 'a') + ".example/",
    };
    for (const std::string& url : refused) {
        CAPTURE(url);
        CHECK_THROWS_AS(tools::host_of_page(url), Error);
    }
}
