#include "base/error.hpp"
#include "store/secrets.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::store;

namespace {

// The secrets of one sidecar. Each has a directory of the test's user.
struct Sidecar {
    explicit Sidecar(const TempFolder& folder, const std::string& workspace = "w", Environment given = {})
        : secrets(loop, loop.clock(), options_of(folder, workspace, std::move(given))) {}

    static Secrets::Options options_of(const TempFolder& folder, const std::string& workspace, Environment given) {
        Secrets::Options options;
        options.directory = folder.path / "logins";
        options.workspace = workspace;
        options.environment = {{"PATH", "/usr/bin:/bin"}, {"OF_THE_USER", "yes"}};
        options.from_environment = std::move(given);
        options.command_timeout = std::chrono::seconds(20);
        return options;
    }
    void run(const std::function<Task<void>()>& test) { loop.run(whole(&test)); }
    Task<void> whole(const std::function<Task<void>()>* test) {
        std::exception_ptr error;
        try {
            co_await (*test)();
        } catch (...) {
            error = std::current_exception();
        }
        co_await secrets.close();
        if (error) {
            std::rethrow_exception(error);
        }
    }

    void set(const std::string& name, const std::string& value, SecretScope scope = SecretScope::user) {
        SecretEntry entry;
        entry.name = name;
        entry.scope = scope;
        put(entry, value);
    }
    void set_command(const std::string& name, const std::string& script) {
        SecretEntry entry;
        entry.name = name;
        entry.source = SecretSource::command;
        entry.command = {"sh", "-c", script};
        put(entry, {});
    }
    void put(const SecretEntry& entry, const std::string& value) {
        run([&] { return put_one(entry, value); });
    }
    Task<void> put_one(SecretEntry entry, std::string value) {
        co_await secrets.set(std::move(entry), std::move(value));
    }
    // Its value; "(none)", or "error: …".
    std::string find(const std::string& name) {
        std::string found;
        run([&] { return find_into(name, &found); });
        return found;
    }
    Task<void> find_into(std::string name, std::string* into) {
        try {
            const std::optional<Secrets::Found> found = co_await secrets.find(std::move(name));
            *into = found ? found->value : "(none)";
        } catch (const Error& error) {
            *into = "error: " + error.message;
        }
    }
    std::vector<SecretEntry> list() {
        std::vector<SecretEntry> entries;
        run([&] { return list_into(&entries); });
        return entries;
    }
    Task<void> list_into(std::vector<SecretEntry>* into) { *into = co_await secrets.list(); }
    // Empty, or the error.
    std::string remove(const std::string& name, SecretScope scope) {
        std::string problem;
        run([&] { return remove_into(name, scope, &problem); });
        return problem;
    }
    Task<void> remove_into(std::string name, SecretScope scope, std::string* problem) {
        try {
            co_await secrets.remove(std::move(name), scope);
        } catch (const Error& error) {
            *problem = error.message;
        }
    }

