#include "temp_folder.hpp"
#include "wrappers/write_package.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::wrappers;
namespace fs = std::filesystem;

namespace {

struct Folder : TempFolder {
    Folder() {
        fs::create_directories(path / "workspace");
        fs::create_directories(path / "outside");
    }
    fs::path workspace() const { return path / "workspace"; }
    fs::path outside() const { return path / "outside"; }
};

Package package_of(const std::vector<std::string>& names, const std::string& server = "server") {
    std::vector<protocol::ToolSpec> tools;
    for (const std::string& name : names) {
        tools.emplace_back();
        tools.back().name = name;
        tools.back().input_schema = RawJson::parse(R"({"type":"object"})");
    }
    return generate(server, tools);
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

// How much this process has read until now.
std::uintmax_t bytes_read() {
    std::ifstream file("/proc/self/io");
    std::string name;
    std::uintmax_t count = 0;
    REQUIRE((file >> name >> count && name == "rchar:"));
    return count;
}

// What a writer does that does not look where it writes.
void write_naively(const Package& package, const fs::path& out_dir) {
    for (const File& file : package.files) {
        fs::create_directories((out_dir / file.path).parent_path());
        write(out_dir / file.path, file.text);
    }
}

void check_refused(const Package& package, const fs::path& out_dir) {
    try {
        write_package(package, out_dir);
        FAIL("was written");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::wrapper_failed);
        CHECK_FALSE(error.message.empty());
    }
}

} // namespace

TEST_CASE("files are written as they are, readable, with nothing beside them") {
    const Folder folder;
    const Package package = package_of({"one", "two"});
    write_package(package, folder.workspace());
    for (const File& file : package.files) {
        CHECK(read(folder.workspace() / file.path) == file.text);
    }
    const auto count = std::distance(fs::recursive_directory_iterator(folder.workspace()), {});
    CHECK(count == static_cast<std::ptrdiff_t>(package.files.size()) + 2);
}

TEST_CASE("a link in place of a folder is not followed") {
    for (const char* const name : {"mcptools", "mcptools/server"}) {
        CAPTURE(name);
        const Folder folder;
        fs::create_directories((folder.workspace() / name).parent_path());
        fs::create_directory_symlink(folder.outside(), folder.workspace() / name);
        check_refused(package_of({"one"}), folder.workspace());
        CHECK(fs::is_empty(folder.outside()));

        write_naively(package_of({"one"}), folder.workspace());
        CHECK_FALSE(fs::is_empty(folder.outside()));
    }
}

TEST_CASE("a link in place of a module is not followed") {
    const Folder folder;
    write_package(package_of({"one"}), folder.workspace());
    const fs::path module = folder.workspace() / "mcptools/server/one.py";
    const fs::path victim = folder.outside() / "victim";
    write(victim, "precious");
    fs::remove(module);
    fs::create_symlink(victim, module);
    check_refused(package_of({"one"}), folder.workspace());
    CHECK(read(victim) == "precious");

    write_naively(package_of({"one"}), folder.workspace());
    CHECK(read(victim) != "precious");
}

TEST_CASE("a pipe in place of a module is refused and does not block") {
    const Folder folder;
    fs::create_directories(folder.workspace() / "mcptools/server");
    REQUIRE(::mkfifo((folder.workspace() / "mcptools/server/one.py").c_str(), 0600) == 0);
    check_refused(package_of({"one"}), folder.workspace());
}

TEST_CASE("of a file that is larger than what belongs there, no more is read than is compared") {
    const Folder folder;
    const Package package = package_of({"one"});
    write_package(package, folder.workspace());
    const std::string header = read(folder.workspace() / "mcptools/server/one.py").substr(0, 200);
    constexpr std::uintmax_t large = 64U << 20;
    const fs::path server = folder.workspace() / "mcptools/server";
    for (const char* const name : {"one.py", "__init__.py", "stale.py", ".cellgate-aside", "../_runtime.py"}) {
        if (name != std::string("__init__.py")) {
            write(server / name, header);
        }
        fs::resize_file(server / name, large); // a hole: costs the one who puts it there nothing
    }
    const std::uintmax_t before = bytes_read();
    write_package(package, folder.workspace());
    CHECK(bytes_read() - before < (1U << 20));
    for (const File& file : package.files) {
        CHECK(read(folder.workspace() / file.path) == file.text);
    }
    CHECK_FALSE(fs::exists(server / "stale.py"));

    write(server / "stale.py", header);
    fs::resize_file(server / "stale.py", large);
    const std::uintmax_t naively = bytes_read();
    CHECK(read(server / "stale.py").starts_with(header));
    CHECK(bytes_read() - naively >= large);
}

