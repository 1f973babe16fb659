#include "images/images.hpp"

#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "image_folders.hpp"
#include "podman.hpp"
#include "sandbox/build_run.hpp"
#include "store/locked_temp_dir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace cellgate::images {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view label = "cellgate.unpack"; // of containers that are made to be read
constexpr const char* usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// By which programs find programs, libraries and modules; and the language.
constexpr std::array taken_over = {
    "PATH",        "LANG",         "LANGUAGE",          "TZ",        "PYTHONPATH", "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "JAVA_HOME", "CUDA_HOME",  "R_HOME"};

Environment environment_of(const Environment& configured) {
    Environment taken = {{"PATH", usual_path}};
    for (const auto& [name, value] : configured) {
        if (name.starts_with("LC_") || std::find(taken_over.begin(), taken_over.end(), name) != taken_over.end()) {
            taken[name] = value;
        }
    }
    return taken;
}

ImageFolders folders_in(const store::Directories& directories) {
    ImageFolders folders(directories.data + "/images");
    make_private_directory(directories.data);
    make_private_directory(folders.folder());
    return folders;
}

// As podman lists it.
struct PodmanListed {
    std::string id;
    std::optional<std::vector<std::string>> names;
    std::uint64_t bytes = 0;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("Id", self.id);
        visit("Names", self.names);
        visit("Size", self.bytes);
    }
};

// Splits podman's lines "<id> <folder>".
std::vector<std::string> containers_left(const std::string& lines) {
    std::vector<std::string> left;
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        const std::string line = lines.substr(at, end - at);
        at = end + 1;
        const std::size_t space = line.find(' ');
        std::error_code error;
        if (space != std::string::npos && !fs::exists(line.substr(space + 1), error) &&
            is_identifier(line.substr(0, space))) {
            left.push_back(line.substr(0, space));
        }
    }
    return left;
}

// One image's files on their way from podman into a folder.
struct Unpacking {
    async::Loop& loop;
    const Environment& environment;
    std::vector<std::string> hidden;
    std::string folder; // of a LockedTempDir; image.tar, and the image's folder as `image`
    std::string container = {};

    // Of a sidecar that was killed while it unpacked: its folder is gone already.
    Task<void> remove_containers_left() {
        std::vector<std::string> list = {"ps",       "--all",
                                         "--filter", fmt::format("label={}", label),
                                         "--format", fmt::format("{{{{.ID}}}} {{{{index .Labels \"{}\"}}}}", label)};
        const std::string lines = co_await ask_podman(loop, environment, std::move(list));
        for (const std::string& id : containers_left(lines)) {
            std::vector<std::string> remove = {"rm", "--force", id};
            co_await ask_podman(loop, environment, std::move(remove));
        }
    }

    // A container that never runs: podman exports the files of those alone.
    Task<void> export_files(std::string id) {
        std::vector<std::string> create = {
            "create", "--pull=never", "--network=none", fmt::format("--label={}={}", label, folder), id, "/nothing"};
        container = co_await ask_podman(loop, environment, std::move(create));
        container.erase(container.find_last_not_of('\n') + 1);
        std::vector<std::string> save = {"export", fmt::format("--output={}/image.tar", folder), container};
        co_await ask_podman(loop, environment, std::move(save));
    }

    Task<void> remove_container() {
        if (!container.empty()) {
            std::vector<std::string> remove = {"rm", "--force", container};
            co_await ask_podman(loop, environment, std::move(remove));
        }
    }

    // In a sandbox: what is in the archive is the image's word.
    Task<void> extract() {
        fs::create_directories(folder + "/image/root");
        async::Command command;
        const std::string place = sandbox::build_place;
        command.argv = {"/bin/tar",
                        "--extract",
                        fmt::format("--file={}/image.tar", place),
                        fmt::format("--directory={}/image/root", place),
                        "--no-same-owner",
                        "--no-same-permissions",
                        "--delay-directory-restore",
                        "--anchored",
                        "--exclude=dev/*",
                        "--exclude=proc/*",
                        "--exclude=sys/*"};
        sandbox::BuildProfile profile;
        profile.directory = folder;
        profile.workspace = folder;
        profile.hidden = hidden;
        std::function<void(const std::string&)> ignore = [](const std::string&) {};
        std::string no_input;
        const sandbox::BuildRun ran = co_await sandbox::run_build(loop, std::move(command), std::move(profile),
                                                                  environment, std::move(no_input), std::move(ignore));
        if (!ran.status.success()) {
            const std::string said = ran.errors.substr(0, ran.errors.find('\n'));
            throw Error(ErrorCode::config_invalid, fmt::format("its files could not be unpacked ({}): {}",
                                                               ran.status.describe(), escape_unprintable(said)));
        }
    }

    Task<void> run(std::string id) {
        co_await remove_containers_left();
        co_await finally(export_files(std::move(id)), remove_container());
        co_await extract();
    }
};

} // namespace

