#include "checks/code_checks.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/paths.hpp"
#include "base/private_files.hpp"
#include "base/sync.hpp"
#include "checker_files.hpp"
#include "jupyter/deno.hpp"
#include "jupyter/kernel_choice.hpp"
#include "jupyter/language_names.hpp"
#include "packages/module_packages.hpp"
#include "packages/npm_packages.hpp"
#include "packages/packages.hpp"
#include "sandbox/build_run.hpp"
#include "store/locked_temp_dir.hpp"
#include "tools/program_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::checks {

namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 30s;
constexpr std::size_t max_answer_bytes = std::size_t{4} << 20;
// An isolated Python does not look for modules beside the file that it runs.
constexpr const char* starter = R"(import runpy, sys
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[1] + "/check.py", run_name="__main__"))";

// A language with its checkers' programs; "python" is the interpreter.
struct Checked {
    std::string_view language;
    std::array<std::string_view, 2> programs;
};

constexpr Checked checked_languages[] = {
    {"python", {"pyright", "node"}},
    {"typescript", {"deno", ""}},
    {"javascript", {"deno", ""}},
    {"bash", {"bash", "shellcheck"}},
};

const Checked* find_checked(const std::string& language) {
    const auto* const found =
        std::find_if(std::begin(checked_languages), std::end(checked_languages),
                     [&](const Checked& each) { return jupyter::same_language(each.language, language); });
    return found == std::end(checked_languages) ? nullptr : found;
}

protocol::ValidateResult read_answer(const std::string& answer, bool python) {
    protocol::ValidateResult result =
        from_json<protocol::ValidateResult>(RawJson::parse(answer), "the checker's answer");
    for (protocol::Diagnostic& each : result.diagnostics) {
        each.message = escape_unprintable(each.message);
        each.rule = escape_unprintable(each.rule);
        if (each.install && python) {
            std::transform(each.install->begin(), each.install->end(), each.install->begin(), packages::package_of);
        }
    }
    return result;
}

} // namespace

// What check.py reads.
struct CodeChecks::Asked {
    std::string language;
    std::string code;
    bool types = true;
    std::vector<std::string> context;
    bool profile = false;
    std::optional<std::vector<std::string>> modules;
    std::string workspace;
    std::string packages;
    std::string npm;
    std::string folder = sandbox::build_place;
    std::map<std::string, std::string> programs;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("language", self.language);
        visit("code", self.code);
        visit("types", self.types);
        visit("context", self.context);
        visit("profile", self.profile);
        visit("modules", self.modules);
        visit("workspace", self.workspace);
        visit("packages", self.packages);
        visit("folder", self.folder);
        visit("programs", self.programs);
    }
};

CodeChecks::CodeChecks(async::Loop& loop, const store::Directories& directories, std::string root,
                       Environment environment)
    : loop_(loop), directories_(directories), root_(std::move(root)), environment_(std::move(environment)) {}

Task<packages::Python> CodeChecks::find_python() const {
    jupyter::KernelRequest request;
    request.language = "python";
    request.workspace = root_;
    request.environment = environment_;
    const jupyter::KernelChoice choice = co_await jupyter::find_kernel(loop_, std::move(request));
    std::optional<packages::Python> python = packages::python_of(choice);
    if (!python) {
        throw Error(ErrorCode::kernel_not_found, "code is looked at by a Python interpreter, and none was found",
                    "sudo apt install python3-ipykernel");
    }
    co_return std::move(*python);
}

Task<Environment> CodeChecks::find_programs(const std::string* language) const {
    std::function<Environment()> look = [this, language] {
        Environment places = environment_;
        places["PATH"] = root_ + "/node_modules/.bin:" + places["PATH"];
        Environment programs;
        for (const std::string_view name : find_checked(*language)->programs) {
            std::optional<std::string> found;
            if (name == "deno") {
                const std::optional<jupyter::Deno> deno = jupyter::find_deno(root_, environment_);
                found = deno ? std::optional(deno->program) : std::nullopt;
            } else if (!name.empty()) {
                found = find_program(std::string(name), places);
            }
            if (found) {
                programs.emplace(name, *found);
            }
        }
        return programs;
    };
    co_return co_await loop_.run_blocking(std::move(look));
}

