#include "session/masked_output.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

struct Shown {
    Shown() { secrets.add("KEY", "correct-horse"); }

    void pass(const std::string& body, jupyter::OutputType type = jupyter::OutputType::stream) {
        for (const jupyter::Output& output : masked.pass(secrets.mask(), {type, RawJson::parse(body)})) {
            bodies.push_back(output.body.text());
        }
    }
    void print(const std::string& text, const std::string& name = "stdout") {
        pass(R"({"output_type":"stream","name":")" + name + R"(","text":")" + text + R"("})");
    }
    void flush() {
        if (const std::optional<jupyter::Output> held = masked.flush()) {
            bodies.push_back(held->body.text());
        }
    }
    // What was shown since the last call.
    std::vector<std::string> take() { return std::exchange(bodies, {}); }

    KnownSecrets secrets;
    MaskedOutput masked;
    std::vector<std::string> bodies;
};

std::string stream(const std::string& text, const std::string& name = "stdout") {
    return R"({"output_type":"stream","name":")" + name + R"(","text":")" + text + R"("})";
}

using Bodies = std::vector<std::string>;

} // namespace

TEST_CASE("a secret in one text, and one that two texts share, is not shown") {
    Shown shown;
    shown.print("is correct-horse\\n");
    CHECK(shown.take() == Bodies{stream("is [secret KEY]\\n")});
    shown.print("is corre");
    CHECK(shown.take() == Bodies{stream("is ")});
    CHECK(shown.masked.holds());
    shown.print("ct-horse.");
    CHECK(shown.take() == Bodies{stream("[secret KEY].")});
    CHECK_FALSE(shown.masked.holds());
}

TEST_CASE("what was held back comes before other output, and when nothing else comes") {
    Shown shown;
    shown.print("corre");
    CHECK(shown.take().empty());
    shown.print("ct\\n", "stderr");
    CHECK(shown.take() == Bodies{stream("corre"), stream("ct\\n", "stderr")});
    shown.print("corre");
    shown.pass(R"({"output_type":"display_data","data":{"text/plain":"correct-horse"},"metadata":{}})",
               jupyter::OutputType::display_data);
    CHECK(shown.take() ==
          Bodies{stream("corre"),
                 R"({"output_type":"display_data","data":{"text/plain":"[secret KEY]"},"metadata":{}})"});
    shown.print("corre");
    shown.flush();
    CHECK(shown.take() == Bodies{stream("corre")});
    shown.flush();
    CHECK(shown.take().empty());
}

TEST_CASE("a stream's output without a text is masked as it is") {
    Shown shown;
    shown.pass(R"({"output_type":"stream","name":"correct-horse"})");
    CHECK(shown.take() == Bodies{R"({"output_type":"stream","name":"[secret KEY]"})"});
}
