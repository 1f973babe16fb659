// The floor of a tool call over Streamable HTTP: libcurl alone, on one connection. Usage: direct_http ARGUMENTS URL; a
// sample is one call of the server's tool `echo` with the JSON text ARGUMENTS. It speaks the version that cellgate
// agrees on: for that one, the server does more for each call than for earlier ones.

#include "worker.hpp"

#include <curl/curl.h>

namespace {

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* to) {
    static_cast<std::string*>(to)->append(bytes, size * count);
    return size * count;
}

std::size_t take_session(char* bytes, std::size_t size, std::size_t count, void* to) {
    constexpr std::string_view name = "mcp-session-id: ";
    const std::string_view field(bytes, size * count);
    if (field.substr(0, name.size()) == name) {
        *static_cast<std::string*>(to) = field.substr(name.size(), field.find_first_of("\r\n") - name.size());
    }
    return size * count;
}

class Caller {
  public:
    explicit Caller(const char* url) : curl_(curl_easy_init()) {
        curl_easy_setopt(curl_, CURLOPT_URL, url);
        curl_easy_setopt(curl_, CURLOPT_NOPROXY, "*");
        curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, append);
        curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &answer_);
        curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, take_session);
        curl_easy_setopt(curl_, CURLOPT_HEADERDATA, &session_);
        fields_ = curl_slist_append(fields_, "Content-Type: application/json");
        fields_ = curl_slist_append(fields_, "Accept: application/json, text/event-stream");
        curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, fields_);
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    ~Caller() {
        curl_easy_cleanup(curl_);
        curl_slist_free_all(fields_);
    }

    const std::string& call(const std::string& request) {
        answer_.clear();
        curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.size()));
        curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, request.c_str());
        if (const CURLcode code = curl_easy_perform(curl_); code != CURLE_OK) {
            bench::die(curl_easy_strerror(code));
        }
        return answer_;
    }
    void begin_session() {
        call(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
             R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})");
        fields_ = curl_slist_append(fields_, ("Mcp-Session-Id: " + session_).c_str());
        fields_ = curl_slist_append(fields_, "MCP-Protocol-Version: 2025-11-25");
        curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, fields_);
        call(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    }

  private:
    CURL* curl_;
    curl_slist* fields_ = nullptr;
    std::string answer_;
    std::string session_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        bench::die("usage: direct_http ARGUMENTS URL");
    }
    Caller caller(argv[2]);
    caller.begin_session();
    std::uint64_t id = 0;
    bench::serve([&] {
        const double start = bench::now();
        const std::string& reply =
            caller.call(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id) +
                        R"(,"method":"tools/call","params":{"name":"echo","arguments":)" + argv[1] + "}}");
        const double seconds = bench::now() - start;
        if (reply.find("Echo: ") == std::string::npos) {
            bench::die("expected an echo, found " + reply);
        }
        return seconds;
    });
}
