#include "jupyter/kernelspec.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cellgate::jupyter;
using cellgate::Environment;
using cellgate::jupyter::test::TempDirectory;
using Strings = std::vector<std::string>;

namespace {

std::string spec(const std::string& display_name) {
    return R"({"argv":["prog","-f","{connection_file}"],"display_name":")" + display_name + R"(","language":"x"})";
}

} // namespace

TEST_CASE("kernels are looked for where Jupyter looks, in its order") {
    const Environment environment = {{"HOME", "/home/u"}, {"JUPYTER_PATH", "/extra/one::/extra/two/"}};
    CHECK(kernelspec_directories(environment, {"/venv", "/usr"}) ==
          Strings{"/extra/one/kernels", "/extra/two/kernels", "/home/u/.local/share/jupyter/kernels",
                  "/venv/share/jupyter/kernels", "/usr/local/share/jupyter/kernels", "/usr/share/jupyter/kernels",
                  "/home/u/.ipython/kernels"});
}

TEST_CASE("JUPYTER_DATA_DIR goes before XDG_DATA_HOME") {
    Environment environment = {{"HOME", "/home/u"}, {"XDG_DATA_HOME", "/xdg"}};
    CHECK(kernelspec_directories(environment, {}).front() == "/xdg/jupyter/kernels");
    environment["JUPYTER_DATA_DIR"] = "/data";
    CHECK(kernelspec_directories(environment, {}).front() == "/data/kernels");
}

TEST_CASE("JUPYTER_PREFER_ENV_PATH puts the interpreter's own kernels before the user's") {
    Environment environment = {{"HOME", "/home/u"}};
    for (const std::string off : {"", "0", "No", "false"}) {
        environment["JUPYTER_PREFER_ENV_PATH"] = off;
        CHECK(kernelspec_directories(environment, {"/venv"}).front() == "/home/u/.local/share/jupyter/kernels");
    }
    environment["JUPYTER_PREFER_ENV_PATH"] = "1";
    CHECK(kernelspec_directories(environment, {"/venv"}).front() == "/venv/share/jupyter/kernels");
}

TEST_CASE("a spec is read with what a start needs") {
    const TempDirectory directory;
    directory.write("kernels/ir/kernel.json",
                    R"({"argv":["R","--args","{connection_file}"],"display_name":"R","language":"R",
                        "env":{"A":"b"},"interrupt_mode":"message","metadata":{"x":1}})");
    const std::vector<Kernelspec> specs = load_kernelspecs({directory / "kernels"});
    REQUIRE(specs.size() == 1);
    CHECK(specs[0].name == "ir");
    CHECK(specs[0].directory == directory / "kernels/ir");
    CHECK(specs[0].argv == Strings{"R", "--args", "{connection_file}"});
    CHECK(specs[0].environment == Environment{{"A", "b"}});
    CHECK_FALSE(specs[0].problem);
    CHECK_FALSE(specs[0].tcp_only);
}

TEST_CASE("a spec may say that its kernel listens on TCP ports only") {
    const TempDirectory directory;
    directory.write("kernels/t/kernel.json", R"({"argv":["t"],"display_name":"T","language":"t",
        "metadata":{"debugger":true,"cellgate":{"transport":"tcp"}}})");
    CHECK(load_kernelspecs({directory / "kernels"}).front().tcp_only);
}

TEST_CASE("of two specs with one name the first directory's wins, whatever its case") {
    const TempDirectory directory;
    directory.write("one/Python3/kernel.json", spec("first"));
    directory.write("two/python3/kernel.json", spec("second"));
    directory.write("two/other/kernel.json", spec("other"));
    const std::vector<Kernelspec> specs = load_kernelspecs({directory / "one", directory / "two", directory / "none"});
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].display_name == "first");
    CHECK(specs[1].display_name == "other");
}

TEST_CASE("a bad spec is reported with its reason and hides no other") {
    const TempDirectory directory;
    directory.write("a-broken/kernel.json", "{");
    directory.write("b-twice/kernel.json", R"({"argv":["a"],"argv":["b"],"display_name":"","language":""})");
    directory.write("c-empty/kernel.json", R"({"argv":[],"display_name":"","language":""})");
    directory.write("d-type/kernel.json", R"({"argv":"prog","display_name":"","language":""})");
    directory.write("e-large/kernel.json", spec(std::string(2 << 20, 'x')));
    std::filesystem::create_directories(directory / "f-folder/kernel.json");
    directory.write("good/kernel.json", spec("good"));
    directory.write("not a name/kernel.json", spec("never seen"));
    const std::vector<Kernelspec> specs = load_kernelspecs({directory.path});
    REQUIRE(specs.size() == 7);
    for (std::size_t i = 0; i < 6; ++i) {
        CAPTURE(specs[i].name);
        REQUIRE(specs[i].problem);
        CHECK_FALSE(specs[i].problem->empty());
    }
    CHECK_FALSE(specs[6].problem);
    CHECK(specs[2].problem->find("argv") != std::string::npos);
}
