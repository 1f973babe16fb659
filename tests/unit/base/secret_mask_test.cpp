#include "base/encoding.hpp"
#include "base/secret_mask.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace cellgate;

namespace {

using Values = std::vector<MaskedValue>;

std::shared_ptr<const SecretMask> mask_of(const Values& values) {
    return std::make_shared<const SecretMask>(values);
}

// In chunks of these sizes, and the rest.
std::string masked(const std::shared_ptr<const SecretMask>& mask, std::string_view text,
                   const std::vector<std::size_t>& sizes = {}) {
    MaskedStream stream(mask);
    std::string out;
    for (const std::size_t size : sizes) {
        out += stream.push(std::string(text.substr(0, size)));
        text.remove_prefix(std::min(size, text.size()));
    }
    out += stream.push(std::string(text));
    return out + stream.finish();
}

// The same, by looking for each spelling at each place.
std::string masked_slowly(const Values& values, const std::string& text) {
    std::vector<std::string> names(text.size()); // of the region that covers a byte
    std::vector<std::size_t> regions(text.size(), 0);
    std::size_t region = 0;
    for (std::size_t end = 1; end <= text.size(); ++end) {
        std::size_t longest = 0;
        std::string name;
        for (const MaskedValue& each : values) {
            for (const std::string& spelling : secret_spellings(each.value)) {
                if (each.value.size() >= min_masked_bytes && spelling.size() > longest && end >= spelling.size() &&
                    text.compare(end - spelling.size(), spelling.size(), spelling) == 0) {
                    longest = spelling.size();
                    name = each.name;
                }
            }
        }
        if (longest == 0) {
            continue;
        }
        ++region;
        std::vector<std::size_t> merged;
        for (std::size_t at = end - longest; at < end; ++at) {
            if (regions[at] != 0 && (merged.empty() || merged.back() != regions[at])) {
                merged.push_back(regions[at]);
            }
        }
        std::reverse(merged.begin(), merged.end());
        for (const std::size_t old : merged) {
            const std::string before =
                names[static_cast<std::size_t>(std::find(regions.begin(), regions.end(), old) - regions.begin())];
            name = before + (before.ends_with(name) ? "" : ", " + name);
        }
        for (std::size_t at = 0; at < end; ++at) {
            if (at >= end - longest || std::find(merged.begin(), merged.end(), regions[at]) != merged.end()) {
                regions[at] = region;
                names[at] = name;
            }
        }
    }
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (regions[at] == 0) {
            out += text[at];
        } else if (at == 0 || regions[at - 1] != regions[at]) {
            out += "[secret " + names[at] + "]";
        }
    }
    return out;
}

} // namespace

TEST_CASE("a secret is found in each spelling, wherever it stands") {
    const std::string value = "s3cr3t/ \"\xc3\xa4\xf0\x9f\x98\x80\"\n+?";
    const auto mask = mask_of({{"A", value}});
    CHECK(masked(mask, "x" + value + "y") == "x[secret A]y");
    CHECK(masked(mask, to_hex(value)) == "[secret A]");
    std::string spaced;
    for (const char c : value) {
        spaced += (spaced.empty() ? "" : " ") + to_hex(std::string(1, c));
    }
    CHECK(masked(mask, spaced) == "[secret A]");
    CHECK(masked(mask, "\"s3cr3t/ \\\"\xc3\xa4\xf0\x9f\x98\x80\\\"\\n+?\"") == "\"[secret A]\"");
    CHECK(masked(mask, R"("s3cr3t/ \"\u00e4\ud83d\ude00\"\n+?")") == "\"[secret A]\"");
    CHECK(masked(mask, "k=s3cr3t%2F%20%22%C3%A4%F0%9F%98%80%22%0A%2B%3F&") == "k=[secret A]&");
    CHECK(masked(mask, "k=s3cr3t%2f+%22%c3%a4%f0%9f%98%80%22%0a%2b%3f&") == "k=[secret A]&");
    for (const char* before : {"", "x", "xy", "user:"}) {
        for (const char* after : {"", "x", "xy"}) {
            const std::string text = encode_base64(before + value + after);
            CAPTURE(text);
            const std::string found = masked(mask, text);
            CHECK(found.find("[secret A]") != std::string::npos);
            CHECK(found.size() <= std::string(before).size() * 2 + std::string(after).size() * 2 + 14);
        }
    }
    const std::string plain = "s3cr3t/, \"\xc3\xa4"; // the control: a part of it stays
    CHECK(masked(mask, plain) == plain);
}

