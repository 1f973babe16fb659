#include "jupyter/kernel_choice.hpp"

#include "base/escape_unprintable.hpp"
#include "jupyter/language_names.hpp"
#include "program_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <unistd.h>

namespace cellgate::jupyter {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr Duration probe_timeout = 10s;
constexpr std::string_view resource_dir_mark = "{resource_dir}";
const std::optional<std::string> any_language;

std::string get(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

std::string replaced(std::string text, std::string_view mark, const std::string& value) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
        text.replace(at, mark.size(), value);
    }
    return text;
}

// The directories of PATH, each once even under several names: /bin is often a link to /usr/bin.
std::vector<std::string> distinct_directories(const Environment& environment) {
    std::vector<std::string> directories;
    std::set<fs::path> seen;
    for (const std::string& directory : search_path(environment)) {
        std::error_code error;
        const fs::path real = fs::canonical(directory, error);
        if (!error && seen.insert(real).second) {
            directories.push_back(directory);
        }
    }
    return directories;
}

std::string python_of(const fs::path& environment_directory) {
    return environment_directory / "bin/python";
}

// The prefixes of the virtual environments that a user or the workspace has chosen, in their order.
std::vector<std::string> chosen_environments(const KernelRequest& request) {
    std::vector<std::string> prefixes;
    const fs::path workspace = request.workspace;
    for (const fs::path& prefix :
         {fs::path(get(request.environment, "VIRTUAL_ENV")), fs::path(get(request.environment, "CONDA_PREFIX")),
          workspace / ".venv", workspace / "venv"}) {
        if (prefix.is_absolute() && is_program(python_of(prefix))) {
            prefixes.push_back(prefix);
        }
    }
    return prefixes;
}

// Every python3 that is not the workspace's, in the order of PATH.
std::vector<std::string> system_interpreters(const KernelRequest& request) {
    Environment environment = request.environment;
    environment["PATH"] += ":/usr/bin";
    std::vector<std::string> found;
    for (const std::string& directory : distinct_directories(environment)) {
        std::string path = fs::path(directory) / "python3";
        if (is_program(path) && !is_inside(path, request.workspace)) {
            found.push_back(std::move(path));
        }
    }
    return found;
}

std::vector<Kernelspec> specs_for(const KernelRequest& request) {
    std::vector<std::string> prefixes = chosen_environments(request);
    for (const std::string& path : system_interpreters(request)) {
        const std::string prefix = inspect_interpreter(path).prefix;
        if (!prefix.empty()) {
            prefixes.push_back(prefix);
        }
    }
    return load_kernelspecs(kernelspec_directories(request.environment, prefixes));
}

KernelChoice choice_of(Interpreter interpreter, const KernelRequest& request) {
    KernelChoice choice;
    choice.name = "python3";
    choice.display_name =
        fmt::format("Python {} ({})", interpreter.version.empty() ? "3" : interpreter.version, interpreter.executable);
    choice.language = "python";
    choice.argv = {interpreter.executable, "-m", "ipykernel_launcher", "-f", std::string(connection_file_mark)};
    choice.from_workspace = is_inside(interpreter.executable, request.workspace);
    choice.interpreter = std::move(interpreter);
    return choice;
}

// The `-m` of `python … -m ipykernel_launcher …`, or the end.
std::vector<std::string>::const_iterator launcher_option(const std::vector<std::string>& argv) {
    for (auto each = argv.begin(); each != argv.end() && each + 1 != argv.end(); ++each) {
        if (*each == "-m") {
            return each[1] == "ipykernel_launcher" || each[1] == "ipykernel" ? each : argv.end();
        }
    }
    return argv.end();
}

// argv[0] of a spec as a path: "python" of a spec that came with an environment is that environment's.
std::string program_of(const Kernelspec& spec, const Environment& environment) {
    const std::string program = replaced(spec.argv.front(), resource_dir_mark, spec.directory);
    if (program.find('/') != std::string::npos) {
        return program;
    }
    const fs::path prefix = fs::path(spec.directory) / "../../../..";
    const fs::path beside = (prefix / "bin" / program).lexically_normal();
    if (program.starts_with("python") && is_program(beside)) {
        return beside;
    }
    return find_program(program, environment).value_or("");
}

