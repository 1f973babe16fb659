#include "jupyter/kernel_choice.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace cellgate;
using namespace cellgate::jupyter;
using cellgate::jupyter::test::TempDirectory;
namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

namespace {

// A machine with a user's home, a workspace, and a `bin` on PATH.
struct Machine {
    Machine() {
        fs::create_directories(directory / "ws");
        fs::create_directories(directory / "home");
        fs::create_directories(directory / "bin");
        request.workspace = directory / "ws";
        request.environment = {{"HOME", directory / "home"}, {"PATH", directory / "bin"}};
    }

    // A virtual environment that looks like one; its python leaves a mark when it is run.
    void venv(const std::string& name, bool with_ipykernel) const {
        directory.write(name + "/bin/python",
                        "#!/bin/sh\ntouch " + directory / "ran" + "\nexec /usr/bin/python3 \"$@\"\n", true);
        directory.write(name + "/pyvenv.cfg", "home = /usr/bin\n");
        if (with_ipykernel) {
            // Like a real one: a link to a real interpreter, with packages of its own.
            fs::remove(directory / (name + "/bin/python"));
            fs::create_symlink("/usr/bin/python3", directory / (name + "/bin/python"));
            const std::string library = fs::path(fs::canonical("/usr/bin/python3")).filename();
            directory.write(name + "/lib/" + library + "/site-packages/ipykernel/__init__.py", "");
        }
    }
    void spec(const std::string& name, const std::string& argv) const {
        directory.write("home/.local/share/jupyter/kernels/" + name + "/kernel.json",
                        R"({"argv":)" + argv + R"(,"display_name":"Shown","language":"tongue","env":{"K":"v"}})");
    }
    bool ran() const { return fs::exists(directory / "ran"); }

    TempDirectory directory;
    KernelRequest request;
};

struct Found {
    std::optional<KernelChoice> choice;
    std::optional<Error> error;
};

Task<void> find_into(async::Loop* loop, KernelRequest request, Found* found) {
    try {
        found->choice = co_await find_kernel(*loop, std::move(request));
    } catch (const Error& error) {
        found->error = error;
    }
}

Task<void> confirm_into(async::Loop* loop, KernelChoice choice, Found* found) {
    try {
        found->choice = co_await confirm_kernel(*loop, std::move(choice));
    } catch (const Error& error) {
        found->error = error;
    }
}

Task<void> list_into(async::Loop* loop, KernelRequest request, std::vector<KernelInfo>* kernels) {
    *kernels = co_await list_kernels(*loop, std::move(request));
}

Found find(const KernelRequest& request) {
    async::Loop loop;
    Found found;
    loop.run(find_into(&loop, request, &found));
    return found;
}

Found confirm(const KernelChoice& choice) {
    async::Loop loop;
    Found found;
    loop.run(confirm_into(&loop, choice, &found));
    return found;
}

Task<void> count_turns(async::Loop* loop, const bool* done, int* turns) {
    while (!*done) {
        co_await loop->yield();
        *turns += *done ? 0 : 1;
    }
}

Task<void> beside_counting(async::Loop* loop, Task<void> work, int* turns) {
    bool done = false;
    TaskScope counting;
    counting.spawn(count_turns(loop, &done, turns));
    co_await std::move(work);
    done = true;
    co_await counting.join();
}

// How often the loop turned while something was done.
int turns_while(const std::function<Task<void>(async::Loop*)>& start) {
    async::Loop loop;
    int turns = 0;
    loop.run(beside_counting(&loop, start(&loop), &turns));
    return turns;
}

} // namespace

TEST_CASE("with nothing said, the system's python3 that has ipykernel is taken before one that has not") {
    const Machine machine;
    machine.directory.write("bin/python3", "#!/bin/sh\nexit 1\n", true); // a shim without a Python behind it
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK(found.choice->interpreter->executable == "/usr/bin/python3");
    CHECK_FALSE(found.choice->from_workspace);
    CHECK(found.choice->language == "python");
}

TEST_CASE("PATH decides between two that have ipykernel") {
    const Machine machine;
    fs::create_symlink("/usr/bin/python3", machine.directory / "bin/python3");
    CHECK(find(machine.request).choice->interpreter->executable == machine.directory / "bin/python3");
}

