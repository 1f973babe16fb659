#pragma once
// `Secrets` is the secrets of a user, and of one workspace of theirs: values that are kept encrypted, and where to get
// others. Only find() gives values. All sidecars of a user share the file, which is read each time, off the loop. Owned
// by the service, which awaits close(). Errors are Error{store_failed} unless they are named.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/task.hpp"
#include "store/secret_file.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

inline constexpr std::size_t max_secret_value_bytes = std::size_t{64} << 10;

enum class SecretScope { user, workspace };
enum class SecretSource { stored, command, file, environment };

// A secret without its value.
struct SecretEntry {
    std::string name;
    SecretScope scope = SecretScope::user;
    SecretSource source = SecretSource::stored;
    std::vector<std::string> command; // argv
    std::string file;                 // absolute
    std::string set_at;               // RFC 3339; empty of one in the environment
};

class Secrets {
  public:
    struct Options {
        std::string directory;        // of the file
        std::string workspace;        // as key_of_root() names it
        Environment environment;      // of commands
        Environment from_environment; // secrets by their names
        Duration command_timeout = std::chrono::seconds(60);
    };
    struct Found {
        SecretEntry entry;
        std::string value;
    };

    // `loop` and `clock` outlive it.
    Secrets(async::Loop& loop, Clock& clock, Options options);
    Secrets(const Secrets&) = delete;
    Secrets& operator=(const Secrets&) = delete;
    ~Secrets();

    // By name; of two, the workspace's first.
    Task<std::vector<SecretEntry>> list();
    // Keeps it in the place of what had its name and scope. `value`: of a stored one.
    Task<SecretEntry> set(SecretEntry entry, std::string value);
    // What was forgotten. Throws Error{invalid_params} when there is none.
    Task<SecretEntry> remove(std::string name, SecretScope scope);
    // The workspace's, else the user's, else that of the environment. A command runs once; what it printed holds until
    // the secret is set again.
    Task<std::optional<Found>> find(std::string name);
    // Ends commands.
    Task<void> close();

  private:
    struct Kept;
    struct KeptFile;
    struct Run;
    using Change = std::function<void(KeptFile&)>;

    Task<KeptFile> read();
    Task<void> change(Change change);
    bool is_known(const Kept& kept) const; // in this workspace
    SecretEntry entry_of(const Kept& kept) const;
    Task<std::string> printed(SecretEntry entry);
    Task<void> run(SecretEntry entry, std::shared_ptr<Run> run);

    async::Loop& loop_;
    Clock& clock_;
    const Options options_;
    SecretFile file_;
    std::map<std::string, std::shared_ptr<Run>> runs_; // of commands, by what was set
    TaskScope tasks_;
};

} // namespace cellgate::store
