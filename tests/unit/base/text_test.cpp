#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/percent_encoding.hpp"
#include "base/terminal_colours.hpp"
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace cellgate;
using namespace std::string_literals;

TEST_CASE("plain text of any script is shown as it is") {
    for (const std::string& text :
         {"plain ASCII ~!@#$%^&*()"s, "caf\xc3\xa9 na\xc3\xafve"s, "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"s,
          "\xe6\xbc\xa2\xe5\xad\x97"s, "\xf0\x9f\x98\x80"s, "C:\\dir\\file"s, ""s}) {
        CHECK(escape_unprintable(text) == text);
    }
}

TEST_CASE("what a terminal or an editor would act on, hide or reorder is escaped") {
    struct Row {
        std::string text;
        std::string shown;
    };
    for (const Row& row : {
             Row{"\x1b[31mred\x07", "\\x1b[31mred\\x07"},
             Row{"a\0b"s, "a\\x00b"},
             Row{"a\rb", "a\\x0db"},
             Row{"a\x08"
                 "b\x7f",
                 "a\\x08b\\x7f"},
             Row{"\xc2\x85\xc2\x9b"
                 "2J",
                 "\\u{85}\\u{9b}2J"},                                 // C1: next line, and CSI in one character
             Row{"x\xe2\x80\xaey", "x\\u{202e}y"},                    // right-to-left override
             Row{"\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}"}, // isolates
             Row{"\xd8\x9c\xe2\x80\x8e", "\\u{61c}\\u{200e}"},        // marks
             Row{"a\xe2\x80\x8b"
                 "b\xe2\x81\xa0"
                 "c\xef\xbb\xbf",
                 "a\\u{200b}b\\u{2060}c\\u{feff}"}, // zero width
             Row{"\xc2\xad", "\\u{ad}"},
             Row{"\xe3\x85\xa4\xe2\xa0\x80", "\\u{3164}\\u{2800}"}, // letters that look like nothing
             Row{"\xc2\xa0\xe3\x80\x80", "\\u{a0}\\u{3000}"},       // spaces that are none
             Row{"\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}"},
             Row{"\xf3\xa0\x81\xa1", "\\u{e0061}"},                       // a tag letter
             Row{"\xf3\xa0\x84\x80\xef\xb8\x8f", "\\u{e0100}\\u{fe0f}"},  // variation selectors
             Row{"\xee\x80\x80\xf4\x8f\xbf\xbf", "\\u{e000}\\u{10ffff}"}, // private use
             Row{"\xff", "\\xff"},
             Row{"\xc3", "\\xc3"},
             Row{"\xc0\xaf", "\\xc0\\xaf"},
             Row{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
             Row{"\xe2\x82z", "\\xe2\\x82z"},
         }) {
        CAPTURE(row.shown);
        CHECK(escape_unprintable(row.text) == row.shown);
        CHECK(escape_unprintable(row.text, true) == row.shown);
    }
}

TEST_CASE("lines and tabs stay where they are wanted, and nowhere else") {
    CHECK(escape_unprintable("a\n\tb\r\n", true) == "a\n\tb\\x0d\n");
    CHECK(escape_unprintable("a\n\tb") == "a\\n\\tb");
}

TEST_CASE("nothing is cut, and what is shown satisfies the contract") {
    std::string text;
    for (char32_t c = 0; c < 0x10000; ++c) {
        if (c < 0xd800 || c > 0xdfff) {
            append_utf8(text, c);
        }
    }
    const std::string shown = escape_unprintable(text);
    CHECK(is_utf8(shown));
    // VisibleLine of schemas/protocol.json.
    for (std::string_view rest = shown; !rest.empty();) {
        const DecodedCodePoint c = decode_utf8(rest);
        const bool refused = c.code_point < 0x20 || (c.code_point >= 0x7f && c.code_point <= 0x9f) ||
                             c.code_point == 0xad || c.code_point == 0x61c ||
                             (c.code_point >= 0x200b && c.code_point <= 0x200f) ||
                             (c.code_point >= 0x2028 && c.code_point <= 0x202e) ||
                             (c.code_point >= 0x2060 && c.code_point <= 0x206f) || c.code_point == 0xfeff;
        REQUIRE_FALSE(refused);
        rest.remove_prefix(c.length);
    }
    CHECK(shown.size() > text.size());
    CHECK(escape_unprintable(shown) == shown);
}

TEST_CASE("every code point survives the way to UTF-8 and back") {
    int valid = 0;
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
        if (c >= 0xd800 && c <= 0xdfff) {
            continue;
        }
        std::string bytes;
        append_utf8(bytes, c);
        const DecodedCodePoint back = decode_utf8(bytes);
        valid += back.valid && back.code_point == c && back.length == bytes.size() && is_utf8(bytes) ? 1 : 0;
    }
    CHECK(valid == 0x110000 - 0x800);
}

