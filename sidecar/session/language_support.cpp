#include "language_support.hpp"

#include "bash_support.hpp"
#include "plain_support.hpp"
#include "python_support.hpp"
#include "r_support.hpp"
#include "typescript_support.hpp"

namespace cellgate::session {

std::unique_ptr<LanguageSupport> make_language_support(const jupyter::KernelChoice& choice,
                                                       std::shared_ptr<const sandbox::Image> image) {
    if (choice.kind == jupyter::KernelKind::deno) {
        return std::make_unique<TypescriptSupport>(choice);
    }
    if (choice.kind == jupyter::KernelKind::bash) {
        return std::make_unique<BashSupport>(choice);
    }
    if (choice.interpreter || choice.language == "python") {
        return std::make_unique<PythonSupport>(choice, std::move(image));
    }
    if (choice.language == "R") {
        return std::make_unique<RSupport>(choice);
    }
    return std::make_unique<PlainSupport>(choice);
}

void add_wrapper_path(Environment& environment, const LaunchPlace& place) {
    if (place.imports_workspace && place.cwd != place.workspace) {
        std::string& path = environment["PYTHONPATH"];
        path = path.empty() ? place.workspace : path + ":" + place.workspace;
    }
}

} // namespace cellgate::session
