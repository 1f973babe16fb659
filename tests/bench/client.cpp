// A client of cellgate over its stdio, as thin as an editor's could be: it looks for the answer to its request, and
// keeps the text of outputs. Usage: client CELLGATE ROOT CASE…, with one of the cases
//
//     start                        a sample is the time from the process's start to the answer to initialize
//     idle                         a sample is the memory of a cellgate that was just initialised, in bytes
//     relay                        a sample is by how much `connect` is slower than `serve --stdio`, for one message
//     cold KERNEL                  a sample is a new session and the result of 1+1
//     spare                        the same once a kernel is ready for it (initializationOptions.spareKernel)
//     ready                        a sample is a new session, until its kernel is ready
//     execute KERNEL CODE          a sample is one round trip, with storeHistory
//     cell FILE                    the cell's own samples: it prints N of them, one in a line; it has the wrappers of
//                                  the tool server `everything`
//     cell FILE RULE               the same without wrappers; the policy has RULE, in JSON
//     output FILE SHA256           a sample is the time to the last byte of the cell's output, which has that hash
//     unread FILE SHA256 MARK      a sample is the growth of cellgate's memory, in bytes, until the cell has made the
//                                  file MARK, with nothing read; then everything is read and held against the hash
//
// KERNEL is a kernelspec or "default". BENCH_OPTIONS holds initializationOptions, and BENCH_SESSION what session/create
// gets besides, as JSON.

#include "worker.hpp"

#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>

namespace {

using namespace bench;

std::string read_file(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump();
}

std::uint64_t memory_of(int pid, const std::string& what) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(what + ":")) {
            return std::stoull(line.substr(what.size() + 1)) * 1024;
        }
    }
    die("no " + what + " of process " + std::to_string(pid));
}

// The values of the outputs in a message, which hold no escapes.
void append_text(std::string_view message, std::string& text) {
    for (const std::string_view key : {R"("text":)", R"("image/png":)"}) {
        for (std::size_t at = message.find(key); at != std::string_view::npos; at = message.find(key, at)) {
            at = message.find('"', at + key.size()) + 1; // what comes from a kernel has a space before
            const std::size_t end = message.find('"', at);
            text += message.substr(at, end - at);
            at = end;
        }
    }
}

class Cellgate {
  public:
    Cellgate(const std::string& program, const std::string& root, std::vector<std::string> way = {"serve", "--stdio"})
        : process_(command(program, root, std::move(way))) {
        const char* options = std::getenv("BENCH_OPTIONS");
        request("initialize", R"({"clientInfo":{"name":"bench"},"processId":null,"rootUri":)" +
                                  quoted("file://" + root) +
                                  R"(,"capabilities":{"approvals":true},"initializationOptions":)" +
                                  (options == nullptr ? "{}" : options) + "}");
        send(R"({"jsonrpc":"2.0","method":"initialized","params":{}})");
    }
    Cellgate(const Cellgate&) = delete;
    Cellgate& operator=(const Cellgate&) = delete;
    ~Cellgate() {
        request("shutdown", "{}");
        send(R"({"jsonrpc":"2.0","method":"exit"})");
        process_.wait();
    }

    int pid() const { return process_.pid(); }

