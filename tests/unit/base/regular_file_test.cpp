#include "base/fingerprint.hpp"
#include "base/regular_file.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <sys/stat.h>

using namespace cellgate;

namespace fs = std::filesystem;

TEST_CASE("a plain file is read up to what was asked for, and nothing else is waited for") {
    std::string pattern = (fs::temp_directory_path() / "cellgate-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    const std::string directory = pattern;
    std::ofstream(directory + "/file") << std::string(200'000, 'x');
    std::ofstream(directory + "/empty");
    CHECK(read_regular_file(directory + "/file", 300'000).bytes == std::string(200'000, 'x'));
    CHECK(read_regular_file(directory + "/file", 4).bytes == "xxxx");
    CHECK(read_regular_file(directory + "/file", 4).size == 200'000);
    fs::create_symlink("file", directory + "/link");
    CHECK(read_regular_file(directory + "/link", 4).bytes == "xxxx");
    CHECK(read_regular_file(directory + "/link", 4, LastLink::refuse).error == ELOOP);
    CHECK(read_regular_file(directory + "/file", 4, LastLink::refuse).bytes == "xxxx");
    CHECK(read_regular_file(directory + "/empty", 4).error == 0);
    CHECK(read_regular_file(directory + "/none", 4).error == ENOENT);
    CHECK(read_regular_file(directory + "/file/none", 4).error == ENOTDIR);
    CHECK(read_regular_file(directory, 4).error == EINVAL);
    CHECK(read_regular_file("/dev/zero", 4).error == EINVAL);
    CHECK(read_regular_file("/proc/self/status", 100'000).bytes.starts_with("Name:")); // says that it has no bytes
    // No process writes to it: opening it as usual would wait for ever.
    REQUIRE(::mkfifo((directory + "/pipe").c_str(), 0600) == 0);
    CHECK(read_regular_file(directory + "/pipe", 4).error == EINVAL);
    // Without an end, as far as we are concerned.
    std::ofstream(directory + "/sparse");
    fs::resize_file(directory + "/sparse", std::uintmax_t{1} << 40);
    CHECK(read_regular_file(directory + "/sparse", 4).bytes == std::string(4, '\0'));
    fs::remove_all(directory);
}

TEST_CASE("parts of an identity cannot run into each other") {
    const auto hash = [](const std::vector<std::string>& first, const std::vector<std::string>& second) {
        Fingerprint text;
        text.add_all(first);
        text.add_all(second);
        return text.hash();
    };
    CHECK(hash({"a"}, {"b", "c"}) == hash({"a"}, {"b", "c"})); // the control
    CHECK(hash({"a", "b"}, {"c"}) != hash({"a"}, {"b", "c"}));
    CHECK(hash({"ab"}, {}) != hash({"a", "b"}, {}));
    CHECK(hash({"1:a,"}, {}) != hash({"a"}, {}));
}
