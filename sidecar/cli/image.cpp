// `cellgate image`: the images of containers that sessions can run in.

#include "base/escape_unprintable.hpp"
#include "base/names.hpp"
#include "commands.hpp"
#include "images/images.hpp"
#include "json_output.hpp"
#include "run_on_loop.hpp"
#include "store/directories.hpp"
#include "until_interrupted.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* about = R"(An image's files are the system of a session's sandbox, in place of the machine's:
  cellgate image build . --tag analysis
  cellgate run first.py --image analysis

podman holds and builds images; it is not there while code runs. The sandbox around that code is cellgate's own, with all
that it asks you about. An image needs Python with ipykernel.)";

struct ImageArguments {
    std::string name; // of an image, or the path that is built
    std::string tag;
    bool network = false;
    bool json = false;
    int exit_code = 0;
};

struct Context {
    async::Loop& loop;
    Environment environment = process_environment();
    store::Directories directories = store::find_directories(environment);
    images::Images images{loop, directories, environment};
};

images::BuildOptions build_options(const ImageArguments& arguments) {
    if (!is_image_name(arguments.tag)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected a name for the image, found \"{}\"", escape_unprintable(arguments.tag)),
                    "Such as --tag analysis:3.");
    }
    images::BuildOptions options;
    options.tag = arguments.tag;
    options.network = arguments.network;
    const fs::path path = fs::canonical(arguments.name);
    options.folder = fs::is_directory(path) ? path : path.parent_path();
    options.file = path;
    if (fs::is_directory(path)) {
        const bool is_podmans = fs::exists(path / "Containerfile");
        options.file = path / (is_podmans ? "Containerfile" : "Dockerfile");
        if (!fs::exists(options.file)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("expected a Containerfile or a Dockerfile in {}, found none",
                                    escape_unprintable(path.native())),
                        "Write one, or name its path.");
        }
    }
    return options;
}

Task<void> build(Context* context, ImageArguments* arguments) {
    std::FILE* stream = arguments->json ? stderr : stdout;
    std::function<void(const std::string&)> print = [stream](const std::string& bytes) {
        fmt::print(stream, "{}", escape_unprintable(bytes, true));
        std::fflush(stream);
    };
    images::BuildOptions options = build_options(*arguments);
    arguments->exit_code = 130; // of what was interrupted
    arguments->exit_code = co_await context->images.build(std::move(options), std::move(print));
    if (arguments->json) {
        print_json({{"name", arguments->tag}, {"exitCode", arguments->exit_code}});
    }
}

std::string size_text(std::uint64_t bytes) {
    constexpr double mebibyte = 1 << 20;
    return bytes == 0 ? std::string() : fmt::format("{:.0f} MiB", static_cast<double>(bytes) / mebibyte);
}

Task<void> list(Context* context, ImageArguments* arguments) {
    const std::vector<images::ListedImage> images = co_await context->images.list();
    constexpr std::size_t short_id = 12;
    for (const images::ListedImage& image : images) {
        if (arguments->json) {
            print_json({{"name", image.name},
                        {"id", image.id},
                        {"bytes", image.bytes},
                        {"unpacked", image.unpacked},
                        {"inPodman", image.in_podman}});
            continue;
        }
        fmt::print("{}  {}  {}{}{}\n", escape_unprintable(image.name), escape_unprintable(image.id.substr(0, short_id)),
                   size_text(image.bytes), image.unpacked ? "  unpacked" : "",
                   image.in_podman ? "" : ", and podman has it no longer: cellgate image remove");
    }
    if (images.empty() && !arguments->json) {
        fmt::print("podman has no image here. `cellgate image build DIR --tag NAME` makes one, `podman pull NAME` "
                   "fetches one.\n");
    }
}

Task<void> remove(Context* context, ImageArguments* arguments) {
    co_await context->images.remove(arguments->name);
    if (arguments->json) {
        print_json(Json::object());
    }
}

using Action = Task<void> (*)(Context* context, ImageArguments* arguments);

Task<void> run_action(async::Loop* loop, ImageArguments* arguments, Action action) {
    Context context{*loop};
    co_await until_interrupted(loop, action(&context, arguments));
}

void run_by(CLI::App* command, std::shared_ptr<ImageArguments> arguments, Action action, Invocation& invocation) {
    add_json(*command, arguments->json);
    run_on_loop(*command, invocation, std::move(arguments),
                [action](async::Loop* loop, ImageArguments* parsed) { return run_action(loop, parsed, action); });
}

} // namespace

void add_image(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<ImageArguments>();
    CLI::App* group = app.add_subcommand("image", "Build, list and remove the images that sessions can run in");
    group->require_subcommand(1);
    group->footer(about);

    CLI::App* command = group->add_subcommand("build", "Build an image from a Containerfile, without a network");
    command->add_option("DIR|FILE", arguments->name, "A folder with a Containerfile or a Dockerfile, or such a file")
        ->required()
        ->check(existing_path())
        ->type_name("");
    command->add_option("--tag", arguments->tag, "The image's name")->required()->type_name("NAME");
    command->add_flag("--network", arguments->network,
                      "Let the build use the network, and pull the image that it begins with");
    run_by(command, arguments, build, invocation);

    run_by(group->add_subcommand("list", "List podman's images, and what is unpacked of them"), arguments, list,
           invocation);

    command = group->add_subcommand("remove", "Remove an image's unpacked files; podman keeps the image");
    command->add_option("NAME", arguments->name, "Its name, or the beginning of its id")->required()->type_name("");
    run_by(command, arguments, remove, invocation);
}

} // namespace cellgate::cli