TEST_CASE("a directory that PATH names twice, also through a link, is searched once") {
    Machine machine;
    fs::create_symlink("/usr/bin/python3", machine.directory / "bin/python3");
    fs::create_symlink(machine.directory / "bin", machine.directory / "sbin");
    const auto count = [&](const std::string& path) {
        machine.request.environment["PATH"] = path;
        std::vector<KernelInfo> kernels;
        async::Loop loop;
        loop.run(list_into(&loop, machine.request, &kernels));
        return std::count_if(kernels.begin(), kernels.end(),
                             [](const auto& each) { return each.language == "python"; });
    };
    const auto once = count(machine.directory / "bin");
    CHECK(once >= 1);
    CHECK(count(machine.directory / "bin" + ":" + (machine.directory / "sbin")) == once);
    CHECK(count("/usr/bin") == once - 1); // the control
}

TEST_CASE("a python3 on PATH that is in the workspace is passed over") {
    Machine machine;
    machine.directory.write("ws/bin/python3", "#!/bin/sh\ntouch " + machine.directory / "ran" + "\n", true);
    machine.request.environment["PATH"] = machine.directory / "ws/bin" + ":ws/bin:.";
    CHECK(find(machine.request).choice->interpreter->executable == "/usr/bin/python3");
    CHECK_FALSE(machine.ran());
}

TEST_CASE("VIRTUAL_ENV, CONDA_PREFIX, .venv, venv: the first that is there is taken") {
    Machine machine;
    const auto chosen = [&] { return find(machine.request).choice->interpreter->executable; };
    machine.venv("ws/venv", true);
    CHECK(chosen() == machine.directory / "ws/venv/bin/python");
    machine.venv("ws/.venv", true);
    CHECK(chosen() == machine.directory / "ws/.venv/bin/python");
    machine.venv("conda", true);
    machine.request.environment["CONDA_PREFIX"] = machine.directory / "conda";
    CHECK(chosen() == machine.directory / "conda/bin/python");
    machine.venv("active", true);
    machine.request.environment["VIRTUAL_ENV"] = machine.directory / "active";
    CHECK(chosen() == machine.directory / "active/bin/python");
    machine.request.environment["VIRTUAL_ENV"] = machine.directory / "gone";
    CHECK(chosen() == machine.directory / "conda/bin/python");
}

TEST_CASE("a workspace's interpreter is reported as such, and nothing of it runs before it is confirmed") {
    const Machine machine;
    machine.venv("ws/.venv", false); // a script: only running it would tell
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK(found.choice->from_workspace);
    CHECK_FALSE(machine.ran());
    const Found confirmed = confirm(*found.choice);
    REQUIRE(confirmed.choice);
    CHECK(machine.ran()); // control: confirming is what runs it
    CHECK(confirmed.choice->interpreter->has_ipykernel == true);
    CHECK(confirmed.choice->from_workspace);
}

TEST_CASE("the same script outside the workspace is asked at once") {
    Machine machine;
    machine.venv("elsewhere", false);
    machine.request.interpreter = machine.directory / "elsewhere";
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK(machine.ran());
    CHECK_FALSE(found.choice->from_workspace);
}

TEST_CASE("a virtual environment without ipykernel is an error with the command that installs it") {
    Machine machine;
    machine.venv("ws/.venv", true);
    fs::remove_all(machine.directory / "ws/.venv/lib");
    const Found found = find(machine.request);
    REQUIRE(found.error);
    CHECK(found.error->code == ErrorCode::kernel_not_found);
    CHECK(found.error->message.find(machine.directory / "ws/.venv/bin/python") != std::string::npos);
    CHECK(found.error->hint ==
          "It is in the workspace, where code in a kernel may have put it, and this runs it outside the sandbox. "
          "If the environment is yours, install it with: " +
              machine.directory / "ws/.venv/bin/python" + " -m pip install ipykernel");
}