KernelChoice choice_of(const Kernelspec& spec, const KernelRequest& request) {
    if (spec.problem) {
        throw Error(ErrorCode::kernel_not_found, fmt::format("the kernelspec {} cannot be used: {}",
                                                             escape_unprintable(spec.directory + "/kernel.json"),
                                                             escape_unprintable(*spec.problem)));
    }
    KernelChoice choice;
    choice.name = spec.name;
    choice.display_name = spec.display_name;
    choice.language = spec.language;
    choice.argv = spec.argv;
    choice.environment = spec.environment;
    choice.interrupt_by_signal = spec.interrupt_by_signal;
    choice.tcp_only = spec.tcp_only;
    choice.resource_dir = spec.directory;
    choice.argv.front() = program_of(spec, request.environment);
    if (!is_program(choice.argv.front())) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("the kernel {} starts {}, which does not exist", spec.name,
                                escape_unprintable(spec.argv.front())),
                    fmt::format("Install it, or remove {}.", escape_unprintable(spec.directory)));
    }
    const auto in_workspace = [&](const std::string& path) {
        return path.starts_with('/') && is_inside(path, request.workspace);
    };
    choice.from_workspace =
        in_workspace(spec.directory) || std::any_of(choice.argv.begin(), choice.argv.end(), in_workspace);
    if (launcher_option(choice.argv) != choice.argv.end()) {
        choice.interpreter = inspect_interpreter(choice.argv.front());
        choice.interrupt_by_signal = false;
    }
    apply_known_program(choice);
    return choice;
}

// The path that a user named: a file, a virtual environment's directory, or a program on PATH.
std::string named_interpreter(const std::string& name, const KernelRequest& request) {
    std::string path;
    if (name.find('/') == std::string::npos) {
        path = find_program(name, request.environment).value_or("");
    } else {
        const fs::path absolute = (fs::path(request.workspace) / name).lexically_normal();
        std::error_code error;
        path = fs::is_directory(absolute, error) ? python_of(absolute) : absolute.string();
    }
    if (!is_program(path)) {
        throw Error(ErrorCode::kernel_not_found,
                    fmt::format("expected a Python interpreter, found no program: {}", escape_unprintable(name)),
                    "Give its absolute path, a virtual environment's directory, or a name on PATH.");
    }
    return path;
}

// Confirms a choice that needs no permission at once.
Task<KernelChoice> settled(async::Loop& loop, KernelChoice choice) {
    if (choice.from_workspace && choice.interpreter && !choice.interpreter->has_ipykernel) {
        co_return choice;
    }
    if (choice.from_workspace && choice.interpreter && !*choice.interpreter->has_ipykernel) {
        throw no_ipykernel(*choice.interpreter, choice.from_workspace); // No permission is needed for that.
    }
    co_return co_await confirm_kernel(loop, std::move(choice));
}

// The first Python that has ipykernel and is not the workspace's.
Task<Interpreter> find_system_interpreter(async::Loop& loop, KernelRequest request) {
    std::function<std::vector<Interpreter>()> of_the_system = [&request] {
        std::vector<Interpreter> found;
        for (const std::string& path : system_interpreters(request)) {
            found.push_back(inspect_interpreter(path));
        }
        return found;
    };
    std::vector<Interpreter> interpreters = co_await loop.run_blocking(std::move(of_the_system));
    std::optional<Interpreter> without;
    for (Interpreter& interpreter : interpreters) {
        if (!interpreter.has_ipykernel) {
            try {
                interpreter = co_await probe_interpreter(loop, interpreter.executable, probe_timeout);
            } catch (const Cancelled&) {
                throw;
            } catch (const Error&) {
                continue; // A shim without a Python behind it is skipped.
            }
        }
        if (interpreter.has_ipykernel.value_or(false)) {
            co_return std::move(interpreter);
        }
        // Without ipykernel, the system's interpreter is the one to suggest: its install command changes no other
        // environment.
        if (!without || interpreter.kind == InterpreterKind::system) {
            without = std::move(interpreter);
        }
    }
    if (without) {
        throw no_ipykernel(*without, false);
    }
    throw Error(ErrorCode::kernel_not_found, "expected a python3 on PATH or in /usr/bin, found none",
                "Install Python with ipykernel: sudo apt install python3-ipykernel");
}

Task<KernelChoice> find_default(async::Loop& loop, KernelRequest request) {
    std::function<std::optional<KernelChoice>()> chosen = [&request]() -> std::optional<KernelChoice> {
        const std::vector<std::string> environments = chosen_environments(request);
        if (environments.empty()) {
            return std::nullopt;
        }
        return choice_of(inspect_interpreter(python_of(environments.front())), request);
    };
    std::optional<KernelChoice> choice = co_await loop.run_blocking(std::move(chosen));
    if (choice) {
        co_return co_await settled(loop, std::move(*choice));
    }
    Interpreter interpreter = co_await find_system_interpreter(loop, request);
    co_return choice_of(std::move(interpreter), request);
}

