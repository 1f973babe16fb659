#pragma once
// `InitializeParams` is, as all here, a message of the Language Server Protocol 3.17 that `cellgate lsp` reads or
// sends, with the fields that it uses. Lines and characters count from 0; a character is a unit of UTF-16.

#include "base/json_codec.hpp"
#include "protocol/method.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::cli::lsp {

struct Position {
    std::int64_t line = 0;
    std::int64_t character = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("line", self.line);
        visit("character", self.character);
    }
};

struct Range {
    Position start;
    Position end; // the first that is not in it
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("start", self.start);
        visit("end", self.end);
    }
};

enum class Severity { error = 1, warning = 2, information = 3 };

struct Diagnostic {
    Range range;
    int severity = static_cast<int>(Severity::information);
    std::string source = "cellgate";
    std::string message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("range", self.range);
        visit("severity", self.severity);
        visit("source", self.source);
        visit("message", self.message);
    }
};

struct PublishDiagnosticsParams {
    std::string uri;
    std::optional<std::int64_t> version;
    std::vector<Diagnostic> diagnostics;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("version", self.version);
        visit("diagnostics", self.diagnostics);
    }
};
struct PublishDiagnostics : protocol::Notification<PublishDiagnosticsParams> {
    static constexpr std::string_view name = "textDocument/publishDiagnostics";
};

struct WorkspaceFolder {
    std::string uri;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
    }
};

struct CodeLensCapability {
    std::optional<bool> refresh;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("refreshSupport", self.refresh);
    }
};
struct WorkspaceCapabilities {
    std::optional<CodeLensCapability> code_lens;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("codeLens", self.code_lens);
    }
};
struct Capabilities {
    std::optional<WorkspaceCapabilities> workspace;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("workspace", self.workspace);
    }
};
struct NamedClient {
    std::string name;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
    }
};
struct InitializeParams {
    std::optional<NamedClient> client_info;
    std::optional<std::string> root_uri;
    std::optional<std::vector<WorkspaceFolder>> workspace_folders;
    std::optional<Capabilities> capabilities;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("clientInfo", self.client_info);
        visit("rootUri", self.root_uri);
        visit("workspaceFolders", self.workspace_folders);
        visit("capabilities", self.capabilities);
    }
};

struct TextDocument {
    std::string uri;
    std::optional<std::string> language; // when it is opened
    std::optional<std::int64_t> version;
    std::optional<std::string> text; // when it is opened
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("languageId", self.language);
        visit("version", self.version);
        visit("text", self.text);
    }
};
struct ContentChange {
    std::string text; // all of the document's
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
    }
};
// Of all notifications and requests about a document.
struct DocumentParams {
    TextDocument document;
    std::optional<std::vector<ContentChange>> changes;
    std::optional<Range> range;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("textDocument", self.document);
        visit("contentChanges", self.changes);
        visit("range", self.range);
    }
};
struct DidOpen : protocol::Notification<DocumentParams> {
    static constexpr std::string_view name = "textDocument/didOpen";
};
struct DidChange : protocol::Notification<DocumentParams> {
    static constexpr std::string_view name = "textDocument/didChange";
};
struct DidClose : protocol::Notification<DocumentParams> {
    static constexpr std::string_view name = "textDocument/didClose";
};
struct Exit : protocol::Notification<Empty> {
    static constexpr std::string_view name = "exit";
};

struct Command {
    std::string title;
    std::string command;
    std::vector<RawJson> arguments;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("title", self.title);
        visit("command", self.command);
        visit("arguments", self.arguments);
    }
};
struct CodeLens {
    Range range;
    Command command;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("range", self.range);
        visit("command", self.command);
    }
};
struct CodeLenses : protocol::Request<DocumentParams, std::vector<CodeLens>> {
    static constexpr std::string_view name = "textDocument/codeLens";
};
struct CodeAction {
    std::string title;
    std::string kind; // "quickfix", or "source" for what belongs to no diagnostic
    std::optional<std::vector<Diagnostic>> diagnostics;
    Command command;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("title", self.title);
        visit("kind", self.kind);
        visit("diagnostics", self.diagnostics);
        visit("command", self.command);
    }
};
struct CodeActions : protocol::Request<DocumentParams, std::vector<CodeAction>> {
    static constexpr std::string_view name = "textDocument/codeAction";
};

struct ExecuteCommandParams {
    std::string command;
    std::optional<std::vector<RawJson>> arguments;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("command", self.command);
        visit("arguments", self.arguments);
    }
};

struct ShowMessageParams {
    int type = static_cast<int>(Severity::information);
    std::string message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("type", self.type);
        visit("message", self.message);
    }
};
struct ShowMessage : protocol::Notification<ShowMessageParams> {
    static constexpr std::string_view name = "window/showMessage";
};
struct MessageAction {
    std::string title;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("title", self.title);
    }
};
struct ShowMessageRequestParams {
    int type = static_cast<int>(Severity::warning);
    std::string message;
    std::vector<MessageAction> actions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("type", self.type);
        visit("message", self.message);
        visit("actions", self.actions);
    }
};
} // namespace cellgate::cli::lsp
