#pragma once
// `FakeKernel` is a kernel that a test plays over real sockets, `Recorder` a listener that keeps what it receives, and
// `TempDirectory` a folder in which a test writes files.

#include "async/loop.hpp"
#include "jupyter/connection.hpp"
#include "jupyter/kernel_client.hpp"
#include "jupyter/wire.hpp"
#include "temp_folder.hpp"
#include "zmq_peer.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cellgate::jupyter::test {

struct TempDirectory : TempFolder {
    std::string operator/(const std::string& name) const { return (path / name).string(); }
    void write(const std::string& name, const std::string& text, bool executable = false) const {
        const std::filesystem::path file = path / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
        if (executable) {
            std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        }
    }
};

struct Recorded {
    std::string parent;
    Output output;
};

struct Recorder : KernelListener {
    void on_output(const std::string& parent, Output output) override {
        outputs.push_back(Recorded{parent, std::move(output)});
        changed.set();
    }
    void on_input_request(InputRequest request) override {
        prompts.push_back(std::move(request));
        changed.set();
    }
    void on_comm(const std::string& type, std::string content) override {
        comms.emplace_back(type, std::move(content));
        changed.set();
    }

    // All text of a stream, as it would be read.
    std::string stream_text(const std::string& name = "stdout") const {
        std::string text;
        for (const Recorded& each : outputs) {
            const Json body = each.output.body.value();
            if (each.output.type == OutputType::stream && body.at("name") == name) {
                text += body.at("text").get<std::string>();
            }
        }
        return text;
    }
    std::vector<std::string> bodies() const {
        std::vector<std::string> result;
        for (const Recorded& each : outputs) {
            result.push_back(each.output.body.text());
        }
        return result;
    }

    // Awaits more deliveries until `enough` says so.
    static Task<void> until(Recorder* recorder, std::function<bool()> enough) {
        while (!enough()) {
            recorder->changed.reset();
            co_await recorder->changed.wait();
        }
    }

    std::vector<Recorded> outputs;
    std::vector<InputRequest> prompts;
    std::vector<std::pair<std::string, std::string>> comms; // type, content
    Event changed;
};

struct FakeRequest {
    async::ZmqMessage identities;
    WireMessage message;
};

struct FakeKernel {
    FakeKernel(async::Loop& loop, const ConnectionInfo& connection)
        : key(connection.key), reader(key), shell(loop, ZMQ_ROUTER), control(loop, ZMQ_ROUTER),
          stdin_socket(loop, ZMQ_ROUTER), iopub(loop, ZMQ_PUB) {
        shell.bind(connection.endpoint(Channel::shell));
        control.bind(connection.endpoint(Channel::control));
        stdin_socket.bind(connection.endpoint(Channel::stdin_));
        iopub.bind(connection.endpoint(Channel::iopub));
    }

    static Task<FakeRequest> next(FakeKernel* self, async::ZmqPeer* socket) {
        async::ZmqMessage frames = co_await socket->receive();
        FakeRequest request;
        request.identities.push_back(frames.front());
        request.message = self->reader.read(std::move(frames));
        co_return request;
    }

    async::ZmqMessage encode(const std::string& type, const std::string& parent_header, const std::string& content,
                             const async::ZmqMessage& identities) {
        const Header header{"fake-" + std::to_string(++sent), type};
        return encode_message(key, header, parent_header, content, "fake", identities);
    }
    void publish(const std::string& parent_header, const std::string& type, const std::string& content) {
        iopub.send(encode(type, parent_header, content, {"topic"}));
    }
    void status(const std::string& parent_header, const std::string& state) {
        publish(parent_header, "status", R"({"execution_state":")" + state + "\"}");
    }
    void idle(const FakeRequest& request) { status(request.message.header_text, "idle"); }
    void reply(const FakeRequest& request, const std::string& type, const std::string& content) {
        shell.send(encode(type, request.message.header_text, content, request.identities));
    }
    void reply_ok(const FakeRequest& request) {
        reply(request, "execute_reply", R"({"status":"ok","execution_count":1})");
    }
    void answer_info(const FakeRequest& request) {
        reply(request, "kernel_info_reply",
              R"({"status":"ok","implementation":"fake","language_info":{"name":"python","version":"3.11"}})");
    }

    // Answers kernel_info_request as a good kernel does and returns the first request of another type.
    static Task<FakeRequest> next_execute(FakeKernel* self) {
        while (true) {
            FakeRequest request = co_await next(self, &self->shell);
            if (request.message.header.msg_type != "kernel_info_request") {
                co_return request;
            }
            ++self->info_requests;
            self->answer_info(request);
            self->idle(request);
        }
    }

    std::string key;
    WireReader reader;
    async::ZmqPeer shell;
    async::ZmqPeer control;
    async::ZmqPeer stdin_socket;
    async::ZmqPeer iopub;
    int sent = 0;
    int info_requests = 0;
};

inline ExecuteRequest code(std::string msg_id, std::string text) {
    ExecuteRequest request;
    request.msg_id = std::move(msg_id);
    request.code = std::move(text);
    return request;
}

} // namespace cellgate::jupyter::test
