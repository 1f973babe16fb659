#include "async/process.hpp"

#include "async/helper_program.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/sync.hpp"
#include "system_stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::async {

namespace {

constexpr std::size_t max_stderr_bytes = std::size_t{64} << 10;

Error cannot_start(const Command& command, const std::string& why) {
    return Error(
        ErrorCode::internal_error,
        fmt::format("cannot start {}: {}", command.argv.empty() ? "" : escape_unprintable(command.argv[0]), why));
}

// A NUL would end a text early: the command that starts would differ from the one that was shown.
void require_whole(const Command& command, std::string_view what, const std::string& text) {
    if (text.find('\0') != std::string::npos) {
        throw cannot_start(command,
                           fmt::format("expected {} without NUL bytes, found {}", what, escape_unprintable(text)));
    }
}

void require_valid(const Command& command) {
    if (command.argv.empty() || command.argv[0].empty()) {
        throw cannot_start(command, "expected a program's name, found none");
    }
    for (const std::string& argument : command.argv) {
        require_whole(command, "an argument", argument);
    }
    for (const auto& [name, value] : command.environment) {
        require_whole(command, "an environment variable", value);
        if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
            throw cannot_start(command, fmt::format("expected the name of an environment variable, found \"{}\"",
                                                    escape_unprintable(name)));
        }
    }
    require_whole(command, "a directory", command.cwd);
    for (const auto& [number, fd] : command.descriptors) {
        if (number <= STDERR_FILENO || fd < 0) {
            throw cannot_start(command, fmt::format("expected descriptors from 3 up, found {} for {}", fd, number));
        }
    }
}

// 0, or the errno that execve() of `path` would surely end in.
int why_not_executable(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;
    }
    return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Checks beforehand what execvp() would find in the child, because an error can still be thrown here.
void require_executable(const Command& command) {
    const std::string base = command.cwd.empty() ? "" : command.cwd + "/";
    const std::string& name = command.argv[0];
    const auto from_cwd = [&](const std::string& path) { return path.starts_with('/') ? path : base + path; };
    // One of the child's descriptors is another file under that number here.
    const auto as_given = [&](const std::string& path) {
        for (const auto& [number, fd] : command.descriptors) {
            if (path == fmt::format("/proc/self/fd/{}", number)) {
                return fmt::format("/proc/self/fd/{}", fd);
            }
        }
        return from_cwd(path);
    };
    if (!command.cwd.empty()) {
        struct stat status{};
        const int error = ::stat(command.cwd.c_str(), &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
        if (error != 0) {
            throw cannot_start(command, fmt::format("{}: {}", escape_unprintable(command.cwd), std::strerror(error)));
        }
    }
    int why = ENOENT;
    if (name.find('/') != std::string::npos) {
        why = why_not_executable(as_given(name));
    } else {
        const auto path = command.environment.find("PATH");
        std::string_view rest = path == command.environment.end() ? "/bin:/usr/bin" : std::string_view(path->second);
        while (why != 0) {
            const std::size_t end = std::min(rest.find(':'), rest.size());
            const std::string directory(end == 0 ? "." : rest.substr(0, end));
            const int here = why_not_executable(from_cwd(directory + "/" + name));
            why = here == 0 || here == EACCES ? here : why;
            if (end == rest.size()) {
                break;
            }
            rest.remove_prefix(end + 1);
        }
    }
    if (why != 0) {
        throw cannot_start(command, std::strerror(why));
    }
}

// `control_number` is the number of the control pipe in the supervisor.
std::vector<std::string> supervise_arguments(const Command& command, int control_number) {
    std::vector<std::string> arguments{"cellgate", "supervise", std::to_string(control_number)};
    for (const auto& [number, fd] : command.descriptors) {
        arguments.push_back(std::to_string(number));
    }
    if (command.lifeline_fd) {
        arguments.insert(arguments.end(), {"--lifeline", std::to_string(*command.lifeline_fd)});
    }
    for (const std::string& group : command.groups) {
        arguments.insert(arguments.end(), {"--group", group});
    }
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), command.argv.begin(), command.argv.end());
    return arguments;
}