// Of the programs that need no kernelspec, those that can start; all, or those that run `language`.
Task<std::vector<KernelChoice>> find_program_kernels(async::Loop& loop, KernelRequest request,
                                                     std::optional<std::string> language) {
    std::function<std::vector<KernelChoice>()> look = [&request] { return deno_kernels(request); };
    std::vector<KernelChoice> found = co_await loop.run_blocking(std::move(look));
    if (!language || same_language("bash", *language)) {
        try {
            Interpreter interpreter = co_await find_system_interpreter(loop, request);
            if (std::optional<KernelChoice> bash = bash_kernel(request, std::move(interpreter))) {
                found.push_back(std::move(*bash));
            }
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            // Without ipykernel there is no bash kernel.
        }
    }
    std::erase_if(found,
                  [&](const KernelChoice& choice) { return language && !runs_language(choice.language, *language); });
    co_return found;
}

// The program that `request.interpreter` names, when it needs no kernelspec.
Task<std::optional<KernelChoice>> find_program_at(async::Loop& loop, KernelRequest request) {
    const fs::path path = (fs::path(request.workspace) / *request.interpreter).lexically_normal();
    if (std::optional<KernelChoice> deno = deno_at(path, request)) {
        co_return deno;
    }
    if (path.filename() != "bash") {
        co_return std::nullopt;
    }
    const std::optional<std::string> language = "bash";
    std::vector<KernelChoice> found = co_await find_program_kernels(loop, std::move(request), language);
    co_return found.empty() || found.front().program != path ? std::nullopt : std::optional(std::move(found.front()));
}

Task<KernelChoice> find_named(async::Loop& loop, KernelRequest request) {
    std::vector<std::string> names;
    std::function<std::optional<KernelChoice>()> find = [&request, &names]() -> std::optional<KernelChoice> {
        for (const Kernelspec& spec : specs_for(request)) {
            if (same_kernel_name(spec.name, *request.name)) {
                return choice_of(spec, request);
            }
            names.push_back(spec.name);
        }
        return std::nullopt;
    };
    std::optional<KernelChoice> choice = co_await loop.run_blocking(std::move(find));
    if (choice) {
        co_return co_await settled(loop, std::move(*choice));
    }
    std::vector<KernelChoice> programs = co_await find_program_kernels(loop, request, any_language);
    for (KernelChoice& program : programs) {
        if (same_kernel_name(program.name, *request.name)) {
            co_return std::move(program);
        }
        names.push_back(program.name);
    }
    if (same_kernel_name(*request.name, "python3")) { // Jupyter's name for any Python
        co_return co_await find_default(loop, std::move(request));
    }
    throw Error(ErrorCode::kernel_not_found,
                fmt::format("expected the name of a kernelspec, found \"{}\"", escape_unprintable(*request.name)),
                names.empty() ? "No kernelspec is installed; name an interpreter instead."
                              : fmt::format("Installed are: {}.", fmt::join(names, ", ")));
}

Task<KernelChoice> find_speaker(async::Loop& loop, KernelRequest request) {
    std::set<std::string> languages = {"python"};
    std::function<std::optional<KernelChoice>()> find = [&request, &languages]() -> std::optional<KernelChoice> {
        for (const auto fits : {same_language, runs_language}) {
            for (const Kernelspec& spec : specs_for(request)) {
                if (!spec.problem && fits(spec.language, *request.language)) {
                    return choice_of(spec, request);
                }
                if (!spec.problem) {
                    languages.insert(spec.language);
                }
            }
        }
        return std::nullopt;
    };
    std::optional<KernelChoice> choice = co_await loop.run_blocking(std::move(find));
    if (choice) {
        co_return co_await settled(loop, std::move(*choice));
    }
    std::vector<KernelChoice> programs = co_await find_program_kernels(loop, request, request.language);
    if (programs.empty()) {
        programs = co_await find_program_kernels(loop, request, any_language);
        std::transform(programs.begin(), programs.end(), std::inserter(languages, languages.end()),
                       [](const KernelChoice& each) { return each.language; });
        throw Error(
            ErrorCode::kernel_not_found,
            fmt::format("expected a kernel whose language is {}, found none", escape_unprintable(*request.language)),
            install_hint(*request.language, languages));
    }
    co_return std::move(programs.front());
}

KernelInfo info_of(const KernelChoice& choice, std::string path) {
    KernelInfo info;
    info.name = choice.name;
    info.display_name = choice.display_name;
    info.language = choice.language;
    info.path = std::move(path);
    info.from_workspace = choice.from_workspace;
    if (choice.interpreter && choice.interpreter->has_ipykernel == false) {
        const Error error = no_ipykernel(*choice.interpreter, choice.from_workspace);
        info.problem = fmt::format("{}. {}", error.message, error.hint);
    }
    return info;
}

KernelInfo info_of(const Kernelspec& spec, const KernelRequest& request) {
    try {
        KernelInfo info = info_of(choice_of(spec, request), spec.directory);
        info.is_spec = true;
        return info;
    } catch (const Error& error) {
        KernelInfo info;
        info.name = spec.name;
        info.display_name = spec.display_name;
        info.language = spec.language;
        info.path = spec.directory;
        info.is_spec = true;
        info.problem = error.message;
        return info;
    }
}

} // namespace

