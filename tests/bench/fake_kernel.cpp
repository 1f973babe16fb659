// A kernel that runs nothing and answers at once with what ipykernel answers to `1`: what is measured against it is the
// client's own cost. Usage: fake_kernel CONNECTION_FILE.

#include "raw_jupyter.hpp"

#include <fstream>

namespace {

using namespace bench;

struct Sockets {
    std::string key;
    void* shell;
    void* control;
    void* iopub;
    void* stdin_socket;
    void* heartbeat;
};

Sockets bind_all(const char* file) {
    const nlohmann::json connection = nlohmann::json::parse(std::ifstream(file));
    void* context = zmq_ctx_new();
    const auto bind = [&](int type, const char* port) {
        void* socket = zmq_socket(context, type);
        const bool ipc = connection.at("transport") == "ipc";
        const std::string address =
            connection.at("ip").get<std::string>() + (ipc ? "-" : ":") + std::to_string(connection.at(port).get<int>());
        const int unlimited = 0;
        zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited);
        if (zmq_bind(socket, ((ipc ? "ipc://" : "tcp://") + address).c_str()) != 0) {
            die("cannot bind to " + address);
        }
        return socket;
    };
    return Sockets{connection.at("key"),        bind(ZMQ_ROUTER, "shell_port"), bind(ZMQ_ROUTER, "control_port"),
                   bind(ZMQ_PUB, "iopub_port"), bind(ZMQ_ROUTER, "stdin_port"), bind(ZMQ_ROUTER, "hb_port")};
}

class ApprovalClient {
  public:
    explicit ApprovalClient(const Sockets& sockets) : sockets_(sockets) {}

    void answer(void* socket, const Message& request) {
        const std::string_view type = member(request.header, "msg_type");
        publish(request, "status", R"({"execution_state":"busy"})");
        if (type == "execute_request") {
            ++count_;
            const std::string count = std::to_string(count_);
            publish(request, "execute_input", R"({"code":"1","execution_count":)" + count + "}");
            publish(request, "execute_result",
                    R"({"data":{"text/plain":"1"},"metadata":{},"execution_count":)" + count + "}");
            reply(socket, request, "execute_reply",
                  R"({"status":"ok","execution_count":)" + count + R"(,"user_expressions":{},"payload":[]})");
        } else if (type == "kernel_info_request") {
            reply(socket, request, "kernel_info_reply",
                  R"({"status":"ok","protocol_version":"5.3","implementation":"fake","implementation_version":"1",)"
                  R"("language_info":{"name":"python","version":"3"},"banner":"","help_links":[]})");
        } else if (type == "shutdown_request") {
            reply(socket, request, "shutdown_reply", R"({"status":"ok","restart":false})");
            publish(request, "status", R"({"execution_state":"idle"})");
            ::usleep(100'000); // the answer is on its way
            std::exit(0);
        }
        publish(request, "status", R"({"execution_state":"idle"})");
    }

  private:
    std::string next(std::string_view type) { return header("k" + std::to_string(++sent_), type); }
    void publish(const Message& request, const std::string& type, std::string_view content) {
        send_message(sockets_.iopub, sockets_.key, {type}, next(type), request.header, content);
    }
    void reply(void* socket, const Message& request, std::string_view type, std::string_view content) {
        send_message(socket, sockets_.key, request.identities, next(type), request.header, content);
    }

    const Sockets& sockets_;
    std::uint64_t sent_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        bench::die("usage: fake_kernel CONNECTION_FILE");
    }
    const Sockets sockets = bind_all(argv[1]);
    ApprovalClient client(sockets);
    std::array<zmq_pollitem_t, 3> items{{{sockets.shell, 0, ZMQ_POLLIN, 0},
                                         {sockets.control, 0, ZMQ_POLLIN, 0},
                                         {sockets.heartbeat, 0, ZMQ_POLLIN, 0}}};
    while (true) {
        zmq_poll(items.data(), static_cast<int>(items.size()), -1);
        for (void* socket : {sockets.shell, sockets.control}) {
            for (Message message; receive_message(socket, message);) {
                client.answer(socket, message);
            }
        }
        for (std::vector<std::string> beat = receive_frames(sockets.heartbeat); !beat.empty();
             beat = receive_frames(sockets.heartbeat)) {
            send_frames(sockets.heartbeat, beat);
        }
    }
}
