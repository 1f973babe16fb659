#include "language_support.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

using Strings = std::vector<std::string>;

jupyter::KernelChoice kernel_of(const std::string& language) {
    jupyter::KernelChoice choice;
    choice.name = "k";
    choice.language = language;
    choice.argv = {"/bin/kernel", "{connection_file}"};
    return choice;
}

jupyter::KernelChoice ipykernel() {
    jupyter::KernelChoice choice = kernel_of("python");
    choice.argv = {"/usr/bin/python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"};
    choice.interpreter.emplace();
    choice.interpreter->executable = "/usr/bin/python3";
    choice.interpreter->version = "3.11";
    return choice;
}

jupyter::KernelChoice deno() {
    jupyter::KernelChoice choice = kernel_of("typescript");
    choice.kind = jupyter::KernelKind::deno;
    return choice;
}

jupyter::KernelChoice bash() {
    jupyter::KernelChoice choice = ipykernel();
    choice.language = "bash";
    choice.argv = {"/usr/bin/python3", "-I", "bash_kernel.py", "-f", "{connection_file}"};
    choice.kind = jupyter::KernelKind::bash;
    return choice;
}

struct Fixture {
    KernelLaunch launch(const jupyter::KernelChoice& choice, const std::string& cwd, Environment environment = {}) {
        const LaunchPlace place{directories, workspace, cwd, "/run/k", "/run/k/connection.json"};
        return make_language_support(choice)->launch(place, std::move(environment));
    }

    const TempFolder folder;
    std::string workspace = "/home/w";
    store::Directories directories{folder.path / "state", folder.path / "config", folder.path / "runtime",
                                   folder.path / "data"};
};

FailureCauses causes(const jupyter::KernelChoice& choice, const std::string& ename, const std::string& evalue) {
    Failure failure;
    failure.error.ename = ename;
    failure.error.evalue = evalue;
    return make_language_support(choice)->causes_of(failure);
}

struct Kernel {
    KernelAccess access() {
        return KernelAccess([this](jupyter::KernelQuery query) { return answer(std::move(query)); }, run_inline,
                            "/run/k");
    }
    Task<std::string> answer(jupyter::KernelQuery query) {
        asked.push_back(std::move(query.content));
        co_return R"({"user_expressions":{"value":{"status":"ok","data":{"application/json":
            {"truncated":false,"variables":[{"name":"x","type":"int","value":"1"}]}}}}})";
    }
    Strings asked;
};

Task<void> inspect(const LanguageSupport* language, Kernel* kernel, std::optional<jupyter::Variables>* found) {
    const KernelAccess access = kernel->access();
    *found = co_await language->variables(access);
}

std::optional<jupyter::Variables> variables(const jupyter::KernelChoice& choice, Kernel& kernel) {
    const auto language = make_language_support(choice);
    std::optional<jupyter::Variables> found;
    TaskScope scope;
    scope.spawn(inspect(language.get(), &kernel, &found));
    return found;
}

} // namespace

TEST_CASE("ipykernel starts through the bootstrap, sees its packages, and keeps output") {
    Fixture fixture;
    const KernelLaunch launch = fixture.launch(ipykernel(), "/home/w");
    CHECK(launch.argv == Strings{"/usr/bin/python3", "/run/k/bootstrap.py", "-f", "/run/k/connection.json"});
    Strings files;
    for (const BootstrapFile& file : launch.files) {
        files.push_back(file.path);
    }
    CHECK(files == Strings{"/run/k/bootstrap.py", "/run/k/programs.py", "/run/k/python_variables.py",
                           "/run/k/speedups.py", "/run/k/transfer.py"});
    CHECK(launch.files[0].text.find("ipykernel") != std::string_view::npos);
    CHECK(launch.packages.starts_with(fixture.directories.data));
    CHECK(launch.environment == Environment{{"CELLGATE_PACKAGES", launch.packages}});
    CHECK(launch.keeps_output);
    REQUIRE(make_language_support(ipykernel())->python());
    CHECK(make_language_support(ipykernel())->python()->executable == "/usr/bin/python3");
}

TEST_CASE("another kernel starts as its kernelspec says, without bootstrap and packages, also one of Python") {
    Fixture fixture;
    for (const char* language : {"python", "R", ""}) {
        CAPTURE(language);
        const KernelLaunch launch = fixture.launch(kernel_of(language), "/home/w", Environment{{"A", "b"}});
        CHECK(launch.argv == Strings{"/bin/kernel", "/run/k/connection.json"});
        CHECK(launch.files.empty());
        CHECK(launch.packages.empty());
        CHECK(launch.environment == Environment{{"A", "b"}});
        CHECK_FALSE(launch.keeps_output);
        CHECK_FALSE(make_language_support(kernel_of(language))->python());
    }
}

TEST_CASE("the wrappers are found from a folder in the workspace, after what the search path has") {
    Fixture fixture;
    for (const jupyter::KernelChoice& choice : {ipykernel(), kernel_of("R")}) {
        CAPTURE(choice.language);
        CHECK(fixture.launch(choice, "/home/w/sub").environment["PYTHONPATH"] == "/home/w");
        CHECK(fixture.launch(choice, "/home/w/sub", Environment{{"PYTHONPATH", "/lib"}}).environment["PYTHONPATH"] ==
              "/lib:/home/w");
    }
}