TEST_CASE("a package of another server is not replaced, though its name is the same to Python") {
    const Folder folder;
    write_package(package_of({"one"}, "my-server"), folder.workspace());
    const fs::path module = folder.workspace() / "mcptools/my_server/one.py";
    const std::string before = read(module);
    for (const char* const server : {"my_server", "My-Server", "my-server\"", "my"}) {
        const Package package = package_of({"one", "two"}, server);
        if (package.package == "my_server") {
            check_refused(package, folder.workspace());
        } else {
            write_package(package, folder.workspace());
        }
        CHECK(read(module) == before);
        CHECK_FALSE(fs::exists(folder.workspace() / "mcptools/my_server/two.py"));
    }
    write_package(package_of({"two"}, "my-server"), folder.workspace());
    CHECK_FALSE(fs::exists(module));

    write_naively(package_of({"one"}, "my_server"), folder.workspace());
    CHECK(read(module) != before);
}

TEST_CASE("files that cellgate did not make are not replaced") {
    for (const char* const name : {"mcptools/__init__.py", "mcptools/server/one.py"}) {
        CAPTURE(name);
        const Folder folder;
        fs::create_directories(folder.workspace() / "mcptools/server");
        write(folder.workspace() / name, "mine = 1\n");
        check_refused(package_of({"one"}), folder.workspace());
        CHECK(read(folder.workspace() / name) == "mine = 1\n");
    }
}

TEST_CASE("a package that cannot be written whole is not written at all") {
    const Folder folder;
    write_package(package_of({"one"}), folder.workspace());
    const fs::path server = folder.workspace() / "mcptools/server";
    write(server / "two.py", "mine = 2\n");
    const std::string before = read(server / "__init__.py");
    const auto count = [&] { return std::distance(fs::recursive_directory_iterator(folder.workspace()), {}); };
    const auto files = count();
    check_refused(package_of({"two", "three"}), folder.workspace());
    CHECK(read(server / "__init__.py") == before);
    CHECK(count() == files); // neither three.py nor what was written beside

    fs::remove(server / "two.py");
    write_package(package_of({"two", "three"}), folder.workspace());
    CHECK(read(server / "__init__.py") != before);
}

TEST_CASE("modules of tools that are gone go, what is not ours stays") {
    const Folder folder;
    write_package(package_of({"one", "two"}), folder.workspace());
    const fs::path server = folder.workspace() / "mcptools/server";
    write(server / "mine.py", "mine = 1\n");
    write(server / "notes.txt", "notes");
    write(server / ".cellgate-left-by-a-crash", "half");
    write(folder.outside() / "linked.py", read(server / "one.py"));
    fs::create_symlink(folder.outside() / "linked.py", server / "linked.py");
    write_package(package_of({"two", "three"}), folder.workspace());
    CHECK_FALSE(fs::exists(server / "one.py"));
    CHECK(fs::exists(server / "two.py"));
    CHECK(fs::exists(server / "three.py"));
    CHECK(fs::exists(server / "mine.py"));
    CHECK(fs::exists(server / "notes.txt"));
    CHECK_FALSE(fs::exists(server / ".cellgate-left-by-a-crash"));
    CHECK(fs::exists(fs::symlink_status(server / "linked.py")));
    CHECK(fs::exists(folder.outside() / "linked.py"));
}

TEST_CASE("an identical file is kept, another is replaced atomically") {
    const Folder folder;
    write_package(package_of({"one", "two"}), folder.workspace());
    const fs::path server = folder.workspace() / "mcptools/server";
    fs::create_hard_link(server / "one.py", folder.outside() / "one");
    write(folder.outside() / "two", "");
    const std::string before = read(server / "two.py");
    write(server / "two.py", before.substr(0, before.size() / 2));
    fs::remove(folder.outside() / "two");
    fs::create_hard_link(server / "two.py", folder.outside() / "two");

    write_package(package_of({"one", "two"}), folder.workspace());
    CHECK(fs::equivalent(server / "one.py", folder.outside() / "one"));
    CHECK_FALSE(fs::equivalent(server / "two.py", folder.outside() / "two"));
    CHECK(read(server / "two.py") == before);
    CHECK(read(folder.outside() / "two") == before.substr(0, before.size() / 2));
}

TEST_CASE("a folder that is not there is an error") {
    const Folder folder;
    check_refused(package_of({"one"}), folder.path / "none");
}