    void send_request(const std::string& method, const std::string& params) {
        send(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id_) + R"(,"method":")" + method + R"(","params":)" +
             params + "}");
    }

    // The answer to the last request. What is output on the way goes into `outputs`.
    std::string_view answer() {
        const std::string head = R"({"jsonrpc":"2.0","id":)" + std::to_string(id_);
        while (true) {
            const std::string_view message = next();
            if (message.starts_with(head)) {
                if (message.find(R"("error":{"code")", head.size()) != std::string_view::npos) {
                    die("cellgate answered " + std::string(message.substr(0, 2000)));
                }
                return message;
            }
            if (message.find(R"("method":"execute/output")") < 40) {
                take_output(message);
            }
        }
    }

    std::string_view request(const std::string& method, const std::string& params) {
        send_request(method, params);
        return answer();
    }

    void create_session(const std::string& id, const std::string& kernel) {
        const char* more = std::getenv("BENCH_SESSION");
        nlohmann::json params = more == nullptr ? nlohmann::json::object() : nlohmann::json::parse(more);
        params["sessionId"] = id;
        if (kernel != "default") {
            params["kernel"]["name"] = kernel;
        }
        request("session/create", params.dump());
    }

    void send_execute(const std::string& session, const std::string& code) {
        outputs_.clear();
        execution_ = "b" + std::to_string(++executions_);
        send_request("execute", R"({"executionId":")" + execution_ + R"(","sessionId":")" + session + R"(","code":)" +
                                    quoted(code) + R"(,"storeHistory":true})");
    }

    void await_execute() {
        const std::string_view reply = answer();
        if (reply.find(R"("status":"ok")") == std::string_view::npos) {
            die("a cell ended with " + std::string(reply.substr(0, 2000)));
        }
    }

    void execute(const std::string& session, const std::string& code) {
        send_execute(session, code);
        await_execute();
    }

    // Reads what of the last cell's output was announced as skipped.
    void read_skipped() {
        for (Output& output : outputs_) {
            for (std::int64_t i = 0; i < output.skipped; ++i) {
                append_text(request("output/read", R"({"executionId":")" + execution_ + R"(","fromSeq":)" +
                                                       std::to_string(output.seq + i) + R"(,"maxBytes":1})"),
                            output.text);
            }
        }
    }

    // Everything that the last cell put out.
    std::string output() {
        std::string text;
        for (const Output& output : std::exchange(outputs_, {})) {
            text += output.text;
        }
        return text;
    }

  private:
    struct Output {
        std::string text;
        std::int64_t seq = 0;
        std::int64_t skipped = 0; // how many records from seq on
    };

    static std::vector<std::string> command(const std::string& program, const std::string& root,
                                            std::vector<std::string> way) {
        way.insert(way.begin(), program);
        way.insert(way.end(), {"--root", root});
        return way;
    }

    static std::int64_t number(std::string_view message, std::string_view key) {
        const std::size_t at = message.find(key);
        return at == std::string_view::npos ? 1 : std::stoll(std::string(message.substr(at + key.size(), 20)));
    }

    void take_output(std::string_view message) {
        Output output;
        if (message.size() < 1000 && message.find("\"skippedBytes\":") != std::string_view::npos) {
            output.seq = number(message, "\"seq\":");
            output.skipped = number(message, "\"count\":");
        } else {
            append_text(message, output.text);
        }
        outputs_.push_back(std::move(output));
    }

    void send(const std::string& message) const {
        process_.write("Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message);
    }

    // Good until the next call.
    std::string_view next() {
        buffer_.erase(0, std::exchange(taken_, 0));
        std::size_t head = 0;
        while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
            process_.read(buffer_);
        }
        const std::size_t size = std::stoul(buffer_.substr(buffer_.find(':') + 1, 20));
        while (buffer_.size() < head + 4 + size) {
            process_.read(buffer_);
        }
        taken_ = head + 4 + size;
        return std::string_view(buffer_).substr(head + 4, size);
    }

    Child process_;
    std::string buffer_;
    std::size_t taken_ = 0;
    std::uint64_t id_ = 0;
    std::uint64_t executions_ = 0;
    std::string execution_;
    std::vector<Output> outputs_;
};

void require_hash(const std::string& text, const std::string& expected) {
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, text.size(), reinterpret_cast<const unsigned char*>(text.data()));
    std::array<unsigned char, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context, digest.size(), digest.data());
    if (to_hex(digest) != expected) {
        die("output was lost: " + std::to_string(text.size()) + " bytes came, and their hash is not the expected one");
    }
}

// Processor time so far: what a process that has nothing left to do does not use.
std::string time_of(int pid) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream fields(stat.substr(stat.rfind(')')));
    std::string field;
    std::string times;
    for (int i = 0; i < 14 && fields >> field; ++i) {
        times += i >= 12 ? field + ' ' : "";
    }
    return times;
}

double unread(Cellgate& cellgate, const std::string& code, const std::string& hash, const std::string& mark) {
    cellgate.execute("s", "pass");
    const std::uint64_t before = memory_of(cellgate.pid(), "VmRSS");
    std::ofstream("/proc/" + std::to_string(cellgate.pid()) + "/clear_refs") << 5; // VmHWM begins again
    cellgate.send_execute("s", code);
    while (!std::filesystem::exists(mark)) {
        ::usleep(20'000);
    }
    // The kernel is done; cellgate is when it rests.
    for (std::string then, now = "-"; then != now;) {
        then = now;
        ::usleep(500'000);
        now = time_of(cellgate.pid());
    }
    const std::uint64_t most = memory_of(cellgate.pid(), "VmHWM");
    cellgate.await_execute();
    cellgate.read_skipped();
    require_hash(cellgate.output(), hash);
    std::filesystem::remove(mark);
    return static_cast<double>(std::max(most, before) - before);
}

// Samples that the cell takes itself.
void serve_cell(Cellgate& cellgate, const std::string& code, const std::string& rule) {
    cellgate.request("policy/add", R"({"rule":)" + rule + R"(,"scope":"always"})");
    cellgate.create_session("s", "default");
    cellgate.execute("s", code);
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        cellgate.execute("s", "take(" + line + ")");
        std::string text = cellgate.output();
        for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos;) {
            text.replace(at, 2, ",");
        }
        text.pop_back();
        std::cout << '[' << text << ']' << std::endl;
    }
}

