#include "base/error.hpp"
#include "base/json.hpp"
#include "jupyter/connection.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using cellgate::jupyter::test::TempDirectory;

TEST_CASE("the connection file tells the kernel where and with which key, and only us") {
    const TempDirectory directory;
    const ConnectionInfo connection = create_connection(directory.path);
    struct stat status{};
    REQUIRE(::stat(connection.file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    std::ifstream file(connection.file);
    const Json json = Json::parse(file);
    CHECK(json.at("transport") == "ipc");
    CHECK(json.at("signature_scheme") == "hmac-sha256");
    CHECK(json.at("key") == connection.key);
    CHECK(connection.key.size() == 64);
    CHECK(connection.endpoint(Channel::iopub) ==
          "ipc://" + json.at("ip").get<std::string>() + "-" + std::to_string(json.at("iopub_port").get<int>()));
}

TEST_CASE("no two connections share a key") {
    const TempDirectory one;
    const TempDirectory two;
    CHECK(create_connection(one.path).key != create_connection(two.path).key);
}

TEST_CASE("a socket path that the system would cut is refused") {
    const TempDirectory directory;
    // `<directory>/s-5`
    const std::string longest(107 - directory.path.string().size() - 1 - 4, 'x');
    std::filesystem::create_directory(directory / longest);
    std::filesystem::create_directory(directory / (longest + "x"));
    CHECK_NOTHROW(create_connection(directory / longest));
    CHECK_THROWS_WITH_AS(create_connection(directory / (longest + "x")), doctest::Contains("at most 107 bytes"), Error);
}

TEST_CASE("a link that a former kernel left in the file's place is not followed") {
    const TempDirectory directory;
    const TempDirectory elsewhere;
    std::filesystem::create_symlink(elsewhere / "victim", directory / "connection.json");
    CHECK_THROWS_AS(create_connection(directory.path), Error);
    CHECK_FALSE(std::filesystem::exists(elsewhere / "victim"));
    std::filesystem::remove(directory / "connection.json");
    CHECK_NOTHROW(create_connection(directory.path)); // control
}