TEST_CASE("an interpreter can be named by path, by its environment's directory, and on PATH") {
    Machine machine;
    machine.venv("ws/env", true);
    fs::create_symlink("/usr/bin/python3", machine.directory / "bin/mypython");
    const auto chosen = [&](const std::string& name) {
        machine.request.interpreter = name;
        return find(machine.request).choice->interpreter->executable;
    };
    CHECK(chosen("/usr/bin/python3") == "/usr/bin/python3");
    CHECK(chosen(machine.directory / "ws/env") == machine.directory / "ws/env/bin/python");
    CHECK(chosen("./env") == machine.directory / "ws/env/bin/python");
    CHECK(chosen("mypython") == machine.directory / "bin/mypython");
    machine.request.interpreter = "/no/such/python";
    CHECK(find(machine.request).error->message.find("/no/such/python") != std::string::npos);
}

TEST_CASE("a kernelspec is found by name, whatever its case, and starts what it says") {
    Machine machine;
    machine.directory.write("bin/prog", "", true);
    machine.spec("Fancy", R"(["prog","--res={resource_dir}","{connection_file}","{other}"])");
    machine.request.name = "fancy";
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK_FALSE(found.choice->interpreter);
    CHECK(found.choice->environment == Environment{{"K", "v"}});
    CHECK(launch_argv(*found.choice, "/c {resource_dir}", "/boot.py") ==
          Strings{machine.directory / "bin/prog",
                  "--res=" + machine.directory / "home/.local/share/jupyter/kernels/Fancy", "/c {resource_dir}",
                  "{other}"});
}

TEST_CASE("another language than Python gets the first kernelspec that speaks it, unless a kernel is named") {
    Machine machine;
    machine.venv("ws/.venv", true);
    machine.directory.write("home/.local/share/jupyter/kernels/a/kernel.json", "{");
    machine.spec("b", R"(["/bin/true","first"])");
    machine.spec("c", R"(["/bin/true","second"])");
    machine.request.language = "tongue";
    CHECK(find(machine.request).choice->argv == Strings{"/bin/true", "first"});
    machine.request.name = "c";
    CHECK(find(machine.request).choice->argv == Strings{"/bin/true", "second"});
    machine.request.name.reset();
    machine.request.language = "python";
    CHECK(find(machine.request).choice->language == "python");
    machine.request.language = "Tongue";
    CHECK(find(machine.request).choice->argv == Strings{"/bin/true", "first"});
    machine.request.language = "lingua";
    const Found found = find(machine.request);
    REQUIRE(found.error);
    CHECK(found.error->code == ErrorCode::kernel_not_found);
    CHECK(found.error->message.find("whose language is lingua, found none") != std::string::npos);
    machine.request.language = "typescript";
    CHECK(find(machine.request).error->hint.find("npm install deno") != std::string::npos);
}

TEST_CASE("Deno is a kernel without a kernelspec: the workspace's own, which asks, before one on PATH") {
    Machine machine;
    machine.directory.write("bin/deno", "", true);
    for (const char* language : {"typescript", "JavaScript"}) {
        machine.request.language = language;
        const Found found = find(machine.request);
        REQUIRE(found.choice);
        CHECK(found.choice->argv ==
              Strings{machine.directory / "bin/deno", "jupyter", "--kernel", "--conn", "{connection_file}"});
        CHECK(found.choice->tcp_only);
        CHECK_FALSE(found.choice->interrupt_by_signal);
        CHECK_FALSE(found.choice->from_workspace);
        CHECK(folders_of(*found.choice) == Strings{machine.directory / "bin/deno"});
    }
    machine.directory.write("ws/node_modules/.bin/deno", "", true);
    const Found own = find(machine.request);
    REQUIRE(own.choice);
    CHECK(own.choice->from_workspace);
    CHECK(own.choice->argv.front() == machine.directory / "ws/node_modules/.bin/deno");
    CHECK(folders_of(*own.choice).empty()); // it could be a link to anything
    machine.request.language.reset();
    std::vector<KernelInfo> kernels;
    async::Loop loop;
    loop.run(list_into(&loop, machine.request, &kernels));
    Strings names;
    for (const KernelInfo& kernel : kernels) {
        if (kernel.language == "typescript") {
            names.push_back(kernel.name);
        }
    }
    CHECK(names == Strings{"deno", machine.directory / "bin/deno"});
    machine.request.interpreter = machine.directory / "bin/deno";
    CHECK(find(machine.request).choice->language == "typescript");
    machine.request.interpreter.reset();
    machine.request.name = "deno";
    CHECK(find(machine.request).choice->kind == KernelKind::deno);
    machine.request.name.reset();
    machine.spec("mine", R"(["deno","jupyter","--kernel","--conn","{connection_file}"])");
    machine.request.language = "tongue";
    const Found spec = find(machine.request);
    CHECK((spec.choice->tcp_only && !spec.choice->interrupt_by_signal)); // whatever its kernelspec says
}

