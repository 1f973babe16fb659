#include "srt_command.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cellgate::tools {

namespace {

constexpr std::string_view package = "@anthropic-ai/sandbox-runtime";

Error invalid(const std::string& why, std::string hint = {}) {
    return Error(ErrorCode::config_invalid, why, std::move(hint));
}

bool is_package(std::string_view word) {
    return word == package || (word.starts_with(package) && word[package.size()] == '@');
}

// Where srt's own arguments begin; 0 when it is not srt.
std::size_t after_srt(const std::vector<std::string>& argv) {
    if (argv.front() == "srt") {
        return 1;
    }
    std::size_t at = 1;
    while (at < argv.size() && (argv[at] == "-y" || argv[at] == "--yes")) {
        ++at;
    }
    return argv.front() == "npx" && at < argv.size() && is_package(argv[at]) ? at + 1 : 0;
}

class Options {
  public:
    Options(const std::vector<std::string>& argv, std::size_t at) : argv_(argv), at_(at) {}

    SrtCommand read() {
        while (at_ < argv_.size() && argv_[at_].starts_with('-') && !ended_) {
            option(argv_[at_++]);
        }
        const std::vector<std::string> rest(argv_.begin() + static_cast<std::ptrdiff_t>(at_), argv_.end());
        if (line_.has_value() == !rest.empty()) {
            throw invalid(line_ ? "expected srt's -c or a program to run, found both"
                                : "expected a program for srt to run, found none");
        }
        found_.argv = line_ ? std::vector<std::string>{"bash", "-c", *line_} : rest;
        return std::move(found_);
    }

  private:
    void option(const std::string& word) {
        constexpr std::string_view settings_is = "--settings=";
        if (word == "--") {
            ended_ = true;
        } else if (word == "-s" || word == "--settings") {
            found_.settings = value(word);
        } else if (word.starts_with(settings_is)) {
            found_.settings = word.substr(settings_is.size());
        } else if (word == "-c") {
            line_ = value(word);
        } else if (word != "-d" && word != "--debug") {
            throw invalid(
                fmt::format("expected an option of srt that cellgate knows (-s, --settings, -c, -d, --debug), "
                            "found {}",
                            escape_unprintable(word.substr(0, 100))),
                "Leave it out. To run srt itself, write the path of its program.");
        }
    }

    std::string value(const std::string& option) {
        if (at_ == argv_.size()) {
            throw invalid(fmt::format("expected a value after srt's {}, found none", option));
        }
        return argv_[at_++];
    }

    const std::vector<std::string>& argv_;
    std::size_t at_;
    bool ended_ = false;
    std::optional<std::string> line_;
    SrtCommand found_;
};

} // namespace

std::optional<SrtCommand> parse_srt_command(const std::vector<std::string>& argv) {
    const std::size_t options = after_srt(argv);
    if (options == 0) {
        return std::nullopt;
    }
    return Options(argv, options).read();
}

} // namespace cellgate::tools
