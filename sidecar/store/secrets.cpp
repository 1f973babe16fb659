#include "store/secrets.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/regular_file.hpp"
#include "secret_command.hpp"
#include "store/env_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cellgate::store {

// As it is written into the file: one of `value`, `command` and `path`.
struct Secrets::Kept {
    std::string name;
    std::optional<std::string> workspace; // its key; nothing: for all of them
    std::string set_at;
    std::optional<std::string> value;
    std::optional<std::vector<std::string>> command;
    std::optional<std::string> path;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("workspace", self.workspace);
        visit("setAt", self.set_at);
        visit("value", self.value);
        visit("command", self.command);
        visit("file", self.path);
    }
    bool is(const std::string& other_name, const std::optional<std::string>& other_workspace) const {
        return name == other_name && workspace == other_workspace;
    }
};

struct Secrets::KeptFile {
    std::int64_t version = 1;
    std::vector<Kept> secrets;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("version", self.version);
        visit("secrets", self.secrets);
    }

    // `text`: what `file` was decrypted to. No secret is lost because a file cannot be read: it is not replaced then.
    static KeptFile parse(const SecretFile& file, const SecretFile::Version& version,
                          const std::optional<std::string>& text) {
        if (version == SecretFile::Version{}) {
            return {};
        }
        try {
            KeptFile found = from_json<KeptFile>(RawJson::parse(text.value_or("")), "secrets");
            if (found.version == KeptFile{}.version) {
                return found;
            }
        } catch (const Error&) {
            // Its words would quote the text.
        }
        throw Error(ErrorCode::store_failed, fmt::format("the secrets in {} cannot be read", file.path()),
                    "Another version of cellgate wrote them, or the file or its key is damaged: move both away, and "
                    "add the secrets again.");
    }
};

// A command that runs, or what it printed.
struct Secrets::Run {
    std::string value;
    std::exception_ptr error;
    Event done;
};

namespace {

constexpr std::size_t max_env_file_bytes = std::size_t{1} << 20;

std::string value_in_file(const SecretEntry& entry) {
    const auto failed = [&](const std::string& why) {
        return Error(ErrorCode::store_failed, fmt::format("the secret {}: {}", entry.name, why),
                     "It is read from a file of NAME=value lines.");
    };
    const std::string shown = escape_unprintable(entry.file);
    const RegularFile file = read_regular_file(entry.file, max_env_file_bytes + 1);
    if (file.error != 0) {
        throw failed(system_error(ErrorCode::store_failed, "cannot read " + shown, file.error).message);
    }
    if (file.bytes.size() > max_env_file_bytes) {
        throw failed(fmt::format("expected {} to have at most {} bytes", shown, max_env_file_bytes));
    }
    std::optional<std::string> value = env_file_value(file.bytes, entry.name);
    if (!value) {
        throw failed(fmt::format("{} has no line {}=…", shown, entry.name));
    }
    return std::move(*value);
}

} // namespace

Secrets::Secrets(async::Loop& loop, Clock& clock, Options options)
    : loop_(loop), clock_(clock), options_(std::move(options)),
      file_(options_.directory, "secrets", "no secret can be used") {}

Secrets::~Secrets() = default;

bool Secrets::is_known(const Kept& kept) const {
    return !kept.workspace || *kept.workspace == options_.workspace;
}

SecretEntry Secrets::entry_of(const Kept& kept) const {
    SecretEntry entry;
    entry.name = kept.name;
    entry.scope = kept.workspace ? SecretScope::workspace : SecretScope::user;
    entry.set_at = kept.set_at;
    if (kept.command) {
        entry.source = SecretSource::command;
        entry.command = *kept.command;
    } else if (kept.path) {
        entry.source = SecretSource::file;
        entry.file = *kept.path;
    }
    return entry;
}

Task<Secrets::KeptFile> Secrets::read() {
    std::function<KeptFile()> work = [this] {
        const SecretFile::Version version = file_.version();
        return KeptFile::parse(file_, version, file_.read());
    };
    co_return co_await loop_.run_blocking(std::move(work));
}

Task<void> Secrets::change(Change change) {
    std::function<void()> work = [this, &change] {
        file_.replace([&](const std::optional<std::string>& text) {
            KeptFile kept = KeptFile::parse(file_, file_.version(), text);
            change(kept);
            return to_json(kept);
        });
    };
    co_await shielded(loop_.run_blocking(std::move(work)));
}

