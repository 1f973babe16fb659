#include "cli/cli.hpp"

#include "async/supervise.hpp"
#include "base/error.hpp"
#include "base/visible_text.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace cellgate::cli {

namespace {

void explain(const Error& error) {
    fmt::print(stderr, "cellgate: {}\n", visible_text(error.message, true));
    if (!error.hint.empty()) {
        fmt::print(stderr, "  {}\n", visible_text(error.hint, true));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "supervise") {
        return async::supervise_main(argc - 1, argv + 1);
    }
    CLI::App app("Runs agent-written code in a sandboxed Jupyter kernel; nothing leaves it before you said yes.",
                 "cellgate");
    app.set_version_flag("--version", "cellgate " CELLGATE_VERSION);
    app.require_subcommand(1);
    Run run;
    add_run(app, run);
    add_generate(app, run);
    add_call(app, run);
    add_kernels(app, run);
    add_doctor(app, run);
    add_demo(app, run);
    add_serve(app, run);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : 2;
    }
    try {
        return run();
    } catch (const Error& error) {
        explain(error);
        return 1;
    } catch (const std::exception& error) {
        explain(Error(ErrorCode::internal_error, error.what()));
        return 1;
    }
}

} // namespace cellgate::cli