sandbox::BuildProfile CodeChecks::profile(const packages::Python& python, const Asked& asked,
                                          const std::string& folder) const {
    sandbox::BuildProfile profile;
    profile.directory = folder;
    profile.workspace = root_;
    profile.shows_workspace = true;
    profile.packages = asked.packages;
    profile.node_modules = asked.npm;
    profile.read_only = python.folders;
    for (const auto& [name, program] : asked.programs) {
        for (std::string& each : tools::program_folders(program, environment_, root_)) {
            if (!is_within(each, root_)) {
                profile.read_only.push_back(std::move(each));
            }
        }
    }
    profile.hidden = directories_.all();
    profile.image = python.image;
    return profile;
}

Task<CodeChecks::Asked> CodeChecks::ask(CheckRequest request) const {
    Asked asked;
    if (request.types || !jupyter::same_language(request.language, "python")) {
        asked.programs = co_await find_programs(&request.language);
    }
    asked.language = find_checked(request.language)->language;
    asked.code = std::move(request.code);
    asked.types = request.types;
    asked.context = std::move(request.context);
    asked.profile = request.has_profile;
    asked.modules = std::move(request.modules);
    asked.workspace = root_;
    co_return asked;
}

Task<std::string> CodeChecks::run(CheckRequest request) {
    packages::Python python;
    // The machine's programs do not run in an image.
    const bool of_image = request.python && request.python->image;
    const bool in_image = of_image && jupyter::same_language(request.language, "python");
    if (request.python && (in_image || !of_image)) {
        python = *request.python;
    } else {
        python = co_await find_python();
    }
    request.types = request.types && !in_image;
    Asked asked = co_await ask(std::move(request));
    std::function<store::LockedTempDir()> make = [this, &asked, &python] {
        asked.packages = python.image ? std::string() : packages::Packages(directories_, root_, python).shown();
        asked.npm = packages::NpmPackages(directories_, root_).shown();
        store::LockedTempDir made = store::make_locked_temp_dir(directories_.runtime, "c-");
        for (const CheckerFile& file : checker_files) {
            write_new_file(made.path + "/" + file.name, file.text);
        }
        return made;
    };
    const store::LockedTempDir folder = co_await loop_.run_blocking(std::move(make));
    async::Command command;
    command.argv = {python.executable, "-I", "-B", "-c", starter, sandbox::build_place};
    command.environment["TMPDIR"] = sandbox::build_place;
    std::string answer;
    std::function<void(const std::string&)> take = [&answer](const std::string& bytes) {
        answer += answer.size() <= max_answer_bytes ? bytes : "";
    };
    std::function<void()> clean = [path = folder.path] { store::remove_tree(path); };
    sandbox::BuildProfile shown = profile(python, asked, folder.path);
    std::string input = to_json(asked);
    const sandbox::BuildRun ran = co_await finally(sandbox::run_build(loop_, std::move(command), std::move(shown),
                                                                      environment_, std::move(input), std::move(take)),
                                                   loop_.run_blocking(std::move(clean)));
    if (!ran.status.success() || answer.size() > max_answer_bytes) {
        const std::string errors = ran.errors.substr(0, ran.errors.find_last_not_of('\n') + 1);
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("the code could not be looked at: the checker ended with {}: {}", ran.status.describe(),
                                escape_unprintable(errors.substr(errors.rfind('\n') + 1, 300))));
    }
    co_return answer;
}

Task<protocol::ValidateResult> CodeChecks::check(CheckRequest request) {
    if (find_checked(request.language) == nullptr) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("there is no checker for {}", escape_unprintable(request.language)),
                    "Python, TypeScript, JavaScript and bash have one");
    }
    const bool python = jupyter::same_language(request.language, "python");
    const std::optional<std::string> answer = co_await with_timeout(loop_.clock(), patience, run(std::move(request)));
    if (!answer) {
        throw Error(ErrorCode::limit_exceeded, "looking at the code took longer than 30 seconds");
    }
    co_return read_answer(*answer, python);
}

} // namespace cellgate::checks
