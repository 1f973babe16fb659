#include "server_wire.hpp"

namespace cellgate::mcp {

namespace {

struct ElicitationAnswer {
    std::string action;
    std::optional<RawJson> content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("action", self.action);
        visit("content", self.content);
    }
};

struct ConsentForm {
    std::optional<RawJson> allow;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("allow", self.allow);
    }
};

struct FormCapabilities {
    std::optional<RawJson> elicitation;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("elicitation", self.elicitation);
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

RawJson consent_params(std::string_view question) {
    std::string params = R"({"mode":"form","message":)";
    append_json_string(params, question);
    params += R"(,"requestedSchema":{"type":"object","properties":{"allow":{"type":"boolean",)"
              R"("title":"Allow exactly this, once","default":false}},"required":["allow"]}})";
    return RawJson::checked(params);
}

bool is_consent(const RawJson& answer) {
    try {
        const auto given = from_json<ElicitationAnswer>(answer, "answer");
        if (given.action != "accept" || !given.content) {
            return false;
        }
        const auto form = from_json<ConsentForm>(*given.content, "answer.content");
        return form.allow && form.allow->text() == "true";
    } catch (const Error&) {
        return false; // whatever it is, it is no yes
    }
}

bool takes_forms(const RawJson& capabilities) {
    if (!capabilities.is_object()) {
        return false;
    }
    const auto elicitation = from_json<FormCapabilities>(capabilities, "capabilities").elicitation;
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

Implementation read_client_info(const RawJson& value) {
    try {
        const auto loose = from_json<LooseImplementation>(value, "clientInfo");
        return Implementation{loose.name.value_or(""), loose.version.value_or("")};
    } catch (const Error&) {
        return {};
    }
}

} // namespace cellgate::mcp
