#pragma once
// `CommTools` is how code in a kernel that has no socket to us calls tools: kernel/comm_channel.py, which is sent as
// code, carries the connections of a tool channel over a comm, and the workspace's wrappers are sent to a folder there.
// Python only. It is between the kernel's client and the listener of the session, so it outlives the kernel. Owned by
// the kernel's instance.

#include "async/loop.hpp"
#include "jupyter/kernel.hpp"
#include "tools/comm_listener.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::session {

class CommTools final : public jupyter::KernelListener {
  public:
    // `workspace`: the folder that has the wrappers, mcptools.
    CommTools(async::Loop& loop, jupyter::KernelListener& listener, std::string workspace);

    // Begins in a kernel that is idle. Throws Error{unsupported} with the kernel's reason, and what KernelClient::ask()
    // throws.
    Task<void> attach(jupyter::Kernel& kernel);
    // Sends the wrappers, if they are others than were sent. Throws as attach() does.
    Task<void> deliver();
    // The kernel is asked to remove what it has for this session. Must have been awaited before the kernel's end.
    Task<void> end();
    // For a tools::Channel.
    const std::shared_ptr<tools::CommListener>& connections() const { return connections_; }

    void on_output(const std::string& parent, jupyter::Output output) override;
    void on_input_request(jupyter::InputRequest request) override;
    void on_comm(const std::string& type, std::string content) override;
    void on_reconnected() override;

  private:
    Task<void> run(std::string code);

    async::Loop& loop_;
    jupyter::KernelListener& listener_;
    const std::string workspace_;
    const std::string comm_id_;
    jupyter::Kernel* kernel_ = nullptr; // while it is attached, or asked to
    bool attached_ = false;
    std::shared_ptr<tools::CommListener> connections_;
    std::string delivered_; // what the files were
    TaskScope repeating_;
};

} // namespace cellgate::session