Task<std::vector<SecretEntry>> Secrets::list() {
    const KeptFile kept = co_await read();
    std::vector<SecretEntry> entries;
    for (const Kept& each : kept.secrets) {
        if (is_known(each)) {
            entries.push_back(entry_of(each));
        }
    }
    for (const auto& [name, value] : options_.from_environment) {
        const bool hidden = std::any_of(kept.secrets.begin(), kept.secrets.end(),
                                        [&name = name](const Kept& each) { return each.is(name, std::nullopt); });
        if (!hidden) {
            SecretEntry entry;
            entry.name = name;
            entry.source = SecretSource::environment;
            entries.push_back(std::move(entry));
        }
    }
    std::sort(entries.begin(), entries.end(), [](const SecretEntry& a, const SecretEntry& b) {
        return std::tuple(std::string_view(a.name), a.scope == SecretScope::user) <
               std::tuple(std::string_view(b.name), b.scope == SecretScope::user);
    });
    co_return entries;
}

Task<SecretEntry> Secrets::set(SecretEntry entry, std::string value) {
    Kept kept;
    kept.name = entry.name;
    kept.set_at = to_rfc3339(clock_.wall());
    if (entry.scope == SecretScope::workspace) {
        kept.workspace = options_.workspace;
    }
    if (entry.source == SecretSource::command) {
        kept.command = std::move(entry.command);
    } else if (entry.source == SecretSource::file) {
        kept.path = std::move(entry.file);
    } else {
        require_secret_value(kept.name, value);
        kept.value = std::move(value);
    }
    SecretEntry made = entry_of(kept);
    Change put = [&kept](KeptFile& file) {
        std::erase_if(file.secrets, [&](const Kept& each) { return each.is(kept.name, kept.workspace); });
        file.secrets.push_back(std::move(kept));
    };
    co_await change(std::move(put));
    co_return made;
}

Task<SecretEntry> Secrets::remove(std::string name, SecretScope scope) {
    std::optional<std::string> workspace;
    if (scope == SecretScope::workspace) {
        workspace = options_.workspace;
    }
    std::optional<SecretEntry> removed;
    Change take = [&](KeptFile& file) {
        const auto found = std::find_if(file.secrets.begin(), file.secrets.end(),
                                        [&](const Kept& each) { return each.is(name, workspace); });
        if (found == file.secrets.end()) {
            throw Error(
                ErrorCode::invalid_params,
                fmt::format("no secret {} is kept for {}", name, workspace ? "this workspace" : "all workspaces"),
                "`cellgate secret list` names those that there are.");
        }
        removed = entry_of(*found);
        file.secrets.erase(found);
    };
    co_await change(std::move(take));
    co_return std::move(*removed);
}

Task<std::optional<Secrets::Found>> Secrets::find(std::string name) {
    KeptFile kept = co_await read();
    const Kept* best = nullptr;
    for (const Kept& each : kept.secrets) {
        if (each.name == name && is_known(each) && (best == nullptr || each.workspace)) {
            best = &each;
        }
    }
    Found found;
    if (best == nullptr) {
        const auto given = options_.from_environment.find(name);
        if (given == options_.from_environment.end()) {
            co_return std::nullopt;
        }
        found.entry.name = name;
        found.entry.source = SecretSource::environment;
        found.value = given->second;
    } else {
        found.entry = entry_of(*best);
        if (found.entry.source == SecretSource::command) {
            found.value = co_await printed(found.entry);
        } else if (found.entry.source == SecretSource::file) {
            std::function<std::string()> work = [&found] { return value_in_file(found.entry); };
            found.value = co_await loop_.run_blocking(std::move(work));
        } else {
            found.value = best->value.value_or("");
        }
    }
    require_secret_value(name, found.value);
    co_return std::optional(std::move(found));
}

Task<std::string> Secrets::printed(SecretEntry entry) {
    const std::string key = fmt::format("{}\n{}\n{}", entry.name, entry.scope == SecretScope::user, entry.set_at);
    std::shared_ptr<Run> running = runs_[key];
    if (!running) {
        running = std::make_shared<Run>();
        runs_[key] = running;
        tasks_.spawn(run(std::move(entry), running));
    }
    co_await running->done.wait();
    if (running->error) {
        if (const auto found = runs_.find(key); found != runs_.end() && found->second == running) {
            runs_.erase(found); // the next one who needs it tries again
        }
        std::rethrow_exception(running->error);
    }
    co_return running->value;
}

Task<void> Secrets::run(SecretEntry entry, std::shared_ptr<Run> run) {
    async::Command command;
    command.argv = std::move(entry.command);
    command.environment = options_.environment;
    command.cwd = "/"; // where no relative path means a file of a workspace
    try {
        run->value =
            co_await secret_from_command(&loop_, std::move(entry.name), std::move(command), options_.command_timeout);
    } catch (...) {
        run->error = std::current_exception();
    }
    run->done.set();
}

Task<void> Secrets::close() {
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::store
