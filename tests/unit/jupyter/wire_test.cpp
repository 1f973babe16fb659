#include "base/hash.hpp"
#include "base/json.hpp"
#include "jupyter/wire.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;

namespace {

const std::string key = "a key of the test";

async::ZmqMessage message(const std::string& content, const std::string& parent = R"({"msg_id":"cell-1"})",
                          const async::ZmqMessage& identities = {}) {
    static int count = 0;
    const Header header{"m" + std::to_string(++count), "stream"};
    return encode_message(key, header, parent, content, "session", identities);
}

// A message with exactly these frames, signed: what a kernel that holds the key can make.
async::ZmqMessage forged(const std::string& header, const std::string& parent, const std::string& content) {
    return {"<IDS|MSG>", hmac_sha256(key, {header, parent, "{}", content}), header, parent, "{}", content};
}

std::string why_refused(async::ZmqMessage frames) {
    WireReader reader(key);
    try {
        reader.read(std::move(frames));
    } catch (const Error& error) {
        return error.message;
    }
    return {};
}

} // namespace

TEST_CASE("a message comes out as it went in") {
    WireReader reader(key);
    const WireMessage read = reader.read(message(R"({"text":"ä\n"})", R"({"msg_id":"cell-1"})", {"topic", ""}));
    CHECK(read.header.msg_type == "stream");
    CHECK(read.parent_id == "cell-1");
    CHECK(read.content == R"({"text":"ä\n"})");
    CHECK(read.problem.empty());
    const Json header = Json::parse(read.header_text);
    CHECK(header.at("session") == "session");
    CHECK(header.at("version") == "5.3");
}

TEST_CASE("a message without a parent has none") {
    WireReader reader(key);
    CHECK(reader.read(message("{}", "{}")).parent_id.empty());
}

TEST_CASE("buffers after the content are allowed") {
    WireReader reader(key);
    async::ZmqMessage frames = message("{}");
    frames.emplace_back("\xff\xfe");
    CHECK(reader.read(std::move(frames)).problem.empty());
}

TEST_CASE("a frame that changed on the way is refused, whichever it is") {
    for (std::size_t frame = 1; frame < 6; ++frame) {
        async::ZmqMessage frames = message("{}");
        CHECK(why_refused(frames).empty()); // control: unchanged, it is taken
        frames[frame] += ' ';
        CHECK(why_refused(frames) == "a message whose signature does not match");
    }
}

TEST_CASE("a signature that is empty or short does not pass") {
    for (const std::string& signature : {std::string(), std::string("0"), std::string(64, '0')}) {
        async::ZmqMessage frames = message("{}");
        frames[1] = signature;
        CHECK(why_refused(std::move(frames)) == "a message whose signature does not match");
    }
}

TEST_CASE("the same message a second time is refused") {
    WireReader reader(key);
    const async::ZmqMessage frames = message("{}");
    reader.read(frames);
    CHECK_THROWS_AS(reader.read(frames), Error);
    CHECK(reader.read(message("{}")).problem.empty()); // control: another one is taken
}

TEST_CASE("any number of frames that makes no message is refused") {
    CHECK_FALSE(why_refused({}).empty());
    CHECK_FALSE(why_refused({""}).empty());
    CHECK_FALSE(why_refused({"<IDS|MSG>"}).empty());
    async::ZmqMessage frames = message("{}");
    frames.pop_back();
    CHECK_FALSE(why_refused(frames).empty());
    frames = message("{}");
    frames.erase(frames.begin());
    CHECK_FALSE(why_refused(frames).empty());
}

TEST_CASE("a message over the limit is refused") {
    async::ZmqMessage frames = message("{}");
    frames.emplace_back(max_wire_bytes, ' ');
    CHECK(why_refused(std::move(frames)).starts_with("expected a message of at most"));
}

TEST_CASE("headers that are no headers are refused, though they are signed") {
    const std::string good = R"({"msg_id":"a","msg_type":"stream"})";
    CHECK(why_refused(forged(good, "{}", "{}")).empty());
    for (const std::string bad :
         {"", "null", "[]", "{}", R"({"msg_id":1,"msg_type":"stream"})",
          R"({"msg_id":"a","msg_type":"stream","msg_type":"status"})", "{\"msg_id\":\"\xff\"}"}) {
        CHECK_FALSE(why_refused(forged(bad, "{}", "{}")).empty());
    }
    CHECK_FALSE(why_refused(forged(good, "[]", "{}")).empty());
    CHECK_FALSE(why_refused(forged(good, R"({"msg_id":{}})", "{}")).empty());
    CHECK_FALSE(
        why_refused(forged(R"({"msg_id":")" + std::string(100000, 'x') + R"(","msg_type":"a"})", "{}", "{}")).empty());
}

TEST_CASE("content that is not one JSON object is reported and not handed on") {
    const std::string deep = R"({"a":)" + std::string(300, '[') + std::string(300, ']') + "}";
    for (const std::string& bad : {std::string("{"), std::string("{}{}"), std::string("[]"), std::string("\"a\""),
                                   std::string(R"({"a":1,"a":2})"), std::string(R"({"a":NaN})"), deep}) {
        WireReader reader(key);
        const WireMessage read = reader.read(message(bad));
        CHECK_FALSE(read.problem.empty());
        CHECK(read.content == "{}");
    }
}

TEST_CASE("broken text in content is repaired, and nothing else is changed") {
    const std::map<std::string, std::string> cases = {
        {"{\"a\":\"x\xff\x80y\"}", R"({"a":"x��y"})"},
        {R"({"a":"\ud800"})", R"({"a":"�"})"},
        {R"({"a":"\udcff\ud83d\ude00"})", R"({"a":"�\ud83d\ude00"})"},
        {R"({"a":"\ud83d\ud83d\uDE00"})", R"({"a":"�\ud83d\uDE00"})"},
        // Two backslashes are an escaped one: what follows is no escape.
        {"{\"a\":\"\\\\ud800 \xff\"}", R"({"a":"\\ud800 �"})"},
        {"{\"a\":\"\\\"\\\\\",\"b\":\"\xed\xa0\x80\"}", R"({"a":"\"\\","b":"���"})"},
    };
    for (const auto& [broken, repaired] : cases) {
        WireReader reader(key);
        const WireMessage read = reader.read(message(broken));
        CHECK(read.problem.empty());
        CHECK(read.content == repaired);
    }
}

TEST_CASE("a repair does not make a key stand twice") {
    WireReader reader(key);
    CHECK_FALSE(reader.read(message(R"({"\ud800":1,"\ud801":2})")).problem.empty());
}