Task<KernelChoice> find_kernel(async::Loop& loop, KernelRequest request) {
    if (request.interpreter) {
        std::optional<KernelChoice> program = co_await find_program_at(loop, request);
        if (program) {
            co_return std::move(*program);
        }
        std::function<KernelChoice()> look = [&request] {
            return choice_of(inspect_interpreter(named_interpreter(*request.interpreter, request)), request);
        };
        KernelChoice choice = co_await loop.run_blocking(std::move(look));
        co_return co_await settled(loop, std::move(choice));
    }
    if (request.name) {
        co_return co_await find_named(loop, std::move(request));
    }
    if (request.language && request.language != "python") {
        co_return co_await find_speaker(loop, std::move(request));
    }
    co_return co_await find_default(loop, std::move(request));
}

Task<KernelChoice> confirm_kernel(async::Loop& loop, KernelChoice choice) {
    if (!choice.interpreter || choice.interpreter->has_ipykernel.value_or(false)) {
        co_return choice;
    }
    const std::string path = choice.interpreter->executable;
    choice.interpreter = co_await probe_interpreter(loop, path, probe_timeout);
    if (!choice.interpreter->has_ipykernel.value_or(false)) {
        throw no_ipykernel(*choice.interpreter, choice.from_workspace);
    }
    choice.argv.front() = choice.interpreter->executable;
    co_return choice;
}

std::vector<std::string> folders_of(const KernelChoice& choice) {
    std::vector<std::string> folders;
    const auto add = [&folders](const std::string& path) {
        std::error_code error;
        const std::string real = path.empty() ? std::string() : fs::canonical(path, error).string();
        if (!error && !real.empty() && std::find(folders.begin(), folders.end(), real) == folders.end()) {
            folders.push_back(real);
        }
    };
    if (choice.interpreter) {
        add(choice.interpreter->prefix);
        add(choice.interpreter->base_prefix);
    }
    add(choice.resource_dir);
    if (!choice.from_workspace) { // a link of the workspace must not be able to show what is outside of it
        add(choice.program);
    }
    return folders;
}

std::vector<std::string> launch_argv(KernelChoice choice, const std::string& connection_file,
                                     const std::string& bootstrap) {
    const auto option = launcher_option(choice.argv);
    if (option != choice.argv.end()) {
        const auto at = choice.argv.begin() + (option - choice.argv.cbegin());
        *at = bootstrap;
        choice.argv.erase(at + 1);
    }
    return launch_argv(choice, connection_file);
}

std::vector<std::string> launch_argv(const KernelChoice& choice, const std::string& connection_file) {
    std::vector<std::string> argv = choice.argv;
    for (std::string& argument : argv) {
        argument = replaced(replaced(std::move(argument), resource_dir_mark, choice.resource_dir), connection_file_mark,
                            connection_file);
    }
    return argv;
}

Task<std::vector<KernelInfo>> list_kernels(async::Loop& loop, KernelRequest request) {
    std::vector<KernelInfo> kernels;
    std::vector<KernelChoice> choices;
    std::function<void()> look = [&] {
        for (const Kernelspec& spec : specs_for(request)) {
            kernels.push_back(info_of(spec, request));
        }
        std::vector<std::string> interpreters = system_interpreters(request);
        const std::vector<std::string> environments = chosen_environments(request);
        std::transform(environments.begin(), environments.end(), std::inserter(interpreters, interpreters.begin()),
                       python_of);
        for (const std::string& path : interpreters) {
            choices.push_back(choice_of(inspect_interpreter(path), request));
        }
    };
    co_await loop.run_blocking(std::move(look));
    for (KernelChoice& choice : choices) {
        const std::string path = choice.interpreter->executable;
        std::optional<std::string> problem;
        if (!choice.from_workspace && !choice.interpreter->has_ipykernel) {
            try {
                Interpreter probed = co_await probe_interpreter(loop, path, probe_timeout);
                choice = choice_of(std::move(probed), request);
            } catch (const Cancelled&) {
                throw;
            } catch (const Error& error) {
                problem = error.message;
            }
        }
        KernelInfo info = info_of(choice, path);
        info.name = path;
        if (problem) {
            info.problem = std::move(problem);
        }
        kernels.push_back(std::move(info));
    }
    const std::vector<KernelChoice> programs = co_await find_program_kernels(loop, std::move(request), any_language);
    for (const KernelChoice& program : programs) {
        kernels.push_back(info_of(program, program.program));
    }
    co_return kernels;
}

} // namespace cellgate::jupyter
