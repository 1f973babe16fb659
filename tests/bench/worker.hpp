#pragma once
// `worker` is the part that the bench's C++ workers share. A worker is a process that prepares one case, says "ready",
// and for each line "N" on its stdin takes N samples and answers with one JSON array of numbers. So bench.py can
// interleave the cases of all peers sample by sample, whatever they are written in. Nothing of cellgate is in here.

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace bench {

[[noreturn]] inline void die(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <std::size_t size>
std::string to_hex(const std::array<unsigned char, size>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : bytes) {
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

// Takes one sample at a time.
using Sample = std::function<double()>;

inline void serve(const Sample& sample) {
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        nlohmann::json samples = nlohmann::json::array();
        for (int count = std::stoi(line); count > 0; --count) {
            samples.push_back(sample());
        }
        std::cout << samples.dump() << std::endl;
    }
}

// A child process that dies with us; stderr is ours.
class Child {
  public:
    explicit Child(const std::vector<std::string>& command) {
        int in[2];
        int out[2];
        if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
            die("cannot make a pipe");
        }
        std::vector<char*> argv;
        for (const std::string& argument : command) {
            argv.push_back(const_cast<char*>(argument.c_str()));
        }
        argv.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ < 0) {
            die("cannot fork");
        }
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::dup2(in[0], STDIN_FILENO);
            ::dup2(out[1], STDOUT_FILENO);
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        in_ = in[1];
        out_ = out[0];
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) { // -1, after wait(), would be every process of the machine
            ::kill(pid_, SIGKILL);
            wait();
        }
        ::close(in_);
        ::close(out_);
    }

    int pid() const { return pid_; }
    void wait() {
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

    void write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t count = ::write(in_, bytes.data(), bytes.size());
            if (count <= 0) {
                die("the child does not read any more");
            }
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    // Appends what there is, and waits when there is nothing.
    void read(std::string& buffer) const {
        static std::vector<char> piece(std::size_t{1} << 20);
        const ssize_t count = ::read(out_, piece.data(), piece.size());
        if (count <= 0) {
            die("the child has ended");
        }
        buffer.append(piece.data(), static_cast<std::size_t>(count));
    }

  private:
    pid_t pid_ = -1;
    int in_ = -1;
    int out_ = -1;
};

} // namespace bench