void serve_tool_cell(Cellgate& cellgate, const std::string& code) {
    cellgate.request("wrappers/generate", R"({"server":"everything"})");
    serve_cell(cellgate, code, R"({"effect":"allow","kind":"tool","server":"everything","tool":"echo"})");
}

// What it takes to `make` a session; it is closed again outside of that time, and what that leaves to do is awaited.
template <class Make>
void serve_sessions(Cellgate& cellgate, const Make& make, const std::function<void()>& await_rest = [] {}) {
    int sessions = 0;
    serve([&] {
        const std::string id = "s" + std::to_string(++sessions);
        const double start = now();
        make(id);
        const double seconds = now() - start;
        cellgate.request("session/close", R"({"sessionId":")" + id + "\"}");
        await_rest();
        return seconds;
    });
}

void serve_starts(const std::string& program, const std::string& root) {
    serve([&] {
        const double start = now();
        const Cellgate cellgate(program, root);
        return now() - start;
    });
}

// A new session and the result of 1+1, with the kernel that is kept ready for it.
void serve_with_spare(const std::string& program, const std::string& root) {
    ::setenv("BENCH_OPTIONS", R"({"spareKernel":true})", 1);
    Cellgate cellgate(program, root);
    const auto make = [&](const std::string& id) {
        cellgate.create_session(id, "default");
        cellgate.execute(id, "1+1");
    };
    const auto await_spare = [&] {
        while (cellgate.request("stats", "{}").find("\"spareKernel\"") == std::string_view::npos) {
            ::usleep(20'000);
        }
    };
    make("first");
    await_spare();
    serve_sessions(cellgate, make, await_spare);
}

double round_trip(Cellgate& cellgate) {
    const double start = now();
    cellgate.request("session/list", "{}");
    return now() - start;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto is = [&](const char* name, std::size_t more) {
        return arguments.size() == 3 + more && arguments[2] == name;
    };
    if (is("start", 0)) {
        serve_starts(arguments[0], arguments[1]);
        return 0;
    }
    if (is("spare", 0)) {
        serve_with_spare(arguments[0], arguments[1]);
        return 0;
    }
    if (arguments.size() < 3) {
        die("usage: client CELLGATE ROOT CASE…");
    }
    Cellgate cellgate(arguments[0], arguments[1]);
    if (is("relay", 0)) {
        Cellgate connected(arguments[0], arguments[1], {"connect"});
        serve([&] { return (round_trip(connected) - round_trip(cellgate)) / 2; }); // there and back
    } else if (is("idle", 0)) {
        serve([&] { return static_cast<double>(memory_of(cellgate.pid(), "VmRSS")); });
    } else if (is("cold", 1)) {
        serve_sessions(cellgate, [&](const std::string& id) {
            cellgate.create_session(id, arguments[3]);
            cellgate.execute(id, "1+1");
        });
    } else if (is("ready", 0)) {
        serve_sessions(cellgate, [&](const std::string& id) { cellgate.create_session(id, "default"); });
    } else if (is("execute", 2)) {
        cellgate.create_session("s", arguments[3]);
        serve([&] {
            const double start = now();
            cellgate.execute("s", arguments[4]);
            return now() - start;
        });
    } else if (is("cell", 1)) {
        serve_tool_cell(cellgate, read_file(arguments[3]));
    } else if (is("cell", 2)) {
        serve_cell(cellgate, read_file(arguments[3]), arguments[4]);
    } else if (is("output", 2)) {
        const std::string code = read_file(arguments[3]);
        cellgate.create_session("s", "default");
        serve([&] {
            const double start = now();
            cellgate.execute("s", code);
            cellgate.read_skipped();
            const double seconds = now() - start; // every byte has come
            require_hash(cellgate.output(), arguments[4]);
            return seconds;
        });
    } else if (is("unread", 3)) {
        cellgate.create_session("s", "default");
        serve([&] { return unread(cellgate, read_file(arguments[3]), arguments[4], arguments[5]); });
    } else {
        die("no such case");
    }
}
