#include "program_kernels.hpp"

#include "base/environment.hpp"
#include "jupyter/deno.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

namespace cellgate::jupyter {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view deno_name = "deno";
constexpr std::string_view bash_name = "bash";

} // namespace

std::optional<KernelChoice> deno_at(const fs::path& path, const KernelRequest& request) {
    const std::string program = path;
    if (path.filename() != deno_name || !path.is_absolute() || !is_program(program)) {
        return std::nullopt;
    }
    KernelChoice choice;
    choice.name = deno_name;
    choice.display_name = fmt::format("Deno ({})", program);
    choice.language = "typescript";
    choice.argv = {program, "jupyter", "--kernel", "--conn", std::string(connection_file_mark)};
    choice.from_workspace = is_inside(program, request.workspace);
    apply_known_program(choice);
    return choice;
}

std::vector<KernelChoice> deno_kernels(const KernelRequest& request) {
    std::vector<std::string> folders = search_path(request.environment);
    folders.insert(folders.begin(), fs::path(request.workspace) / "node_modules/.bin");
    std::vector<KernelChoice> found;
    std::set<fs::path> seen;
    for (const std::string& folder : folders) {
        const fs::path program = fs::path(folder) / deno_name;
        std::error_code error;
        const fs::path real = fs::canonical(program, error);
        std::optional<KernelChoice> deno = error ? std::nullopt : deno_at(program, request);
        if (deno && seen.insert(real).second) {
            deno->name = found.empty() ? deno->name : deno->program; // each name once
            found.push_back(std::move(*deno));
        }
    }
    return found;
}

std::optional<Deno> find_deno(const std::string& workspace, const Environment& environment) {
    KernelRequest request;
    request.workspace = workspace;
    request.environment = environment;
    for (const KernelChoice& choice : deno_kernels(request)) {
        std::error_code error;
        const std::string real = fs::canonical(choice.program, error);
        if (!error && (!choice.from_workspace || is_inside(real, workspace))) {
            return Deno{choice.program, real};
        }
    }
    return std::nullopt;
}

std::optional<KernelChoice> bash_kernel(const KernelRequest& request, Interpreter interpreter) {
    const std::optional<std::string> program = find_program(std::string(bash_name), request.environment);
    if (!program || is_inside(*program, request.workspace)) {
        return std::nullopt;
    }
    KernelChoice choice;
    choice.name = bash_name;
    choice.display_name = "Bash (cellgate)";
    choice.language = bash_name;
    choice.argv = {interpreter.executable, "-I", "bash_kernel.py", "-f", std::string(connection_file_mark)};
    choice.interpreter = std::move(interpreter);
    choice.kind = KernelKind::bash;
    choice.program = *program;
    return choice;
}

void apply_known_program(KernelChoice& choice) {
    if (fs::path(choice.argv.front()).filename() == deno_name) {
        choice.kind = KernelKind::deno;
        choice.program = choice.argv.front();
        choice.tcp_only = true;
        choice.interrupt_by_signal = false; // a signal ends it
    }
}

KernelChoice choice_in_image(std::string executable) {
    KernelChoice choice;
    choice.name = "python3";
    choice.display_name = fmt::format("Python 3 ({})", executable);
    choice.language = "python";
    choice.argv = {executable, "-m", "ipykernel_launcher", "-f", std::string(connection_file_mark)};
    choice.interpreter.emplace();
    choice.interpreter->executable = std::move(executable);
    choice.interpreter->has_ipykernel = true; // or its start fails, and says so
    return choice;
}

} // namespace cellgate::jupyter