    async::Loop loop;
    Secrets secrets;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string bytes_below(const std::filesystem::path& folder) {
    std::ostringstream all;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
        if (each.is_regular_file()) {
            all << std::ifstream(each.path(), std::ios::binary).rdbuf();
        }
    }
    return all.str();
}

std::size_t lines_in(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("a secret is found as it was kept, in another sidecar too, and is in no file") {
    const TempFolder folder;
    Sidecar one(folder);
    Sidecar two(folder);
    CHECK(one.find("A") == "(none)");
    one.set("A", "v4lue-of-the-user");
    CHECK(one.find("A") == "v4lue-of-the-user");
    CHECK(two.find("A") == "v4lue-of-the-user");
    two.set("A", "other");
    CHECK(one.find("A") == "other");
    const std::string bytes = bytes_below(folder.path);
    CHECK_FALSE(has(bytes, "v4lue"));
    CHECK_FALSE(has(bytes, "other"));
    CHECK(has(bytes, "cellgate secret 1")); // the control
}

TEST_CASE("the workspace's comes before the user's, and that before the environment's") {
    const TempFolder folder;
    const Environment given = {{"A", "environment"}, {"E", "environment"}};
    Sidecar here(folder, "here", given);
    Sidecar there(folder, "there", given);
    CHECK(here.find("A") == "environment");
    here.set("A", "user");
    here.set("A", "workspace", SecretScope::workspace);
    CHECK(here.find("A") == "workspace");
    CHECK(there.find("A") == "user");
    const std::vector<SecretEntry> listed = here.list();
    REQUIRE(listed.size() == 3);
    CHECK(listed[0].name == "A");
    CHECK(listed[0].scope == SecretScope::workspace);
    CHECK(listed[1].name == "A");
    CHECK(listed[1].source == SecretSource::stored);
    CHECK(listed[2].name == "E");
    CHECK(listed[2].source == SecretSource::environment);
    CHECK(listed[2].set_at.empty());
    CHECK(there.list().size() == 2);
    CHECK(has(there.remove("A", SecretScope::workspace), "no secret A is kept for this workspace"));
    CHECK(here.remove("A", SecretScope::workspace).empty());
    CHECK(here.find("A") == "user");
    CHECK(here.remove("A", SecretScope::user).empty());
    CHECK(here.find("A") == "environment");
    CHECK(has(here.remove("A", SecretScope::user), "no secret A is kept for all workspaces"));
}

TEST_CASE("what a command prints is the value, once, for all who need it") {
    const TempFolder folder;
    Sidecar user(folder);
    const std::string runs = folder.path / "runs";
    user.set_command("A", "echo x >> " + runs + "; printf '%s\\n\\n' \"$OF_THE_USER $PWD\"");
    std::string one;
    std::string two;
    TaskScope tasks;
    user.run([&]() -> Task<void> {
        tasks.spawn(user.find_into("A", &one));
        tasks.spawn(user.find_into("A", &two));
        return tasks.join();
    });
    CHECK(one == "yes /\n");
    CHECK(two == one);
    CHECK(lines_in(runs) == 1);
    CHECK(user.find("A") == one);
    CHECK(lines_in(runs) == 1);
    user.set_command("A", "echo x >> " + runs + "; echo new");
    CHECK(user.find("A") == "new");
    CHECK(lines_in(runs) == 2);
}

TEST_CASE("a command that fails says how, and is tried again") {
    const TempFolder folder;
    Sidecar user(folder);
    const std::string runs = folder.path / "runs";
    user.set_command("A", "echo x >> " + runs + "; echo half; echo 'not logged in' >&2; exit 3");
    const std::string failed = user.find("A");
    CHECK(has(failed, "error: the secret A: `sh -c "));
    CHECK(has(failed, "failed with exit code 3; its stderr ends with: not logged in"));
    CHECK_FALSE(has(failed, "half\n"));
    CHECK(user.find("A") == failed);
    CHECK(lines_in(runs) == 2);
    user.set_command("A", "printf 'a\\0b'");
    CHECK(has(user.find("A"), "found a NUL character"));
    user.set_command("A", ":");
    CHECK(has(user.find("A"), "found an empty text"));
    user.set_command("A", "head -c 65536 /dev/zero | tr '\\0' x; echo");
    CHECK(user.find("A").size() == 65536);
    user.set_command("A", "head -c 65537 /dev/zero | tr '\\0' x");
    CHECK(has(user.find("A"), "found more"));
    user.set_command("A", "yes");
    CHECK(has(user.find("A"), "error: the secret A"));
    SecretEntry nothing;
    nothing.name = "A";
    nothing.source = SecretSource::command;
    nothing.command = {"no-such-program-of-cellgate"};
    user.put(nothing, {});
    CHECK(has(user.find("A"), "did not start"));
}

TEST_CASE("a command that does not end is ended") {
    const TempFolder folder;
    async::Loop loop;
    Secrets::Options options = Sidecar::options_of(folder, "w", {});
    options.command_timeout = std::chrono::milliseconds(200);
    Secrets secrets(loop, loop.clock(), options);
    std::string found;
    const auto test = [&]() -> Task<void> {
        SecretEntry entry;
        entry.name = "A";
        entry.source = SecretSource::command;
        entry.command = {"sleep", "1000"};
        co_await secrets.set(std::move(entry), std::string());
        try {
            co_await secrets.find("A");
        } catch (const Error& error) {
            found = error.message;
        }
        co_await secrets.close();
    };
    loop.run(test());
    CHECK(has(found, "did not end within 0 seconds"));
}

TEST_CASE("a value in a file is read when it is needed") {
    const TempFolder folder;
    Sidecar user(folder);
    SecretEntry entry;
    entry.name = "A";
    entry.source = SecretSource::file;
    entry.file = folder.path / ".env";
    user.put(entry, {});
    CHECK(has(user.find("A"), "the secret A: cannot read " + entry.file));
    std::ofstream(entry.file) << "B=no\n";
    CHECK(has(user.find("A"), entry.file + " has no line A="));
    std::ofstream(entry.file) << "A='one'\n";
    CHECK(user.find("A") == "one");
    std::ofstream(entry.file) << "A=two\n";
    CHECK(user.find("A") == "two");
    std::ofstream(entry.file) << "A=\n";
    CHECK(has(user.find("A"), "found an empty text"));
}

TEST_CASE("secrets that cannot be read are not replaced") {
    const TempFolder folder;
    Sidecar user(folder);
    user.set("A", "kept");
    const std::filesystem::path key = folder.path / "logins" / "secrets.key";
    const std::filesystem::path away = folder.path / "away";
    std::filesystem::rename(key, away);
    CHECK(has(user.find("A"), "cannot be read"));
    CHECK_THROWS_AS(user.set("B", "x"), Error);
    CHECK_THROWS_AS(user.list(), Error);
    std::filesystem::rename(away, key);
    CHECK(user.find("A") == "kept");
    CHECK(user.find("B") == "(none)");
}

TEST_CASE("two processes that add secrets at once lose none, and one that is killed leaves the old or the new") {
    const TempFolder folder;
    {
        Sidecar(folder).set("FIRST", "first");
    }
    constexpr int each = 10;
    const auto child_that = [&](const std::function<void()>& work) {
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            work();
            ::_exit(0);
        }
        return child;
    };
    const auto adds = [&](const std::string& prefix) {
        return [&folder, prefix] {
            Sidecar user(folder);
            for (int i = 0; i < each; ++i) {
                user.set(prefix + std::to_string(i), "x");
            }
        };
    };
    const pid_t one = child_that(adds("ONE"));
    const pid_t two = child_that(adds("TWO"));
    const pid_t killed = child_that([&] {
        Sidecar user(folder);
        for (;;) {
            user.set("KILLED", std::string(1000, 'b'));
            user.set("KILLED", std::string(1000, 'c'));
        }
    });
    int status = 0;
    ::waitpid(one, &status, 0);
    CHECK(status == 0);
    ::waitpid(two, &status, 0);
    CHECK(status == 0);
    ::kill(killed, SIGKILL);
    ::waitpid(killed, &status, 0);
    Sidecar user(folder);
    const std::size_t listed = user.list().size();
    CHECK(listed >= 1 + 2 * each);
    const std::string found = user.find("KILLED");
    CHECK((found == std::string(1000, 'b') || found == std::string(1000, 'c') || found == "(none)"));
    user.set("AFTER", "x");
    CHECK(user.list().size() == listed + 1);
}