TEST_CASE("bash has cellgate's own kernel, unless a kernelspec brings one") {
    Machine machine;
    machine.request.language = "bash";
    machine.directory.write("ws/bin/bash", "", true);
    machine.request.environment["PATH"] = machine.directory / "ws/bin";
    CHECK(find(machine.request).error->hint.find("python3-ipykernel") != std::string::npos);
    machine.request.environment["PATH"] = "/usr/bin";
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK(found.choice->display_name == "Bash (cellgate)");
    CHECK(found.choice->kind == KernelKind::bash);
    CHECK_FALSE(found.choice->tcp_only);
    CHECK(found.choice->interpreter->executable == "/usr/bin/python3");
    machine.directory.write("home/.local/share/jupyter/kernels/b/kernel.json",
                            R"({"argv":["/bin/true"],"display_name":"Own","language":"Bash"})");
    CHECK(find(machine.request).choice->display_name == "Own");
}

TEST_CASE("a kernelspec may bring its own program") {
    Machine machine;
    const std::string folder = machine.directory / "home/.local/share/jupyter/kernels/own";
    machine.spec("own", R"(["{resource_dir}/prog","{connection_file}"])");
    machine.directory.write("home/.local/share/jupyter/kernels/own/prog", "", true);
    machine.request.name = "own";
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    CHECK(launch_argv(*found.choice, "/c", "/boot.py") == Strings{folder + "/prog", "/c"});
}

TEST_CASE("the loop turns while files are looked at, as a cell decides how many there are") {
    const Machine machine;
    machine.spec("named", R"(["/bin/true"])");
    CHECK(turns_while([](async::Loop*) -> Task<void> { co_return; }) == 0); // the control
    for (const char* what : {"interpreter", "name", "default"}) {
        CAPTURE(what);
        KernelRequest request = machine.request;
        if (what == std::string_view("interpreter")) {
            request.interpreter = "/usr/bin/python3";
        } else if (what == std::string_view("name")) {
            request.name = "named";
        }
        Found found;
        CHECK(turns_while([&](async::Loop* loop) { return find_into(loop, request, &found); }) > 0);
        CHECK(found.choice);
    }
    std::vector<KernelInfo> kernels;
    CHECK(turns_while([&](async::Loop* loop) { return list_into(loop, machine.request, &kernels); }) > 0);
}

TEST_CASE("the folders that a kernel sees are where things really are, each once") {
    KernelChoice choice;
    CHECK(folders_of(choice).empty());
    const TempDirectory directory;
    fs::create_directories(directory / "real");
    fs::create_directory_symlink(directory / "real", directory / "link");
    choice.resource_dir = directory / "link";
    choice.interpreter.emplace();
    CHECK(folders_of(choice) == Strings{directory / "real"});
    choice.interpreter->prefix = directory / "real/../link";
    choice.interpreter->base_prefix = "/usr";
    CHECK(folders_of(choice) == Strings{directory / "real", "/usr"});
    choice.resource_dir = directory / "gone";
    CHECK(folders_of(choice) == Strings{directory / "real", "/usr"});
}

TEST_CASE("a name that no kernelspec has is an error that lists those there are") {
    Machine machine;
    machine.directory.write("bin/prog", "", true);
    machine.spec("fancy", R"(["prog"])");
    machine.request.name = "nancy";
    const Found found = find(machine.request);
    CHECK(found.error->code == ErrorCode::kernel_not_found);
    CHECK(found.error->hint.find("fancy") != std::string::npos);
}

TEST_CASE("a kernelspec whose program is not there, or that is broken, says so") {
    Machine machine;
    machine.spec("gone", R"(["no-such-program"])");
    machine.spec("broken", "7");
    machine.request.name = "gone";
    CHECK(find(machine.request).error->message.find("no-such-program") != std::string::npos);
    machine.request.name = "broken";
    CHECK(find(machine.request).error->message.find("argv") != std::string::npos);
}