Task<void> Images::unpack(std::string name, std::string id) {
    const ImageFolders folders = folders_in(directories_);
    std::function<store::LockedTempDir()> make = [&folders] {
        return store::make_locked_temp_dir(folders.folder(), temporary_prefix);
    };
    const store::LockedTempDir temporary = co_await loop_.run_blocking(std::move(make));
    std::function<void()> clean = [&temporary] { store::remove_tree(temporary.path); };
    Unpacking unpacking{loop_, environment_, directories_.all(), temporary.path};
    try {
        co_await on_failure(unpacking.run(id), loop_.run_blocking(clean));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        throw Error(error.code, fmt::format("the image {} cannot be used: {}", name, error.message), error.hint);
    }
    std::function<void()> add = [&folders, &temporary, &clean, &name, &id] {
        folders.add(temporary.path + "/image", {id, name});
        clean();
    };
    co_await shielded(loop_.run_blocking(std::move(add)));
}

Task<std::shared_ptr<const sandbox::Image>> Images::open(std::string name, Report report) {
    PodmanImage found = co_await inspect_image(loop_, environment_, name);
    const auto image = std::make_shared<sandbox::Image>();
    image->name = name;
    image->id = std::move(found.id);
    image->environment = environment_of(found.environment);
    std::function<bool()> use = [this, &image] {
        const ImageFolders folders = folders_in(directories_);
        std::optional<UniqueFd> lock = folders.use(image->id);
        if (lock) {
            image->lock = std::move(*lock);
            image->root = fs::canonical(folders.root_of(image->id));
        }
        return lock.has_value();
    };
    constexpr int max_tries = 3; // others may remove it each time
    for (int tries = 0; tries < max_tries; ++tries) {
        const bool is_there = co_await loop_.run_blocking(use);
        if (is_there) {
            co_return image;
        }
        report(fmt::format("unpacking the image {}", name));
        co_await unpack(name, image->id);
    }
    throw Error(ErrorCode::config_invalid,
                fmt::format("the files of the image {} are removed while they are unpacked", name));
}

Task<std::vector<ListedImage>> Images::list() {
    std::vector<std::string> arguments = {"image", "list", "--format", "json"};
    const std::string answer = co_await ask_podman(loop_, environment_, std::move(arguments));
    const auto listed = from_json<std::vector<PodmanListed>>(RawJson::parse(answer), "podman's answer");
    std::function<std::vector<UnpackedImage>()> look = [this] { return folders_in(directories_).all(); };
    std::vector<UnpackedImage> unpacked = co_await loop_.run_blocking(std::move(look));
    std::vector<ListedImage> images;
    for (const PodmanListed& each : listed) {
        const bool is_unpacked =
            std::erase_if(unpacked, [&](const UnpackedImage& one) { return one.id == each.id; }) != 0;
        for (const std::string& name : each.names.value_or(std::vector<std::string>())) {
            images.push_back({name, each.id, each.bytes, true, is_unpacked});
        }
    }
    for (UnpackedImage& left : unpacked) {
        images.push_back({std::move(left.name), std::move(left.id), 0, false, true});
    }
    co_return images;
}

Task<void> Images::remove(std::string name) {
    std::optional<std::string> id;
    try {
        const PodmanImage found = co_await inspect_image(loop_, environment_, name);
        id = found.id;
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // podman may have it no longer.
    }
    std::function<void()> work = [this, &id, &name] {
        const ImageFolders folders = folders_in(directories_);
        const std::vector<UnpackedImage> all = folders.all();
        const auto found = std::find_if(all.begin(), all.end(), [&](const UnpackedImage& each) {
            return id ? each.id == *id : each.name == name || each.id.starts_with(name);
        });
        if (found == all.end()) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("expected an image that was unpacked, found {}", escape_unprintable(name)),
                        "`cellgate image list` says which were. `podman image rm NAME` removes an image from podman.");
        }
        if (!folders.remove(found->id)) {
            throw Error(ErrorCode::busy, fmt::format("the files of the image {} are in use", found->name),
                        "Close the sessions that have it: `cellgate session list`.");
        }
    };
    co_await shielded(loop_.run_blocking(std::move(work)));
}

Task<int> Images::build(BuildOptions options, std::function<void(const std::string& bytes)> on_output) {
    std::vector<std::string> arguments = {"build", "--tag", options.tag, "--file", options.file};
    if (!options.network) {
        arguments.insert(arguments.end(), {"--network=none", "--pull=never"});
    }
    arguments.push_back(options.folder);
    const PodmanRun run =
        co_await run_podman(loop_, environment_, std::move(arguments), std::move(on_output), Streams::joined);
    co_return run.status.signal == 0 ? run.status.code : 128 + run.status.signal;
}

} // namespace cellgate::images
