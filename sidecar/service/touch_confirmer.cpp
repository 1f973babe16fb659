#include "touch_confirmer.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/private_files.hpp"
#include "base/sync.hpp"
#include "ssh_signature.hpp"
#include "store/directories.hpp"
#include "tools/host_program.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace cellgate::service {

namespace {

constexpr std::chrono::minutes max_wait{2};
constexpr std::size_t max_output_bytes = std::size_t{16} << 10;
constexpr std::size_t max_reason_bytes = 300;
constexpr std::string_view name_space = "cellgate";

// What ssh-keygen needs to find the key, its agent and its user.
constexpr std::array passed_variables = {"HOME",
                                         "PATH",
                                         "SSH_SK_PROVIDER",
                                         "SSH_AUTH_SOCK",
                                         "SSH_ASKPASS",
                                         "DISPLAY",
                                         "SSH_ASKPASS_REQUIRE",
                                         "WAYLAND_DISPLAY",
                                         "XDG_RUNTIME_DIR",
                                         "XAUTHORITY",
                                         "DBUS_SESSION_BUS_ADDRESS"};

[[noreturn]] void refuse(const std::string& why, std::string hint) {
    throw Error(ErrorCode::not_confirmed, why, std::move(hint));
}

constexpr const char* how_to_set_up =
    "plug in a FIDO2 security key and make a key with it: `ssh-keygen -t ed25519-sk`; one at another place is named by "
    "CELLGATE_TOUCH_KEY";
constexpr const char* how_to_touch = "plug the key in, answer again, and touch it while it blinks";

std::string last_line(std::string text) {
    text.resize(text.find_last_not_of(" \r\n") + 1);
    const std::size_t start = text.find_last_of("\r\n");
    return escape_unprintable(text.substr(start == std::string::npos ? 0 : start + 1).substr(0, max_reason_bytes));
}

Task<std::string> read_all(async::Process* process) {
    std::string out;
    while (out.size() <= max_output_bytes) {
        const std::string bytes = co_await process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        out += bytes;
    }
    co_return out;
}

} // namespace

TouchConfirmer::Key TouchConfirmer::find_key() const {
    const auto variable = [this](const char* name) {
        const auto found = environment_.find(name);
        return found == environment_.end() ? std::string() : found->second;
    };
    std::vector<std::string> files = {variable("CELLGATE_TOUCH_KEY")};
    if (files.front().empty()) {
        files = {variable("HOME") + "/.ssh/id_ed25519_sk", variable("HOME") + "/.ssh/id_ecdsa_sk"};
    }
    const std::optional<std::string> program = tools::find_host_program("ssh-keygen", environment_, workspace_);
    if (!program) {
        refuse("expected ssh-keygen on the PATH, outside the workspace, found none",
               "install OpenSSH's client: `apt install openssh-client`");
    }
    constexpr std::string_view suffix = ".pub";
    for (const std::string& file : files) {
        const std::string public_file = file.ends_with(suffix) ? file : file + std::string(suffix);
        const RegularFile read = read_regular_file(public_file, max_output_bytes);
        if (read.error != 0) {
            continue;
        }
        const std::optional<std::string> key = parse_ssh_public_key(read.bytes);
        const std::string type = key ? type_of_ssh_key(*key).value_or("") : std::string();
        if (!is_security_key(type)) {
            refuse(fmt::format("expected the public key of a security key in {}, found {}",
                               escape_unprintable(public_file), type.empty() ? "none" : escape_unprintable(type)),
                   how_to_set_up);
        }
        return {*program, file, *key, type};
    }
    refuse(fmt::format("expected a security key to confirm the answer, found no {}.pub",
                       escape_unprintable(files.front())),
           how_to_set_up);
}

Task<TouchConfirmer::Ran> TouchConfirmer::run(std::vector<std::string> argv, std::string folder,
                                              std::string input) const {
    async::Command command;
    command.argv = std::move(argv);
    command.cwd = std::move(folder);
    for (const char* name : passed_variables) {
        if (const auto found = environment_.find(name); found != environment_.end()) {
            command.environment.insert(*found);
        }
    }
    const std::unique_ptr<async::Process> process = async::start_process(loop_, std::move(command));
    process->stdio().write(std::move(input));
    process->close_stdin();
    Ran ran;
    ran.out = co_await read_all(process.get());
    if (ran.out.size() > max_output_bytes) {
        refuse("ssh-keygen printed more than a signature", how_to_touch);
    }
    const async::ExitStatus status = co_await process->exited();
    ran.success = status.success();
    ran.error = last_line(process->stderr_tail());
    co_return ran;
}

Task<protocol::Confirmation> TouchConfirmer::confirm(std::string text) {
    const std::string folder = store::make_unique_directory(directory_, "touch-");
    std::function<void()> remove = [folder] { store::remove_tree(folder); };
    Task<void> removing = loop_.run_blocking(std::move(remove));
    Task<protocol::Confirmation> confirming = confirm_in(folder, std::move(text));
    co_return co_await finally(std::move(confirming), std::move(removing));
}

Task<protocol::Confirmation> TouchConfirmer::confirm_in(std::string folder, std::string text) {
    std::function<Key()> find = [this] { return find_key(); };
    const Key key = co_await loop_.run_blocking(std::move(find));
    std::vector<std::string> sign = {key.program, "-Y", "sign", "-n", std::string(name_space), "-f", key.file};
    Task<Ran> signing = run(std::move(sign), folder, text);
    const std::optional<Ran> signed_text = co_await with_timeout(loop_.clock(), max_wait, std::move(signing));
    if (!signed_text) {
        refuse("the security key was not touched within two minutes", how_to_touch);
    }
    if (!signed_text->success) {
        refuse(fmt::format("the security key did not sign: {}", signed_text->error), how_to_touch);
    }
    const std::optional<SshSignature> signature = parse_ssh_signature(signed_text->out);
    if (!signature) {
        refuse("expected a signature by a security key, found another", how_to_set_up);
    }
    if (signature->public_key != key.public_key || signature->key_type != key.type) {
        refuse("the signature is by another key", how_to_touch);
    }
    if ((signature->flags & SshSignature::user_present) == 0) {
        refuse("the security key was not touched for the signature: its key needs no touch", how_to_set_up);
    }
    const std::string file = folder + "/answer.sig";
    std::function<void()> write = [&] { write_private_file(folder, file, signed_text->out); };
    co_await loop_.run_blocking(std::move(write));
    std::vector<std::string> check = {key.program, "-Y", "check-novalidate", "-n", std::string(name_space), "-s", file};
    Task<Ran> checking = run(std::move(check), folder, text);
    const std::optional<Ran> checked = co_await with_timeout(loop_.clock(), max_wait, std::move(checking));
    if (!checked || !checked->success) {
        refuse("the signature is not one of this answer", how_to_touch);
    }
    protocol::Confirmation confirmation;
    confirmation.means = protocol::ConfirmationMeans::touch;
    confirmation.text = std::move(text);
    confirmation.public_key = fmt::format("{} {}", key.type, encode_base64(key.public_key));
    confirmation.signature = signed_text->out;
    co_return confirmation;
}

} // namespace cellgate::service