std::vector<std::string> environment_texts(const Command& command) {
    std::vector<std::string> environment;
    for (const auto& [name, value] : command.environment) {
        environment.push_back(name + "=" + value);
    }
    return environment;
}

uv_stdio_container_t inherit(int fd) {
    uv_stdio_container_t container{};
    container.flags = UV_INHERIT_FD;
    container.data.fd = fd;
    return container;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) {
        result.push_back(text.data());
    }
    result.push_back(nullptr);
    return result;
}

} // namespace

std::string ExitStatus::describe() const {
    if (signal == 0) {
        return fmt::format("exit code {}", code);
    }
    const char* name = ::sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} (SIG{})", signal, name);
}

struct Process::Impl {
    explicit Impl(Loop& loop_) : loop(loop_) {}

    Loop& loop;
    uv_process_t process{};
    int control_fd = -1;
    std::unique_ptr<SystemStream> stdio;
    uv_pipe_t errors{};
    std::string error_text;
    std::optional<ExitStatus> status;
    Event ended;

    static void start(const std::shared_ptr<Impl>& self, const Command& command);
    static Task<ExitStatus> wait(std::shared_ptr<Impl> self);
    static Task<void> ask_to_end(std::shared_ptr<Impl> self, Duration grace);
    static Task<void> end(std::shared_ptr<Impl> self);

    void kill() {
        if (control_fd >= 0) {
            ::close(std::exchange(control_fd, -1));
        }
    }
    void terminate() {
        if (!status) {
            uv_process_kill(&process, SIGTERM);
        }
    }
    void keep_error_text(const char* bytes, std::size_t size) {
        error_text.append(bytes, size);
        // Cut at twice the size kept, so that a flood is not moved byte by byte.
        if (error_text.size() > 2 * max_stderr_bytes) {
            error_text.erase(0, error_text.size() - max_stderr_bytes);
        }
    }
    void read_errors();
    void on_exit(int code, int signal);
};

void Process::Impl::start(const std::shared_ptr<Impl>& self, const Command& command) {
    require_valid(command);
    require_executable(command);
    Pipe control = make_pipe();
    Pipe input = make_pipe();
    Pipe output = make_pipe();
    Pipe errors = make_pipe();

    int control_number = STDERR_FILENO + 1;
    while (command.descriptors.contains(control_number) || command.lifeline_fd == control_number) {
        ++control_number;
    }
    std::map<int, int> given = command.descriptors;
    given[STDIN_FILENO] = input.read.get();
    given[STDOUT_FILENO] = output.write.get();
    given[STDERR_FILENO] = command.stderr_to_stdout ? output.write.get() : errors.write.get();
    given[control_number] = control.read.get();
    std::vector<uv_stdio_container_t> containers(static_cast<std::size_t>(given.rbegin()->first) + 1);
    for (const auto& [number, fd] : given) {
        containers[static_cast<std::size_t>(number)] = inherit(fd);
    }

    std::vector<std::string> arguments = supervise_arguments(command, control_number);
    std::vector<std::string> environment = environment_texts(command);
    std::vector<char*> argument_pointers = pointers(arguments);
    std::vector<char*> environment_pointers = pointers(environment);

    uv_process_options_t options{};
    // Beyond the numbers that the child is given: those are in place before it starts the helper.
    const UniqueFd helper(::fcntl(helper_program(), F_DUPFD_CLOEXEC, static_cast<int>(containers.size())));
    if (helper.get() < 0) {
        throw cannot_start(command, std::strerror(errno));
    }
    const std::string helper_path = fmt::format("/proc/self/fd/{}", helper.get());
    options.file = helper_path.c_str();
    options.args = argument_pointers.data();
    options.env = environment_pointers.data();
    options.cwd = command.cwd.empty() ? nullptr : command.cwd.c_str();
    // In its own session: a ^C at our terminal would end the supervisor before its children.
    options.flags = UV_PROCESS_DETACHED;
    options.stdio_count = static_cast<int>(containers.size());
    options.stdio = containers.data();
    options.exit_cb = [](uv_process_t* process, std::int64_t code, int signal) {
        owner_of<Impl>(process)->on_exit(static_cast<int>(code), signal);
    };
    adopt(self->process, self);
    if (const int status = uv_spawn(self->loop.raw(), &self->process, &options); status != 0) {
        close_handle<Impl>(self->process);
        throw cannot_start(command, std::strerror(-status));
    }
    self->control_fd = control.write.release();
    self->stdio = std::make_unique<SystemStream>(self->loop, output.read.release(), input.write.release());
    uv_pipe_init(self->loop.raw(), &self->errors, 0);
    adopt(self->errors, self);
    uv_pipe_open(&self->errors, errors.read.release());
    self->read_errors();
}