TEST_CASE("broken UTF-8 is one bad byte at a time") {
    for (const std::string& text :
         {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc3"s, "\xc3("s, "\xe0\x9f\xbf"s, "\xe2\x82"s, "\xed\xa0\x80"s,
          "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s}) {
        CAPTURE(to_hex(text));
        CHECK_FALSE(is_utf8(text));
        CHECK_FALSE(decode_utf8(text).valid);
        CHECK(decode_utf8(text).length == 1);
    }
    CHECK(is_utf8(""));
}

TEST_CASE("bytes are written in hexadecimal") {
    CHECK(to_hex("\x00\x0f\xf0\xff"s) == "000ff0ff");
    CHECK(to_hex("") == "");
}

TEST_CASE("times are RFC 3339 in UTC with milliseconds") {
    using namespace std::chrono;
    CHECK(to_rfc3339(system_clock::time_point()) == "1970-01-01T00:00:00.000Z");
    CHECK(to_rfc3339(system_clock::time_point(milliseconds(1767225599007))) == "2025-12-31T23:59:59.007Z");
    CHECK(to_rfc3339(system_clock::time_point(seconds(4107542400))) == "2100-03-01T00:00:00.000Z");
}

TEST_CASE("a time in UTC is read back, to the millisecond") {
    using namespace std::chrono;
    const system_clock::time_point time(milliseconds(1767225599007));
    CHECK(parse_rfc3339(to_rfc3339(time)) == time);
    CHECK(parse_rfc3339("2025-12-31T23:59:59.0079999Z") == time);
    CHECK(parse_rfc3339("2025-12-31T23:59:59Z") == system_clock::time_point(milliseconds(1767225599000)));
    for (const char* text :
         {"", "2025-12-31", "2025-12-31T23:59:59", "2025-12-31T23:59:59+01:00", "2025-12-31 23:59:59Z",
          "2025-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-12-31T24:00:00Z", "2025-12-31T23:59:59.Z",
          "2025-12-31T23:59:59.1234567890Z", "2025-12-31T23:59:59,5Z", "2025-1a-31T23:59:59Z", "2262-01-01T00:00:00Z",
          "9999-12-31T23:59:59Z"}) {
        CAPTURE(text);
        CHECK(!parse_rfc3339(text));
    }
}

TEST_CASE("SHA-256 gives the digests of FIPS 180") {
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC-SHA-256 gives the digests of RFC 4231, in one part or in many") {
    const std::string expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    CHECK(hmac_sha256("Jefe", {"what do ya want for nothing?"}) == expected);
    CHECK(hmac_sha256("Jefe", {"what do ya ", "", "want for nothing", "?"}) == expected);
    CHECK(hmac_sha256(std::string(20, '\x0b'), {"Hi There"}) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hmac_sha256(std::string(131, '\xaa'), {"Test Using Larger Than Block-Size Key - Hash Key First"}) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    CHECK(hmac_sha256("", {}) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST_CASE("signatures are equal only when all of them is") {
    CHECK(equal_constant_time("", ""));
    CHECK(equal_constant_time("abc", "abc"));
    CHECK_FALSE(equal_constant_time("abc", "abd"));
    CHECK_FALSE(equal_constant_time("abc", "ab"));
    CHECK_FALSE(equal_constant_time("", "a"));
}

TEST_CASE("a name that could be a path, an option or a hidden file is refused") {
    for (const std::string& name : {"a"s, "A_b-c.9"s, "_"s, "9"s, std::string(64, 'x'), "a..b"s}) {
        CAPTURE(name);
        CHECK_NOTHROW(require_identifier(name, "session id"));
    }
    for (const std::string& name : {""s, "."s, ".."s, ".a"s, "-a"s, "a/b"s, "../a"s, "a b"s, "a\n"s, "a\0b"s,
                                    "\xc3\xa9"s, "a\\b"s, "a:b"s, "~"s, "*"s, std::string(65, 'x')}) {
        CAPTURE(name);
        CHECK_THROWS_AS(require_identifier(name, "session id"), Error);
    }
    try {
        require_identifier("\x1b[2J/", "session id");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::invalid_params);
        CHECK(error.message.find("session id") != std::string::npos);
        CHECK(error.message.find(R"("\x1b[2J/")") != std::string::npos);
    }
}

TEST_CASE("random ids are names and do not repeat") {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::string id = random_id();
        CHECK(id.size() == 32);
        CHECK_NOTHROW(require_identifier(id, "id"));
        seen.insert(id);
    }
    CHECK(seen.size() == 1000);
}

TEST_CASE("base64 gives the bytes, and nothing for what is not exactly base64") {
    CHECK(decode_base64("") == "");
    CHECK(decode_base64("QQ==") == "A");
    CHECK(decode_base64("QUI=") == "AB");
    CHECK(decode_base64("QUJD") == "ABC");
    CHECK(decode_base64("AP+/\n/w==\r\n") == std::string("\x00\xff\xbf\xff", 4));
    std::string all;
    for (int i = 0; i < 256; ++i) {
        all += static_cast<char>(i);
    }
    CHECK(
        decode_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZH"
                      "SElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6P"
                      "kJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX"
                      "2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==") == all);
    for (const char* wrong : {"Q", "QQ", "QQ=", "QUJDQ", "=", "====", "Q===", "QQ=A", "QQ==QUJD",
                              "QQ===", "QUI==", "QU-_", "QUJ\xc3", "QR==", "QUJ=", "data:QUJD"}) {
        CAPTURE(wrong);
        CHECK_FALSE(decode_base64(wrong));
    }
}

TEST_CASE("URLs are encoded and read, and what is no code stays") {
    CHECK(percent_encode("aZ0-._~/ \xc3\xa9%+") == "aZ0-._~%2F%20%C3%A9%25%2B");
    CHECK(percent_encode("/a b", "/") == "/a%20b");
    CHECK(percent_decode("%2f%2F%c3%A9+%") == "//\xc3\xa9+%");
    CHECK(percent_decode("%4%zz%-1%4g%") == "%4%zz%-1%4g%");
    CHECK(form_decode("a+b%2Bc") == "a b+c");
}

TEST_CASE("a path as a URI keeps to its characters") {
    CHECK(file_uri("/home/ada/a b#c%.py") == "file:///home/ada/a%20b%23c%25.py");
    CHECK(file_uri("/\xc3\xa9") == "file:///%C3%A9");
    CHECK(file_uri("//x/y") == "file:///x/y");
    CHECK(file_uri("///") == "file:///");
    CHECK(file_uri("/") == "file:///");
}

TEST_CASE("letters of ASCII are put in lower case, and no others") {
    CHECK(lower("Content-TYPE [@`{] 09") == "content-type [@`{] 09");
    CHECK(lower("\xc3\x89\xc0Z"s) == "\xc3\x89\xc0z");
    CHECK(lower("").empty());
}

TEST_CASE("blanks are trimmed at the ends alone") {
    CHECK(trim("\t a b \t") == "a b");
    CHECK(trim(" \n a\r\n") == "\n a\r\n");
    CHECK(trim(" \n a\r\n", " \r\n") == "a");
    CHECK(trim(" \t ").empty());
    CHECK(trim("").empty());
}

TEST_CASE("a text has one part more than separators") {
    CHECK(split("a,b,,c", ',') == std::vector<std::string_view>{"a", "b", "", "c"});
    CHECK(split(",", ',') == std::vector<std::string_view>{"", ""});
    CHECK(split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("characters are counted, not bytes") {
    CHECK(count_characters("") == 0);
    CHECK(count_characters("a\u00e9\u6f22\U0001f600") == 4);
}

TEST_CASE("a text is cut before the character that does not fit") {
    const std::string text = "a\u00e9\u6f22\U0001f600"; // of 1, 2, 3 and 4 bytes
    const std::vector<std::size_t> ends = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (std::size_t max_bytes = 0; max_bytes < ends.size(); ++max_bytes) {
        CAPTURE(max_bytes);
        CHECK(cut_at_character(text, max_bytes) == std::string_view(text).substr(0, ends[max_bytes]));
    }
    // What is no UTF-8 is not lost.
    CHECK(cut_at_character(std::string(20, '\x80'), 10).size() == 10);
}

TEST_CASE("colours are left out, and no text with them") {
    CHECK(without_colours("\x1b[0;31mred\x1b[0m plain") == "red plain");
    CHECK(without_colours("\x1b[Kcome \x1b[1m\x1b[2Kin") == "come in");
    CHECK(without_colours("a\x1b[").size() == 1);
    CHECK(without_colours("a\x1b[0;31").size() == 1);
    CHECK(without_colours("").empty());
}
