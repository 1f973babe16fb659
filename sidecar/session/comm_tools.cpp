#include "comm_tools.hpp"

#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/regular_file.hpp"
#include "base/sync.hpp"
#include "bootstrap_text.hpp"
#include "jupyter/kernel_query.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <utility>

namespace cellgate::session {

namespace {

namespace fs = std::filesystem;

constexpr Duration answer_limit = std::chrono::seconds(30);
constexpr std::size_t max_wrapper_bytes = std::size_t{32} << 20; // of all files together

struct CodeReply {
    std::string status;
    std::optional<std::string> evalue;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor& visit) {
        visit("status", self.status);
        visit("evalue", self.evalue);
    }
};

// Of the package; no link is followed, as what it shows would be sent away.
template <class Take>
void for_each_wrapper(const std::string& workspace, const Take& take) {
    const fs::path package = fs::path(workspace) / "mcptools";
    std::error_code problem;
    if (!fs::is_directory(fs::symlink_status(package, problem))) {
        return;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(package, problem)) {
        if (entry.path().extension() == ".py" && fs::is_regular_file(entry.symlink_status(problem))) {
            take(entry);
        }
    }
}

// Another text when a file was added, removed or written.
std::string state_of_wrappers(const std::string& workspace) {
    std::map<std::string, std::string> files;
    for_each_wrapper(workspace, [&files](const fs::directory_entry& entry) {
        std::error_code problem;
        files[entry.path()] =
            fmt::format("{} {}", entry.last_write_time(problem).time_since_epoch().count(), entry.file_size(problem));
    });
    return to_json(files);
}

// Their texts by path, as JSON.
std::string read_wrappers(const std::string& workspace) {
    std::map<std::string, std::string> files;
    std::size_t bytes = 0;
    for_each_wrapper(workspace, [&](const fs::directory_entry& entry) {
        RegularFile file = read_regular_file(entry.path(), max_wrapper_bytes, LastLink::refuse);
        bytes += file.bytes.size();
        if (bytes > max_wrapper_bytes) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected at most {} bytes of wrappers, found more", max_wrapper_bytes));
        }
        files[entry.path().lexically_relative(workspace)] = std::move(file.bytes);
    });
    return to_json(files);
}

// A Python literal: JSON writes the characters that it escapes as Python does, but for those beyond the first plane,
// which are halves here and are joined by Python's own reader of JSON.
std::string json_literal(std::string_view json) {
    return fmt::format("__import__(\"json\").loads({})", to_json(std::string(json)));
}

} // namespace

CommTools::CommTools(async::Loop& loop, jupyter::KernelListener& listener, std::string workspace)
    : loop_(loop), listener_(listener), workspace_(std::move(workspace)), comm_id_("cellgate-" + random_id()),
      connections_(std::make_shared<tools::CommListener>(loop.clock(), comm_id_, [this](const std::string& content) {
          if (kernel_ != nullptr) {
              kernel_->client().send_comm(jupyter::Channel::control, "comm_msg", content);
          }
      })) {}

Task<void> CommTools::run(std::string code) {
    jupyter::KernelQuery query = jupyter::code_query(code);
    const std::string text = co_await kernel_->client().ask(std::move(query), loop_.clock().now() + answer_limit);
    const auto reply = from_json<CodeReply>(text, "reply");
    if (reply.status != "ok") {
        throw Error(ErrorCode::unsupported, jupyter::shown_line(reply.evalue.value_or("the kernel gave no reason")));
    }
}

Task<void> CommTools::attach(jupyter::Kernel& kernel) {
    kernel_ = &kernel;
    repeating_.spawn(connections_->repeat());
    std::string file;
    append_json_string(file, comm_channel_text); // it has no character that Python reads in another way
    std::string code = fmt::format("(lambda names: [exec({}, names), names[\"tools\"]().attach(\"{}\")] and None)"
                                   "({{\"__name__\": \"_cellgate_comm_channel\"}})",
                                   file, comm_id_);
    co_await run(std::move(code));
    attached_ = true;
    co_await deliver();
}

Task<void> CommTools::deliver() {
    if (kernel_ == nullptr) {
        co_return;
    }
    std::function<std::string()> look = [this] { return state_of_wrappers(workspace_); };
    std::string state = co_await loop_.run_blocking(std::move(look));
    if (state == delivered_) {
        co_return;
    }
    std::function<std::string()> read = [this] { return read_wrappers(workspace_); };
    const std::string files = co_await loop_.run_blocking(std::move(read));
    std::string code =
        fmt::format("__import__(\"sys\").modules[\"_cellgate_tools\"].tools.deliver({})", json_literal(files));
    co_await run(std::move(code));
    delivered_ = std::move(state);
}

Task<void> CommTools::end() {
    if (kernel_ != nullptr) {
        kernel_->client().send_comm(jupyter::Channel::control, "comm_msg",
                                    fmt::format(R"({{"comm_id":"{}","data":{{"detach":true}}}})", comm_id_));
        kernel_ = nullptr;
    }
    co_await cancel_and_join(repeating_);
}

void CommTools::on_output(const std::string& parent, jupyter::Output output) {
    listener_.on_output(parent, std::move(output));
}

void CommTools::on_input_request(jupyter::InputRequest request) {
    listener_.on_input_request(std::move(request));
}

void CommTools::on_comm(const std::string& type, std::string content) {
    if (type == "comm_msg") {
        connections_->receive(content);
    }
}

void CommTools::on_reconnected() {
    if (kernel_ != nullptr && attached_) {
        repeating_.spawn(connections_->catch_up());
    }
}

} // namespace cellgate::session