TEST_CASE("without a secret, and with one that is too short, a stream is as it came") {
    for (const Values& values : {Values{}, Values{{"A", "short12"}}}) {
        const auto mask = mask_of(values);
        CHECK(mask->empty());
        MaskedStream stream(mask);
        CHECK(stream.push("x short12 short12") == "x short12 short12");
        CHECK(stream.held_bytes() == 0);
    }
    CHECK_FALSE(mask_of({{"A", "short123"}})->empty());
}

TEST_CASE("what may begin a secret is held back, and no byte more") {
    const auto mask = mask_of({{"A", "ababababX"}});
    MaskedStream stream(mask);
    CHECK(stream.push("xab").substr(0, 1) == "x");
    CHECK(stream.held_bytes() == 2);
    CHECK(stream.push("abab").empty());
    CHECK(stream.push("ab").empty());
    CHECK(stream.held_bytes() == 8);
    CHECK(stream.push("ab") == "ab");
    CHECK(stream.held_bytes() == 8);
    CHECK(stream.push("X") == "[secret A]");
    CHECK(stream.held_bytes() == 0);
    CHECK(stream.push("aba") == "");
    CHECK(stream.push("q") == "abaq");
    CHECK(stream.push("ab") == "");
    CHECK(stream.finish() == "ab");
}

TEST_CASE("secrets that overlap are one, with both names, and what is between others stays") {
    const auto mask = mask_of({{"A", "abcdefgh"}, {"B", "efghijkl"}, {"LONG", "--abcdefgh..efghijkl--end"}});
    CHECK(masked(mask, "abcdefghijkl") == "[secret A, B]");
    CHECK(masked(mask, "abcdefghefghijkl") == "[secret A][secret B]");
    CHECK(masked(mask, "--abcdefgh..efghijkl--no") == "--[secret A]..[secret B]--no");
    CHECK(masked(mask, "--abcdefgh..efghijkl--end") == "[secret A, B, LONG]");
    CHECK(masked(mask_of({{"A", "aaaaaaaa"}}), "aaaaaaaaaaa") == "[secret A]");
}

TEST_CASE("what comes out is what came in but for the secrets, however it is split") {
    std::mt19937 random(20260105); // NOLINT(cert-msc51-cpp): each run the same
    const auto below = [&](std::size_t most) { return random() % most; };
    for (int round = 0; round < 300; ++round) {
        const std::string letters = "ab%\"";
        const auto text_of = [&](std::size_t size) {
            std::string text;
            while (text.size() < size) {
                text += letters[below(letters.size())];
            }
            return text;
        };
        Values values;
        for (const char* name : {"A", "B", "C"}) {
            values.push_back({name, text_of(7 + below(4))});
        }
        std::string text;
        for (int part = 0; part < 12; ++part) {
            const std::vector<std::string> spellings = secret_spellings(values[below(3)].value);
            const std::string& spelling = spellings[below(spellings.size())];
            text += below(3) == 0 ? text_of(below(6)) : spelling.substr(0, below(4) == 0 ? below(9) : spelling.size());
        }
        const std::string expected = masked_slowly(values, text);
        const auto mask = mask_of(values);
        CAPTURE(text);
        REQUIRE(masked(mask, text) == expected);
        for (std::size_t split = 0; split <= text.size(); ++split) {
            REQUIRE(masked(mask, text, {split}) == expected);
        }
        REQUIRE(masked(mask, text, std::vector<std::size_t>(text.size(), 1)) == expected);
        std::vector<std::size_t> sizes;
        for (int i = 0; i < 20; ++i) {
            sizes.push_back(below(9));
        }
        REQUIRE(masked(mask, text, sizes) == expected);
    }
}
