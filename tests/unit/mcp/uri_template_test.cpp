#include "base/error.hpp"
#include "mcp/uri_template.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace cellgate;
using namespace cellgate::mcp;

TEST_CASE("templates are expanded as RFC 6570 has them") {
    // Of its section 3.2, with its values; those of lists are not here.
    const std::map<std::string, std::string> values = {
        {"var", "value"}, {"hello", "Hello World!"}, {"path", "/foo/bar"}, {"empty", ""},     {"x", "1024"},
        {"y", "768"},     {"half", "50%"},           {"who", "fred"},      {"dub", "me/too"}, {"v", "6"}};
    for (const auto& [text, expanded] : {
             std::pair("{var}", "value"),
             {"{hello}", "Hello%20World%21"},
             {"{half}", "50%25"},
             {"O{empty}X", "OX"},
             {"O{undef}X", "OX"},
             {"{x,y}", "1024,768"},
             {"?{x,empty}", "?1024,"},
             {"?{empty,y}", "?,768"},
             {"?{undef,y}", "?768"},
             {"{var:3}", "val"},
             {"{var:30}", "value"},
             {"{+path}/here", "/foo/bar/here"},
             {"{+hello}", "Hello%20World!"},
             {"{+half}", "50%25"},
             {"{+path:6}/here", "/foo/b/here"},
             {"{#x,hello,y}", "#1024,Hello%20World!,768"},
             {"{#path:6}here", "#/foo/bhere"},
             {"foo{#empty}", "foo#"},
             {"foo{#undef}", "foo"},
             {"X{.x,y}", "X.1024.768"},
             {"X{.empty}", "X."},
             {"{/who,dub}", "/fred/me%2Ftoo"},
             {"{/var,empty}", "/value/"},
             {"{/var:1,var}", "/v/value"},
             {"{;x,y,empty}", ";x=1024;y=768;empty"},
             {"{;v,undef,who}", ";v=6;who=fred"},
             {"{?x,y}", "?x=1024&y=768"},
             {"{?x,y,empty}", "?x=1024&y=768&empty="},
             {"{?var:3}", "?var=val"},
             {"?fixed=yes{&x}", "?fixed=yes&x=1024"},
             {"{var*}", "value"},
         }) {
        CAPTURE(text);
        CHECK(UriTemplate(text).expand(values) == expanded);
    }
    CHECK(UriTemplate("{a:2}").expand({{"a", "\u00e4\u00f6\u00fc"}}) == "%C3%A4%C3%B6");
    CHECK(UriTemplate("{+a}").expand({{"a", "%41%4g"}}) == "%41%254g");
}

TEST_CASE("the variables of a path have to be given, those of a query need not") {
    const UriTemplate template_("weather://{city}/{day}{?unit,city}");
    REQUIRE(template_.variables().size() == 3);
    CHECK(template_.variables()[0].name == "city");
    CHECK(template_.variables()[0].required);
    CHECK(template_.variables()[2].name == "unit");
    CHECK_FALSE(template_.variables()[2].required);
}

TEST_CASE("what is no template is refused") {
    for (const char* text :
         {"", "{", "a{b", "a}b", "{}", "{a,}", "{a b}", "{=a}", "{a:0}", "{a:}", "{a:x}", "{a:99999}", "{a{b}}"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(UriTemplate{text}, Error);
    }
    CHECK_THROWS_AS(UriTemplate(std::string(5000, 'a')), Error);
}
