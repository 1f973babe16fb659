#include "kernel_messages.hpp"

#include "base/json_codec.hpp"
#include "output_reader.hpp"
#include "truncate_text.hpp"

#include <utility>

namespace cellgate::jupyter {

namespace {

constexpr std::size_t max_prompt_bytes = std::size_t{16} << 10;

struct ExecuteContent {
    const ExecuteRequest& request;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.request.code);
        visit("silent", self.request.silent);
        visit("store_history", self.request.store_history);
        visit("user_expressions", self.user_expressions);
        visit("allow_stdin", self.request.allow_stdin);
        visit("stop_on_error", self.request.stop_on_error);
    }
    Empty user_expressions;
};

struct ShutdownContent {
    bool restart = false;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("restart", self.restart);
    }
};

struct InputReplyContent {
    std::string value;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("value", self.value);
    }
};

struct InputRequestContent {
    std::string prompt;
    bool password = false;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("prompt", self.prompt);
        visit("password", self.password);
    }
};

struct StatusContent {
    std::string execution_state;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution_state", self.execution_state);
    }
};

struct ExecuteReplyContent {
    std::string status;
    std::optional<std::int64_t> execution_count;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("status", self.status);
        visit("execution_count", self.execution_count);
    }
};

struct LanguageInfo {
    std::optional<std::string> name;
    std::optional<std::string> version;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

struct KernelInfoContent {
    std::optional<std::string> implementation;
    std::optional<std::string> implementation_version;
    std::optional<LanguageInfo> language_info;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("implementation", self.implementation);
        visit("implementation_version", self.implementation_version);
        visit("language_info", self.language_info);
    }
};

} // namespace

std::string execute_request_content(const ExecuteRequest& request) {
    const ExecuteContent content{request, {}};
    return to_json(content);
}

std::string shutdown_request_content(bool restart) {
    return to_json(ShutdownContent{restart});
}

std::string input_reply_content(std::string value) {
    return to_json(InputReplyContent{std::move(value)});
}

std::string read_execution_state(std::string_view content) {
    return from_json<StatusContent>(content, "status").execution_state;
}

KernelInfoReply read_kernel_info(std::string_view text) {
    KernelInfoContent content = from_json<KernelInfoContent>(text, "kernel_info_reply");
    LanguageInfo language = std::move(content.language_info).value_or(LanguageInfo{});
    KernelInfoReply info;
    info.implementation = std::move(content.implementation).value_or("");
    info.implementation_version = std::move(content.implementation_version).value_or("");
    info.language = std::move(language.name).value_or("");
    info.language_version = std::move(language.version).value_or("");
    return info;
}

InputRequest read_input_request(std::string_view text) {
    const InputRequestContent content = from_json<InputRequestContent>(text, "input_request");
    InputRequest request;
    request.prompt = truncate_text(content.prompt, max_prompt_bytes);
    request.password = content.password;
    return request;
}

ExecuteReply read_execute_reply(std::string_view text) {
    const ExecuteReplyContent content = from_json<ExecuteReplyContent>(text, "execute_reply");
    ExecuteReply reply;
    reply.execution_count = content.execution_count.value_or(0);
    if (content.status == "error") {
        reply.status = ExecuteStatus::error;
        reply.error = read_error(text);
    } else if (content.status != "ok") {
        reply.status = ExecuteStatus::aborted; // "abort" in old kernels
    }
    Payload payload = read_payload(text);
    reply.asks_exit = payload.asks_exit;
    reply.outputs = std::move(payload.shown);
    return reply;
}

ExecuteReply lost_reply(std::optional<KernelError> shown) {
    ExecuteReply reply;
    reply.status = ExecuteStatus::error;
    if (shown) {
        reply.error = std::move(shown);
    } else {
        reply.error.emplace();
        reply.error->ename = "ReplyLost";
        reply.error->evalue = "the kernel has finished without a valid reply";
    }
    return reply;
}

ExecuteReply reply_lost_in_cut(std::optional<KernelError> shown) {
    ExecuteReply reply = lost_reply(std::move(shown));
    if (reply.error->ename == "ReplyLost") {
        reply.error->evalue = "the code ran, but the connection to the kernel was cut and its reply was lost";
    }
    return reply;
}

ExecuteReply unknown_fate() {
    ExecuteReply reply;
    reply.status = ExecuteStatus::error;
    reply.error.emplace();
    reply.error->ename = "ConnectionCut";
    reply.error->evalue =
        "the connection to the kernel was cut before it answered: whether this code ran is not known, "
        "and it was not sent again";
    return reply;
}

} // namespace cellgate::jupyter
