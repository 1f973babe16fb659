#include "base/json_scan.hpp"
#include "output_reader.hpp"
#include "truncate_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;

namespace {

std::string error_content(const std::string& ename, const std::string& evalue, const std::vector<std::string>& lines) {
    std::string text = R"({"ename":)";
    append_json_string(text, ename);
    text += R"(,"evalue":)";
    append_json_string(text, evalue);
    text += R"(,"traceback":[)";
    for (const std::string& line : lines) {
        text += text.back() == '[' ? "" : ",";
        append_json_string(text, line);
    }
    return text + "]}";
}

} // namespace

TEST_CASE("text within its bound is untouched, beyond it loses its middle and says so") {
    CHECK(truncate_text("", 100) == "");
    CHECK(truncate_text(std::string(100, 'x'), 100) == std::string(100, 'x'));
    const std::string cut = truncate_text("begin" + std::string(1000, 'x') + "end", 200);
    CHECK(cut.size() <= 200);
    CHECK(cut.starts_with("beginx"));
    CHECK(cut.ends_with("xend"));
    CHECK(cut.find("bytes cut") != std::string::npos);
}

TEST_CASE("a cut never falls into a character") {
    std::string text;
    for (int i = 0; i < 500; ++i) {
        text += "\xf0\x9f\x98\x80\xc3\xa9";
    }
    for (std::size_t bound = 70; bound < 90; ++bound) {
        const std::string cut = truncate_text(text, bound);
        CHECK(cut.size() <= bound);
        CHECK_FALSE(check_json("\"" + cut + "\""));
    }
}

TEST_CASE("an error of usual size keeps its bytes, also those that another writer would escape") {
    const std::string content = R"({"ename":"A\u0042","evalue":"\/","traceback":["\u001b[0m"],"extra":1})";
    CHECK(read_output(OutputType::error, content).body.text() ==
          R"({"output_type":"error","ename":"A\u0042","evalue":"\/","traceback":["\u001b[0m"]})");
}

TEST_CASE("an error of any size becomes one that a message can hold, in the output and in the reply") {
    constexpr std::size_t max_bytes = std::size_t{3} << 20;
    const std::string large(std::size_t{5} << 20, 'x');
    const std::vector<std::string> many(200'000, "a line of a deep recursion");
    const std::vector<std::vector<std::string>> tracebacks = {{"short"}, {large}, {"first", large, "last"}, many, {}};
    for (const std::vector<std::string>& lines : tracebacks) {
        const std::string content = error_content(large, large, lines);
        const Output output = read_output(OutputType::error, content);
        CHECK(output.body.text().size() < max_bytes);
        CHECK_FALSE(check_json(output.body.text()));
        const KernelError error = read_error(content);
        CHECK(error.ename.size() <= 4096);
        CHECK(error.evalue.find("bytes cut") != std::string::npos);
        std::size_t bytes = 0;
        for (const std::string& line : error.traceback) {
            bytes += line.size();
        }
        CHECK(bytes < max_bytes);
        if (!lines.empty()) {
            CHECK(error.traceback.front().substr(0, 5) == lines.front().substr(0, 5));
            CHECK(error.traceback.back().substr(error.traceback.back().size() - 4) ==
                  lines.back().substr(lines.back().size() - 4));
        }
    }
}

TEST_CASE("what no renderer needs makes no message that cannot be sent") {
    const std::string large = "\"" + std::string(std::size_t{2} << 20, 'x') + "\"";
    CHECK_THROWS_AS(read_output(OutputType::display_data, R"({"data":{},"metadata":{"x":)" + large + "}}"), Error);
    CHECK_THROWS_AS(
        read_output(OutputType::display_data, R"({"data":{},"metadata":{},"transient":{"display_id":)" + large + "}}"),
        Error);
    for (const char* count : {"1e5", "-1", "1.0", "99999999999999999999999"}) {
        const std::string content = std::string(R"({"execution_count":)") + count + R"(,"data":{},"metadata":{}})";
        CHECK(read_output(OutputType::execute_result, content).body.text().find(R"("execution_count":null)") !=
              std::string::npos);
    }
}
