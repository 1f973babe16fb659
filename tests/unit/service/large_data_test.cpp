#include "base/files.hpp"
#include "base/json.hpp"
#include "large_data.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::service;

namespace {

constexpr std::size_t large = max_inline_bytes + 100;

struct Case {
    TempFolder folder;
    protocol::OutputRecord record;

    explicit Case(const std::string& data, const std::string& type = "display_data") {
        record.seq = 3;
        record.output =
            RawJson::parse(R"({"output_type":")" + type + R"(","data":)" + data + R"(,"metadata":{"a": 1}})");
        move_large_data_to_files(record, stem());
    }
    std::string stem() const { return folder.path / "id.3"; }
    Json data() const { return record.output->value().at("data"); }
    std::string content(std::size_t i) const { return read_file(record.files->at(i).path).value(); }
};

std::string quoted(const std::string& text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string repeated(const std::string& unit, std::size_t at_least) {
    std::string text;
    while (text.size() < at_least) {
        text += unit;
    }
    return text;
}

} // namespace

TEST_CASE("a large picture becomes the file of its bytes, and what is small stays") {
    const std::string base64 = repeated("QUJD", large);
    for (const char* type : {"display_data", "execute_result", "update_display_data"}) {
        CAPTURE(type);
        const Case given(R"({"text/plain":"a \"p\"","image/png":")" + base64 + R"(\n","application/json":{"x":[1]}})",
                         type);
        CHECK(given.data() == Json::parse(R"({"text/plain":"a \"p\"","application/json":{"x":[1]}})"));
        CHECK(given.record.output->value().at("metadata").at("a") == 1);
        CHECK(given.record.output->value().at("output_type") == type);
        REQUIRE(given.record.files);
        REQUIRE(given.record.files->size() == 1);
        const protocol::LargeDatum& file = given.record.files->front();
        CHECK(file.mime == "image/png");
        CHECK(file.path == given.stem() + ".0");
        CHECK(file.bytes == base64.size() / 4 * 3);
        CHECK(given.content(0) == repeated("ABC", file.bytes));
        struct stat status{};
        REQUIRE(::stat(file.path.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
}

TEST_CASE("text is kept as text, lines are joined, JSON stays JSON") {
    const std::string text = repeated("é\t\"x\"\n", large);
    const std::string json = R"({"values":")" + repeated("x", large) + "\"}";
    const std::string lines = "[" + quoted(text) + "," + quoted("the end") + "]";
    const Case given(R"({"image/svg+xml":)" + quoted(text) + R"(,"text/html":)" + lines + R"(,"application/x+json":)" +
                     json + "}");
    REQUIRE(given.record.files);
    REQUIRE(given.record.files->size() == 3);
    CHECK(given.content(0) == text);
    CHECK(given.content(1) == text + "the end");
    CHECK(given.content(2) == json);
    CHECK(given.data().empty());
}

TEST_CASE("what claims to be a picture and is no base64 is kept as its text") {
    const std::string text = repeated("QUJD", large) + "!";
    const Case given(R"({"image/png":)" + quoted(text) + "}");
    REQUIRE(given.record.files);
    CHECK(given.content(0) == text);
    CHECK(given.record.files->front().bytes == text.size());
}

TEST_CASE("a MIME type that is a path names no file") {
    const std::string text = repeated("x", large);
    const Case given(R"({"../../escaped":)" + quoted(text) + R"(,"/tmp/escaped":)" + quoted(text) + "}");
    REQUIRE(given.record.files);
    CHECK(given.record.files->at(0).path == given.stem() + ".0");
    CHECK(given.record.files->at(1).path == given.stem() + ".1");
    CHECK(given.record.files->at(0).mime == "../../escaped");
    const std::filesystem::directory_iterator written(given.folder.path);
    CHECK(std::distance(begin(written), end(written)) == 2);
}

TEST_CASE("a file is written once, and named again for who asks again") {
    const Case given(R"({"text/plain":)" + quoted(repeated("x", large)) + "}");
    REQUIRE(given.record.files);
    std::ofstream(given.record.files->front().path, std::ios::trunc) << "kept";
    protocol::OutputRecord again;
    again.output =
        RawJson::parse(R"({"output_type":"display_data","data":{"text/plain":)" + quoted(repeated("y", large)) + "}}");
    move_large_data_to_files(again, given.stem());
    REQUIRE(again.files);
    CHECK(read_file(again.files->front().path) == "kept");
    CHECK(again.files->front().bytes == 4);
}

TEST_CASE("what cannot be written stays in the message") {
    protocol::OutputRecord record;
    const RawJson output =
        RawJson::parse(R"({"output_type":"display_data","data":{"text/plain":)" + quoted(repeated("x", large)) + "}}");
    record.output = output;
    move_large_data_to_files(record, "/nonexistent/id.0");
    CHECK_FALSE(record.files);
    CHECK(record.output == output);
}

TEST_CASE("other outputs, and data of many small types, are left as they are") {
    const std::string text = quoted(repeated("x", large));
    const std::string half = quoted(repeated("x", max_inline_bytes / 2));
    const TempFolder folder;
    for (const std::string& output :
         {R"({"output_type":"stream","name":"stdout","text":)" + text + "}",
          R"({"output_type":"error","ename":"E","evalue":)" + text + R"(,"data":{"text/plain":)" + text + "}}",
          R"({"output_type":"display_data","data":)" + text + "}",
          R"({"output_type":"display_data","data":{"a/a":)" + half + R"(,"b/b":)" + half + R"(,"c/c":)" + half +
              "}}"}) {
        protocol::OutputRecord record;
        record.output = RawJson::parse(output);
        move_large_data_to_files(record, folder.path / "id.0");
        CHECK_FALSE(record.files);
        CHECK(record.output->text() == output);
    }
    CHECK(std::filesystem::is_empty(folder.path));
}