void Process::Impl::read_errors() {
    uv_read_start(
        reinterpret_cast<uv_stream_t*>(&errors),
        [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
            static std::array<char, max_stderr_bytes> scratch;
            *buffer = uv_buf_init(scratch.data(), scratch.size());
        },
        [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
            const std::shared_ptr<Impl> self = owner_of<Impl>(stream);
            if (count > 0) {
                self->keep_error_text(buffer->base, static_cast<std::size_t>(count));
            } else if (count < 0) {
                close_handle<Impl>(self->errors);
            }
        });
}

void Process::Impl::on_exit(int code, int signal) {
    // All writers have ended; the bytes left in the pipe belong to the stderr tail.
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(&errors)) == 0) {
        int fd = -1;
        uv_fileno(reinterpret_cast<uv_handle_t*>(&errors), &fd);
        std::array<char, 4096> bytes{};
        constexpr std::size_t max_pipe_bytes = std::size_t{1} << 20;
        std::size_t total = 0;
        for (ssize_t count = 0; total < max_pipe_bytes && (count = ::read(fd, bytes.data(), bytes.size())) > 0;) {
            keep_error_text(bytes.data(), static_cast<std::size_t>(count));
            total += static_cast<std::size_t>(count);
        }
        close_handle<Impl>(errors);
    }
    close_handle<Impl>(process);
    kill();
    status = ExitStatus{signal == 0 ? code : 0, signal};
    ended.set();
}

Task<ExitStatus> Process::Impl::wait(std::shared_ptr<Impl> self) {
    co_await self->ended.wait();
    co_return *self->status;
}

Task<void> Process::Impl::ask_to_end(std::shared_ptr<Impl> self, Duration grace) {
    Clock& clock = self->loop.clock();
    self->stdio->close_output();
    const bool ended = co_await wait_until(clock, self->ended, clock.now() + grace);
    if (!ended) {
        self->terminate();
        co_await wait_until(clock, self->ended, clock.now() + grace);
    }
}

Task<void> Process::Impl::end(std::shared_ptr<Impl> self) {
    self->kill();
    co_await self->ended.wait();
}

Process::Process(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Process::~Process() {
    impl_->kill();
    impl_->stdio->close();
}

int Process::pid() const {
    return impl_->process.pid;
}
ByteStream& Process::stdio() {
    return *impl_->stdio;
}
void Process::close_stdin() {
    impl_->stdio->close_output();
}

std::string Process::stderr_tail() const {
    const std::string& text = impl_->error_text;
    return text.substr(text.size() - std::min(text.size(), max_stderr_bytes));
}

Task<ExitStatus> Process::exited() {
    return Impl::wait(impl_);
}
bool Process::has_exited() const {
    return impl_->status.has_value();
}
void Process::terminate() {
    impl_->terminate();
}
void Process::kill() {
    impl_->kill();
}
Task<void> Process::stop(Duration grace) {
    return finally(Impl::ask_to_end(impl_, grace), Impl::end(impl_));
}

std::unique_ptr<Process> start_process(Loop& loop, Command command) {
    auto impl = std::make_shared<Process::Impl>(loop);
    Process::Impl::start(impl, command);
    return std::unique_ptr<Process>(new Process(std::move(impl)));
}

} // namespace cellgate::async