TEST_CASE("Deno starts as it is, without a connection of its own") {
    Fixture fixture;
    const KernelLaunch launch = fixture.launch(deno(), "/home/w");
    CHECK(launch.argv == Strings{"/bin/kernel", "/run/k/connection.json"});
    CHECK(launch.environment.at("DENO_NO_UPDATE_CHECK") == "1");
    CHECK(make_language_support(deno())->may_hang_when_interrupted());
    CHECK_FALSE(make_language_support(ipykernel())->may_hang_when_interrupted());
}

TEST_CASE("bash's kernel is a program of ours, with what it uses") {
    Fixture fixture;
    const KernelLaunch launch = fixture.launch(bash(), "/home/w");
    CHECK(launch.argv == Strings{"/usr/bin/python3", "-I", "/run/k/bash_kernel.py", "-f", "/run/k/connection.json"});
    REQUIRE(launch.files.size() == 7);
    CHECK(launch.files[0].text.find("class BashKernel") != std::string_view::npos);
    CHECK(launch.keeps_output);
    CHECK_FALSE(make_language_support(bash())->python());
}

TEST_CASE("what Deno leaves out of an error is in a note") {
    Failure failure;
    failure.error.evalue = "Execution failed";
    failure.code = "let let = 1";
    const auto language = make_language_support(deno());
    REQUIRE(language->causes_of(failure).notes.size() == 1);
    CHECK(language->causes_of(failure).notes[0].remedy.find("deno check") != std::string::npos);
    for (const char* code :
         {"import _ from 'npm:x'", "await import(\"jsr:@x/y\")", "import 'https://a.example/b.ts'"}) {
        CAPTURE(code);
        failure.code = code;
        CHECK(language->causes_of(failure).notes[0].text.find("over the network") != std::string::npos);
    }
    failure.error.evalue = "boom";
    failure.error.traceback = {"Error: boom"};
    CHECK(language->causes_of(failure).notes.empty());
}

TEST_CASE("paths are read from the errors of Deno and of Node's modules, and from what bash's programs print") {
    const auto path_of = [](const std::string& evalue) {
        const FailureCauses found = causes(deno(), "Error", evalue);
        return found.paths.empty() ? std::string() : found.paths.front().path;
    };
    CHECK(path_of("No such file or directory (os error 2): readfile '/data/x'") == "/data/x");
    CHECK(path_of("Permission denied (os error 13): copy '/a' -> '/b'") == "/a");
    CHECK(path_of("ENOENT: no such file or directory, open '/data/y'") == "/data/y");
    CHECK(path_of("EEXIST: file already exists, mkdir '/data/y'").empty());
    CHECK(causes(deno(), "Error", "Network is unreachable (os error 101)").bypassed_proxy);
    Failure failure;
    failure.printed = "fine\ncat: /data/z: No such file or directory\nbash: /data/w: Permission denied\n";
    const FailureCauses found = make_language_support(bash())->causes_of(failure);
    REQUIRE(found.paths.size() == 2);
    CHECK(found.paths[0].path == "/data/z");
    CHECK(found.paths[1].path == "/data/w");
}

TEST_CASE("the code that changes the directory is known for some languages only") {
    CHECK(make_language_support(deno())->chdir_code("/a \"b\"") == R"(Deno.chdir("/a \"b\""))");
    CHECK(make_language_support(bash())->chdir_code("/a 'b'")->starts_with("cd -- "));
    CHECK(make_language_support(ipykernel())->chdir_code("/a \"b\"") == R"(__import__('os').chdir("/a \"b\""))");
    CHECK(make_language_support(kernel_of("python"))->chdir_code("/a"));
    CHECK_FALSE(make_language_support(kernel_of("R"))->chdir_code("/a"));
}

TEST_CASE("failures of Python are read, those of an unknown language are not guessed at") {
    const std::string missing = "[Errno 2] No such file or directory: '/data/x'";
    const FailureCauses found = causes(kernel_of("python"), "FileNotFoundError", missing);
    REQUIRE(found.paths.size() == 1);
    CHECK(found.paths[0].path == "/data/x");
    CHECK_FALSE(found.bypassed_proxy);
    CHECK(causes(ipykernel(), "OSError", "[Errno 101] Network is unreachable").bypassed_proxy);
    CHECK(causes(kernel_of("R"), "FileNotFoundError", missing).paths.empty());
    CHECK_FALSE(causes(kernel_of("R"), "OSError", "[Errno 101] Network is unreachable").bypassed_proxy);
}

TEST_CASE("pip in a cell of Python is answered with the command that reaches this kernel") {
    const auto language = make_language_support(ipykernel());
    REQUIRE(language->install_note("%pip install tiny", true));
    CHECK(language->install_note("%pip install tiny", true)->remedy.ends_with("cellgate install tiny"));
    CHECK(language->install_note("%pip install tiny", false)->remedy.ends_with("python3 -m pip install tiny"));
    CHECK_FALSE(language->install_note("print(1)", true));
    CHECK_FALSE(make_language_support(kernel_of("R"))->install_note("%pip install tiny", true));
}

TEST_CASE("variables are asked for in Python; a kernel of an unknown language is not even asked") {
    Kernel kernel;
    const std::optional<jupyter::Variables> found = variables(ipykernel(), kernel);
    REQUIRE(found);
    REQUIRE(found->all.size() == 1);
    CHECK(found->all[0].name == "x");
    REQUIRE(kernel.asked.size() == 1);
    CHECK(kernel.asked[0].find("_cellgate_kernel") != std::string::npos);
    CHECK_FALSE(variables(kernel_of("julia"), kernel));
    CHECK(kernel.asked.size() == 1);
}
