#include "server_wire.hpp"

#include "base/escape_unprintable.hpp"
#include "elicitation_wire.hpp"
#include "wire.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

struct ConsentForm {
    std::optional<RawJson> allow;
    std::optional<RawJson> again;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("allow", self.allow);
        visit("again", self.again);
    }
};

struct Capabilities {
    std::optional<RawJson> elicitation;
    std::optional<RawJson> extensions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("elicitation", self.elicitation);
        visit("extensions", self.extensions);
    }
};

struct LooseImplementation {
    std::optional<std::string> name;
    std::optional<std::string> version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

} // namespace

protocol::ErrorWithData unsupported_version(std::string_view found) {
    const std::string shown = escape_unprintable(found.substr(0, 40));
    std::string data = fmt::format(R"({{"supported":["{}"],"requested":)", modern_version);
    append_json_string(data, shown);
    return {static_cast<ErrorCode>(unsupported_protocol_version),
            fmt::format("expected MCP {}, found {}", modern_version, shown), RawJson::checked(data + "}")};
}

RawJson consent_params(const ConsentRequest& question) {
    std::string params = R"({"mode":"form","message":)";
    append_json_string(params, question.text);
    params += R"(,"requestedSchema":{"type":"object","properties":{"allow":{"type":"boolean",)"
              R"("title":"Allow exactly this, once","default":false})";
    if (question.until_end) {
        params +=
            R"(,"again":{"type":"boolean","title":"And exactly this again, until the cell ends","default":false})";
    }
    params += R"(},"required":["allow"]}})";
    return RawJson::checked(params);
}

Consent consent_of(const RawJson& answer, const ConsentRequest& question) {
    const auto is_ticked = [](const std::optional<RawJson>& box) { return box && box->text() == "true"; };
    try {
        const auto given = from_json<ElicitResult>(answer, "answer");
        if (given.action != "accept") {
            return given.action == "cancel" ? Consent::cancelled : Consent::declined;
        }
        const auto form = from_json<ConsentForm>(given.content.value_or(RawJson::checked("{}")), "answer.content");
        if (!is_ticked(form.allow)) {
            return Consent::not_ticked;
        }
        return question.until_end && is_ticked(form.again) ? Consent::until_end : Consent::once;
    } catch (const Error&) {
        return Consent::declined; // whatever it is, it is no yes
    }
}

bool takes_forms(const RawJson& capabilities) {
    if (!capabilities.is_object()) {
        return false;
    }
    const auto elicitation = from_json<Capabilities>(capabilities, "capabilities").elicitation;
    if (!elicitation || !elicitation->is_object()) {
        return false;
    }
    // Before 2025-11-25 there were no kinds of elicitation; since then a client that names only other kinds does not
    // support forms.
    const auto kinds = json_members(elicitation->text());
    bool has_form = kinds.empty();
    for (const auto& [kind, value] : kinds) {
        has_form = has_form || kind == "form";
    }
    return has_form;
}

bool takes_tasks(const RawJson& capabilities) {
    if (!capabilities.is_object()) {
        return false;
    }
    const auto extensions = from_json<Capabilities>(capabilities, "capabilities").extensions;
    return extensions && extensions->is_object() && !json_member(extensions->text(), tasks_extension).empty();
}

RawJson with_members(std::string_view members, const RawJson& object) {
    const bool empty = json_members(object.text()).empty();
    return RawJson::checked(fmt::format("{{{}{}{}", members, empty ? "" : ",", object.text().substr(1)));
}

RawJson completed(Era era, const RawJson& result) {
    return era == Era::legacy ? result : with_members(R"("resultType":"complete")", result);
}

RawJson cacheable(Era era, std::string_view members, std::chrono::milliseconds fresh) {
    const std::string freshness = fmt::format(R"(,"ttlMs":{},"cacheScope":"private")", fresh.count());
    return completed(era, RawJson::checked(fmt::format("{{{}{}}}", members, era == Era::modern ? freshness : "")));
}

Implementation read_client_info(const RawJson& value) {
    try {
        const auto loose = from_json<LooseImplementation>(value, "clientInfo");
        return Implementation{loose.name.value_or(""), loose.version.value_or("")};
    } catch (const Error&) {
        return {};
    }
}

} // namespace cellgate::mcp
