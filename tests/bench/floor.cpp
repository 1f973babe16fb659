// The floor: the least that a client of a kernel can do, in C++ on bare ZeroMQ over ipc. It polls, believes every
// signature, and looks at nothing but who answered.
//
//     floor cold COMMAND…           a sample starts the kernel and waits for the result of 1+1
//     floor execute CODE COMMAND…   a sample is one round trip, with storeHistory
//
// COMMAND… ends with what is put before the connection file.

#include "raw_jupyter.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

namespace {

using namespace bench;

class Kernel {
  public:
    Kernel(std::vector<std::string> command, void* context) {
        char pattern[] = "/tmp/bench-floor-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        const std::string file = directory_ + "/connection.json";
        std::ofstream(file) << R"({"transport":"ipc","ip":")" << directory_
                            << R"(/s","shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5,)"
                            << R"("signature_scheme":"hmac-sha256","key":")" << key_ << "\"}";
        command.push_back(file);
        process_ = std::make_unique<Child>(command);
        shell_ = connect(context, ZMQ_DEALER, "1");
        iopub_ = connect(context, ZMQ_SUB, "2");
        zmq_setsockopt(iopub_, ZMQ_SUBSCRIBE, "", 0);
        wait_ready();
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel() {
        zmq_close(shell_);
        zmq_close(iopub_);
        process_.reset();
        std::filesystem::remove_all(directory_);
    }

    // Until the reply and the idle of this request.
    void execute(std::string_view code) {
        const std::string id = request("execute_request", R"({"code":")" + std::string(code) +
                                                              R"(","silent":false,"store_history":true,)"
                                                              R"("user_expressions":{},"allow_stdin":false,)"
                                                              R"("stop_on_error":false})");
        bool replied = false;
        bool idle = false;
        while (!replied || !idle) {
            poll(-1);
            for (Message message; receive_message(shell_, message);) {
                replied = replied || member(message.parent, "msg_id") == id;
            }
            for (Message message; receive_message(iopub_, message);) {
                idle =
                    idle || (member(message.header, "msg_type") == "status" && member(message.parent, "msg_id") == id &&
                             message.content.find("idle") != std::string::npos);
            }
        }
    }

  private:
    void* connect(void* context, int type, const std::string& channel) {
        void* socket = zmq_socket(context, type);
        const int none = 0;
        const int interval = 2;
        zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
        zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none);
        zmq_setsockopt(socket, ZMQ_RECONNECT_IVL, &interval, sizeof interval);
        zmq_connect(socket, ("ipc://" + directory_ + "/s-" + channel).c_str());
        return socket;
    }

    std::string request(std::string_view type, std::string_view content) {
        const std::string id = "m" + std::to_string(++requests_);
        send_message(shell_, key_, {}, header(id, type), "{}", content);
        return id;
    }

    void poll(long milliseconds) {
        std::array<zmq_pollitem_t, 2> items{{{shell_, 0, ZMQ_POLLIN, 0}, {iopub_, 0, ZMQ_POLLIN, 0}}};
        zmq_poll(items.data(), static_cast<int>(items.size()), milliseconds);
    }

    void wait_ready() {
        bool replied = false;
        bool heard = false;
        request("kernel_info_request", "{}");
        while (!replied || !heard) {
            poll(replied ? 5 : 2000);
            for (Message message; receive_message(shell_, message);) {
                replied = true;
            }
            for (Message message; receive_message(iopub_, message);) {
                heard = true;
            }
            if (replied && !heard) {
                request("kernel_info_request", "{}");
            }
        }
    }

    std::string key_ = "bench";
    std::string directory_;
    std::unique_ptr<Child> process_;
    void* shell_ = nullptr;
    void* iopub_ = nullptr;
    std::uint64_t requests_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    void* context = zmq_ctx_new();
    if (arguments.size() > 1 && arguments[0] == "cold") {
        const std::vector<std::string> command(arguments.begin() + 1, arguments.end());
        serve([&] {
            const double start = now();
            Kernel kernel(command, context);
            kernel.execute("1+1");
            return now() - start;
        });
    } else if (arguments.size() > 2 && arguments[0] == "execute") {
        Kernel kernel({arguments.begin() + 2, arguments.end()}, context);
        serve([&] {
            const double start = now();
            kernel.execute(arguments[1]);
            return now() - start;
        });
    } else {
        bench::die("usage: floor cold COMMAND… | floor execute CODE COMMAND…");
    }
    zmq_ctx_term(context);
}
