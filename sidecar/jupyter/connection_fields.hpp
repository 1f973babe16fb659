#pragma once
// `ConnectionFields` is a connection file of Jupyter, field by field. Private to the module.

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::jupyter {

struct ConnectionFields {
    std::string transport = "tcp";
    std::string ip = "127.0.0.1"; // for ipc: the path before "-<port>"
    std::int64_t shell_port = 0;
    std::int64_t iopub_port = 0;
    std::int64_t stdin_port = 0;
    std::int64_t control_port = 0;
    std::int64_t hb_port = 0;
    std::string signature_scheme = "hmac-sha256";
    std::string key;
    std::optional<std::string> kernel_name;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("transport", self.transport);
        visit("ip", self.ip);
        visit("shell_port", self.shell_port);
        visit("iopub_port", self.iopub_port);
        visit("stdin_port", self.stdin_port);
        visit("control_port", self.control_port);
        visit("hb_port", self.hb_port);
        visit("signature_scheme", self.signature_scheme);
        visit("key", self.key);
        visit("kernel_name", self.kernel_name);
    }
};

} // namespace cellgate::jupyter