TEST_CASE("ipykernel is started through the bootstrap, with the spec's other options") {
    Machine machine;
    machine.spec("py", R"(["/usr/bin/python3","-Xutf8","-m","ipykernel_launcher","-f","{connection_file}","--pylab"])");
    machine.request.name = "py";
    const Found found = find(machine.request);
    REQUIRE(found.choice);
    REQUIRE(found.choice->interpreter);
    CHECK(found.choice->interpreter->prefix == "/usr");
    CHECK(launch_argv(*found.choice, "/c.json", "/boot.py") ==
          Strings{"/usr/bin/python3", "-Xutf8", "/boot.py", "-f", "/c.json", "--pylab"});
    CHECK(launch_argv(*found.choice, "/c.json") ==
          Strings{"/usr/bin/python3", "-Xutf8", "-m", "ipykernel_launcher", "-f", "/c.json", "--pylab"});
}

TEST_CASE("a module that only looks like ipykernel's launcher is left as it is") {
    Machine machine;
    machine.spec("py", R"(["/usr/bin/python3","-m","other","-m","ipykernel_launcher"])");
    machine.request.name = "py";
    const Found found = find(machine.request);
    CHECK(launch_argv(*found.choice, "/c.json", "/boot.py") ==
          Strings{"/usr/bin/python3", "-m", "other", "-m", "ipykernel_launcher"});
}

TEST_CASE("a kernelspec that starts anything of the workspace is from the workspace, wherever it lies") {
    Machine machine;
    machine.venv("ws/.venv", true);
    machine.directory.write("ws/kernel.py", "");
    machine.spec("a", R"([")" + machine.directory / "ws/.venv/bin/python" + R"(","-m","ipykernel_launcher","-f","x"])");
    machine.spec("b", R"(["/usr/bin/python3",")" + machine.directory / "ws/kernel.py" + R"("])");
    machine.spec("c", R"(["/usr/bin/python3","x.py"])");
    const auto from_workspace = [&](const std::string& name) {
        machine.request.name = name;
        return find(machine.request).choice->from_workspace;
    };
    CHECK(from_workspace("a"));
    CHECK(from_workspace("b"));
    CHECK_FALSE(from_workspace("c"));
    fs::create_directories(machine.directory / "ws/share/jupyter");
    fs::rename(machine.directory / "home/.local/share/jupyter/kernels", machine.directory / "ws/share/jupyter/kernels");
    machine.request.environment["JUPYTER_PATH"] = machine.directory / "ws/share/jupyter";
    CHECK(from_workspace("c"));
}

TEST_CASE("the python of a spec that came with an environment is that environment's") {
    Machine machine;
    machine.venv("active", true);
    machine.request.environment["VIRTUAL_ENV"] = machine.directory / "active";
    machine.directory.write("active/share/jupyter/kernels/python3/kernel.json",
                            R"({"argv":["python","-m","ipykernel_launcher","-f","{connection_file}"],
                                "display_name":"Python 3","language":"python"})");
    machine.request.name = "python3";
    CHECK(find(machine.request).choice->argv.front() == machine.directory / "active/bin/python");
}

TEST_CASE("the list has every kernelspec and interpreter, those that cannot start with the reason, and runs nothing of "
          "the workspace") {
    Machine machine;
    machine.venv("ws/.venv", false);
    machine.spec("broken", "7");
    async::Loop loop;
    std::vector<KernelInfo> kernels;
    loop.run(list_into(&loop, machine.request, &kernels));
    const auto find_path = [&](const std::string& path) {
        return std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& info) { return info.path == path; });
    };
    const auto broken = find_path(machine.directory / "home/.local/share/jupyter/kernels/broken");
    REQUIRE(broken != kernels.end());
    CHECK(broken->problem);
    const auto venv = find_path(machine.directory / "ws/.venv/bin/python");
    REQUIRE(venv != kernels.end());
    CHECK(venv->from_workspace);
    CHECK_FALSE(machine.ran());
    const auto system = find_path("/usr/bin/python3");
    REQUIRE(system != kernels.end());
    CHECK_FALSE(system->problem);
    CHECK(venv < system);
}
