// Rules about requests of HTTP, the questions about them, and what is put in.

#include "base/escape_unprintable.hpp"
#include "gate_fixture.hpp"
#include "payload.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gate_fixture;

namespace {

using Texts = std::vector<std::string>;

gate::HttpRequest request(const std::string& method, const std::string& path,
                          const std::string& host_name = "api.example.org") {
    gate::HttpRequest made;
    made.tls = true;
    made.host = host_name;
    made.port = 443;
    made.method = method;
    made.path = path;
    return made;
}

gate::HttpRequest with_body(gate::HttpRequest made, const std::string& body) {
    made.body = body;
    made.body_bytes = static_cast<std::int64_t>(body.size());
    return made;
}

RuleSpec about(Effect effect, Texts methods = {}, Texts paths = {}, const std::string& host_name = "api.example.org") {
    RuleSpec spec = rule(effect, ActionKind::request);
    spec.host = host_name;
    if (!methods.empty()) {
        spec.methods = std::move(methods);
    }
    if (!paths.empty()) {
        spec.paths = std::move(paths);
    }
    return spec;
}

RuleSpec injecting(protocol::InjectionAs as, const std::string& value, std::optional<std::string> name = std::nullopt) {
    RuleSpec spec = about(Effect::inspect);
    spec.inject.emplace();
    spec.inject->as = as;
    spec.inject->value = value;
    spec.inject->name = std::move(name);
    return spec;
}

// What the rule alone makes of the request.
Effect by(const RuleSpec& spec, const gate::HttpRequest& action) {
    Fixture fixture;
    fixture.add(spec);
    return fixture.explain(action).effect;
}

gate::Request asking(Action action) {
    gate::Request made;
    made.action = std::move(action);
    made.session_id = "s";
    made.from_code = true;
    return made;
}

Texts labels_of(const protocol::Approval& approval) {
    Texts labels;
    for (const protocol::Choice& choice : approval.choices) {
        CHECK(escape_unprintable(choice.label) == choice.label);
        labels.push_back(choice.label);
    }
    return labels;
}

Texts labels(Fixture& fixture, Action action, const std::string& execution = {}) {
    fixture.ask(std::move(action), execution);
    const Texts found = labels_of(fixture.user.requested.back());
    fixture.deny();
    return found;
}

Texts display(Action action) {
    Fixture fixture;
    fixture.ask(std::move(action));
    const Texts lines = fixture.user.requested.back().display;
    for (const std::string& line : lines) {
        CHECK(escape_unprintable(line) == line);
    }
    fixture.deny();
    return lines;
}

gate::Connection connection(const std::string& host_name = "api.example.org", std::int64_t port = 443) {
    gate::Connection made;
    made.host = host_name;
    made.port = port;
    return made;
}

} // namespace

TEST_CASE("a rule about requests is about its methods alone") {
    CHECK(by(about(Effect::allow, {"GET", "HEAD"}), request("GET", "/x")) == Effect::allow);
    CHECK(by(about(Effect::allow, {"GET", "HEAD"}), request("POST", "/x")) == Effect::ask);
    CHECK(by(about(Effect::deny, {"DELETE"}), request("DELETE", "/x")) == Effect::deny);
    CHECK(by(about(Effect::deny, {"DELETE"}), request("GET", "/x")) == Effect::ask);
    // Some servers take them in any case.
    CHECK(by(about(Effect::allow, {"GET"}), request("get", "/x")) == Effect::ask);
    CHECK(by(about(Effect::deny, {"DELETE"}), request("Delete", "/x")) == Effect::deny);
    CHECK(by(about(Effect::allow, {}, {}, "other.example.org"), request("GET", "/x")) == Effect::ask);
}

TEST_CASE("a rule about requests is about the paths of its patterns alone") {
    const RuleSpec allow = about(Effect::allow, {}, {"/repos/*/plan", "/user"});
    for (const char* path : {"/repos/ada/plan", "/user"}) {
        CHECK(by(allow, request("GET", path)) == Effect::allow);
    }
    for (const char* path : {"/repos/ada/b/plan", "/repos/ada/plan/x", "/users", "/", "*"}) {
        CHECK(by(allow, request("GET", path)) == Effect::ask);
    }
    CHECK(by(about(Effect::allow, {}, {"/a%20b/**"}), request("GET", "/a%20b/c")) == Effect::allow);
}

TEST_CASE("a path that servers read differently is allowed by no pattern, and denied by each that it may mean") {
    for (const char* path :
         {"/repos/../x", "/repos//x", "/repos/%2e%2e/x", "/repos/%2E./x", "/repos/a%2fb", "/repos/a;b", "/repos/a\\b",
          "/repos/./x", "/repos/.", "/repos/..", "/repos/%252e", "/repos/a%00b", "/repos/%", "/repos/%5cx"}) {
        CAPTURE(path);
        CHECK(by(about(Effect::allow, {}, {"/**"}), request("GET", path)) == Effect::ask);
        CHECK(by(about(Effect::deny, {}, {"/admin/**"}), request("GET", path)) == Effect::deny);
    }
    // Decoded, in another case or without the last slash it is what the pattern covers.
    for (const char* path : {"/%61dmin/x", "/Admin/x", "/ADMIN/%78", "/admin/x/"}) {
        CAPTURE(path);
        CHECK(by(about(Effect::allow, {}, {"/admin/x"}), request("GET", path)) == Effect::ask);
        CHECK(by(about(Effect::deny, {}, {"/admin/x"}), request("GET", path)) == Effect::deny);
    }
    CHECK(by(about(Effect::deny, {}, {"/admin/x"}), request("GET", "/admin/y")) == Effect::ask); // control
}

TEST_CASE("a rule has conditions on a body of JSON, and a body that is none may mean what they are about") {
    const RuleSpec ask = with(about(Effect::ask, {"POST"}, {"/graphql"}), "/query", glob("**mutation**"));
    Fixture fixture;
    fixture.add(ask, Scope::workspace);
    fixture.add(about(Effect::allow), Scope::workspace);
    const auto effect = [&](const gate::HttpRequest& action) { return fixture.explain(action).effect; };
    const gate::HttpRequest post = request("POST", "/graphql");
    CHECK(effect(with_body(post, R"({"query": "{ viewer { login } }"})")) == Effect::allow);
    CHECK(effect(with_body(post, R"({"query": "mutation { x }"})")) == Effect::ask);
    CHECK(effect(with_body(post, "{\n\"query\": \"mutation { x(a: \\\"b/c\\\") }\"}")) == Effect::ask);
    for (const char* body : {R"({"query":"{x}","query":"mutation{x}"})", R"([{"query":"mutation{x}"}])",
                             "query=mutation", R"({"query":"mutation{x}"} x)"}) {
        CAPTURE(body);
        CHECK(effect(with_body(post, body)) == Effect::ask);
    }
    gate::HttpRequest bytes = post;
    bytes.body_bytes = 5;
    bytes.body_sha256 = std::string(64, '0');
    CHECK(effect(bytes) == Effect::ask);
    CHECK(effect(post) == Effect::ask); // of an unknown length
    CHECK(effect(with_body(post, "")) == Effect::allow);
    const RuleSpec allow = with(about(Effect::allow, {"POST"}), "/title", equals("\"a\""));
    CHECK(by(allow, with_body(post, R"({"title":"a"})")) == Effect::allow);
    CHECK(by(allow, with_body(post, R"({"title":"b"})")) == Effect::ask);
    CHECK(by(allow, with_body(post, "title=a")) == Effect::ask);
    CHECK(by(allow, post) == Effect::ask);
}

TEST_CASE("a rule about requests may have tests about their bodies") {
    Fixture fixture;
    RuleSpec spec = with(about(Effect::allow, {"POST"}), "/title", glob("draft*"));
    spec.tests.emplace();
    spec.tests->match = std::vector<RawJson>{RawJson::parse(R"({"title":"draft 1"})")};
    spec.tests->no_match = std::vector<RawJson>{RawJson::parse(R"({"title":"final"})")};
    fixture.add(spec);
    spec.tests->match = std::vector<RawJson>{RawJson::parse(R"({"title":"final"})")};
    CHECK(error_of([&] { fixture.add(spec); }) == ErrorCode::rule_invalid);
}

TEST_CASE("the order is the one of other actions: deny, a grant, ask, allow; inspect decides nothing") {
    Fixture fixture;
    fixture.run_execution("e");
    const gate::HttpRequest action = request("GET", "/x");
    const auto effect = [&] { return fixture.explain(action, "e").effect; };
    fixture.add(about(Effect::inspect), Scope::workspace);
    CHECK(effect() == Effect::ask);
    CHECK_FALSE(fixture.explain(action, "e").rule);
    fixture.add(about(Effect::allow), Scope::workspace);
    CHECK(effect() == Effect::allow);
    fixture.add(about(Effect::ask), Scope::workspace);
    CHECK(effect() == Effect::ask);
    fixture.add(about(Effect::allow));
    CHECK(effect() == Effect::allow);
    fixture.add(about(Effect::deny), Scope::workspace);
    CHECK(effect() == Effect::deny);
    // A rule about connections says nothing of requests.
    RuleSpec connections = rule(Effect::allow, ActionKind::network);
    connections.host = "api.example.org";
    CHECK(by(connections, action) == Effect::ask);
}

TEST_CASE("a host is inspected when any rule about requests names it") {
    const auto inspects = [](RuleSpec spec, const Action& action) {
        Fixture fixture;
        fixture.add(std::move(spec));
        return fixture.gate->inspects(asking(action));
    };
    for (const Effect effect : {Effect::allow, Effect::ask, Effect::deny, Effect::inspect}) {
        CHECK(inspects(about(effect), connection()));
    }
    CHECK(inspects(about(Effect::allow, {"GET"}, {"/x"}), connection()));
    CHECK(inspects(about(Effect::allow), request("POST", "/y")));
    CHECK_FALSE(inspects(about(Effect::allow), connection("example.org")));
    CHECK(inspects(about(Effect::allow, {}, {}, "*.example.org"), connection()));
    CHECK_FALSE(inspects(about(Effect::allow, {}, {}, "*.example.org"), connection("example.org")));
    CHECK(inspects(about(Effect::allow, {}, {}, "api.example.org:8443"), connection("api.example.org", 8443)));
    CHECK_FALSE(inspects(about(Effect::allow, {}, {}, "api.example.org:8443"), connection()));
    RuleSpec of_server = about(Effect::allow);
    of_server.server = "files";
    CHECK_FALSE(inspects(of_server, connection()));
    gate::Connection from_server = connection();
    from_server.server = "files";
    CHECK(inspects(of_server, from_server));
    RuleSpec connections = rule(Effect::allow, ActionKind::network);
    connections.host = "api.example.org";
    CHECK_FALSE(inspects(connections, connection()));

    Fixture fixture; // of another session, and for a while
    fixture.add(about(Effect::inspect), Scope::session, "other");
    CHECK_FALSE(fixture.gate->inspects(asking(connection())));
    const Rule added = fixture.add(about(Effect::inspect), Scope::workspace);
    CHECK(fixture.gate->inspects(asking(connection())));
    fixture.remove(added.id);
    CHECK_FALSE(fixture.gate->inspects(asking(connection())));
}

TEST_CASE("what is put in comes of the rules that surely cover the request") {
    Fixture fixture;
    RuleSpec spec = injecting(protocol::InjectionAs::bearer, "${secret:TOKEN}");
    spec.methods = {"GET"};
    spec.paths = {"/repos/**"};
    fixture.add(spec);
    const auto count = [&](const gate::HttpRequest& action) { return fixture.gate->injections(asking(action)).size(); };
    CHECK(count(request("GET", "/repos/x")) == 1);
    CHECK(fixture.gate->injections(asking(request("GET", "/repos/x"))).front().value == "${secret:TOKEN}");
    for (const gate::HttpRequest& other :
         {request("POST", "/repos/x"), request("get", "/repos/x"), request("GET", "/x"), request("GET", "/repos/../x"),
          request("GET", "/Repos/x"), request("GET", "/repos/x", "other.example.org")}) {
        CHECK(count(other) == 0);
    }
    fixture.add(injecting(protocol::InjectionAs::query, "${secret:KEY}", "key"));
    CHECK(count(request("GET", "/repos/x")) == 2);
    CHECK(fixture.gate->request_rules("s").size() == 2);
    CHECK(fixture.gate->request_rules("other").empty());
}

TEST_CASE("a rule about requests that says too little or too much is refused") {
    using As = protocol::InjectionAs;
    Fixture fixture;
    const auto refused = [&fixture](RuleSpec spec) {
        return error_of([&] { fixture.add(std::move(spec)); }) == ErrorCode::rule_invalid;
    };
    CHECK_FALSE(refused(injecting(As::basic, "ada:${secret:TOKEN}"))); // control
    CHECK_FALSE(refused(injecting(As::header, "${secret:TOKEN}", "X-Key")));
    RuleSpec anywhere = about(Effect::deny);
    anywhere.host.reset();
    CHECK(refused(anywhere));
    CHECK(refused(about(Effect::allow, {"GE T"})));
    CHECK(refused(about(Effect::allow, {}, {"repos"})));
    CHECK(refused(about(Effect::allow, {}, {"/x?y=1"})));
    CHECK(refused(about(Effect::allow, Texts(21, "GET"))));
    CHECK(refused(with(about(Effect::inspect), "/a", equals("1"))));
    CHECK_FALSE(refused(injecting(As::basic, "${secret:USER}:${secret:TOKEN}")));
    CHECK(refused(injecting(As::basic, "${secret:TOKEN}")));
    CHECK_FALSE(refused(injecting(As::aws, "${secret:ID}:${secret:KEY}")));
    CHECK_FALSE(refused(injecting(As::aws, "AKIDEXAMPLE:${secret:KEY}:${secret:TOKEN}")));
    for (const char* keys :
         {"${secret:ID}", "${secret:ID}:", ":${secret:KEY}", "${secret:A}:${secret:B}:c:d", "id:key"}) {
        CAPTURE(keys);
        CHECK(refused(injecting(As::aws, keys)));
    }
    RuleSpec variable = injecting(As::aws, "${secret:ID}:${secret:KEY}");
    variable.inject->variable = "AWS_KEY";
    CHECK(refused(variable));
    CHECK(refused(injecting(As::bearer, "hunter2")));
    CHECK(refused(injecting(As::bearer, "${secret:A}\r\nx: y")));
    CHECK(refused(injecting(As::bearer, "${secret:A}", "name")));
    CHECK(refused(injecting(As::header, "${secret:A}")));
    CHECK(refused(injecting(As::header, "${secret:A}", "a b")));
    RuleSpec allowing = injecting(As::bearer, "${secret:A}");
    allowing.effect = Effect::allow;
    CHECK(refused(allowing));
    RuleSpec of_tools = rule(Effect::inspect);
    CHECK(refused(of_tools));
    RuleSpec of_connections = rule(Effect::deny, ActionKind::network);
    of_connections.methods = Texts{"GET"};
    CHECK(refused(of_connections));
    CHECK(fixture.gate->policy_words(injecting(As::bearer, "${secret:TOKEN}")) ==
          R"(inspect request to api.example.org with "${secret:TOKEN}" as bearer)");
    CHECK(fixture.gate->policy_words(injecting(As::aws, "${secret:ID}:${secret:KEY}")) ==
          R"(inspect request to api.example.org signed for AWS with "${secret:ID}:${secret:KEY}")");
    CHECK(fixture.gate->policy_words(about(Effect::allow, {"GET", "HEAD"}, {"/repos/**"})) ==
          "allow request to api.example.org GET, HEAD /repos/**");
}

TEST_CASE("a yes to one request covers its query, headers, body and secrets") {
    gate::HttpRequest action = with_body(request("POST", "/x"), R"({"a":1})");
    action.query = "q=1";
    action.request_headers = Texts{"accept: */*"};
    action.secrets = Texts{"TOKEN"};
    Fixture fixture;
    fixture.run_execution("e");
    const auto first = fixture.ask(action, "e");
    fixture.allow(Scope::execution);
    CHECK(first->allowed());
    CHECK(fixture.ask(action, "e")->allowed());
    const std::vector<std::function<void(gate::HttpRequest&)>> changes = {[](gate::HttpRequest& r) { r.query = "q=2"; },
                                                                          [](gate::HttpRequest& r) { r.request_headers->push_back("x: y"); },
                                                                          [](gate::HttpRequest& r) { r.body = R"({"a":2})"; },
                                                                          [](gate::HttpRequest& r) { r.secrets->push_back("OTHER"); },
                                                                          [](gate::HttpRequest& r) { r.method = "PUT"; },
                                                                          [](gate::HttpRequest& r) { r.path = "/y"; },
                                                                          [](gate::HttpRequest& r) { r.port = 8443; },
                                                                          [](gate::HttpRequest& r) { r.tls = false; },
                                                                          [](gate::HttpRequest& r) { r.body_sha256 = "00"; }};
    for (const auto& change : changes) {
        gate::HttpRequest changed = action;
        change(changed);
        CHECK(fixture.ask(changed, "e")->waits());
        fixture.deny();
    }
}

TEST_CASE("choices about a request go from this one to the host") {
    Fixture fixture;
    fixture.run_execution("e");
    CHECK(labels(fixture, request("POST", "/repos/ada/plan/issues"), "e") ==
          Texts{"this request", "this exact request, until the cell ends",
                "POST api.example.org/repos/ada/plan/**, until the cell ends",
                "POST api.example.org/repos/ada/plan/**, this session",
                "any request to api.example.org, this session"});
    const Texts reading = labels(fixture, request("GET", "/user"));
    CHECK(std::find(reading.begin(), reading.end(), "read only (GET, HEAD) of api.example.org, this workspace") !=
          reading.end());
    const Texts git = labels(fixture, request("GET", "/ada/plan.git/info/refs", "github.com"), "e");
    CHECK(git[2] == "git fetch, no push, of github.com/ada/plan.git, until the cell ends");
    gate::HttpRequest elsewhere = request("GET", "/user");
    elsewhere.port = 8443;
    CHECK(labels(fixture, elsewhere).back() == "any request to api.example.org:8443, this session");
    // A star in a path would be a pattern; a path that is read differently has no rule by path.
    for (const char* path : {"/repos/*/x", "*", "/**/info/refs", "/repos/../x"}) {
        CAPTURE(path);
        for (const std::string& label : labels(fixture, request("GET", path))) {
            CHECK((label.starts_with("this ") || label.starts_with("read only") || label.starts_with("any request")));
        }
    }
}

TEST_CASE("every choice about a request is accepted as an answer, and git may fetch and not push") {
    for (const gate::HttpRequest& action :
         {request("POST", "/repos/ada/plan"), request("GET", "/x"), request("GET", "/ada/plan.git/info/refs"),
          with_body(request("POST", "/ada/plan.git/git-upload-pack"), "0032want")}) {
        Fixture fixture;
        fixture.run_execution("e");
        fixture.ask(action, "e");
        for (const protocol::Choice& choice : fixture.user.requested.back().choices) {
            CAPTURE(choice.label);
            Fixture fresh;
            fresh.run_execution("e");
            const auto asked = fresh.ask(action, "e");
            fresh.allow(choice.scope, choice.rule);
            CHECK(asked->allowed());
            CHECK(fresh.ask(action, "e")->allowed() == (choice.scope != Scope::once));
            if (choice.label.starts_with("git fetch")) {
                CHECK(fresh.ask(request("GET", "/ada/plan.git/info/refs"), "e")->allowed());
                CHECK(fresh.ask(request("POST", "/ada/plan.git/git-upload-pack"), "e")->allowed());
                CHECK(fresh.ask(request("POST", "/ada/plan.git/git-receive-pack"), "e")->waits());
                CHECK(fresh.ask(request("GET", "/ada/other.git/info/refs"), "e")->waits());
            }
        }
    }
}

TEST_CASE("a connection may be answered by asking about each request of its host") {
    Fixture fixture;
    const auto asked = fixture.ask(connection());
    const std::vector<protocol::Choice> offered = fixture.user.requested.back().choices;
    const auto choice = std::find_if(offered.begin(), offered.end(), [](const protocol::Choice& each) {
        return each.label == "this host, asking about each request, this session";
    });
    REQUIRE(choice != offered.end());
    CHECK_FALSE(fixture.gate->inspects(asking(connection())));
    fixture.allow(choice->scope, choice->rule);
    CHECK(asked->allowed());
    CHECK(fixture.gate->inspects(asking(connection())));
    CHECK(fixture.ask(connection())->waits()); // the rule decides nothing
    const auto next = fixture.ask(request("GET", "/x"));
    CHECK(next->waits());

    Fixture other;
    other.ask(connection("db.example.org", 22));
    for (const std::string& label : labels_of(other.user.requested.back())) {
        CHECK(label.find("each request") == std::string::npos);
    }
    other.deny();
}

TEST_CASE("a request is shown with its query, secrets, body and headers") {
    gate::HttpRequest action = with_body(request("POST", "/repos/ada"), "{\"title\":\n \"Plan\", \"n\": [1, 2]}");
    action.query = "draft=1";
    action.secrets = Texts{"TOKEN"};
    action.request_headers = Texts{"accept: */*"};
    action.program = "python3";
    CHECK(display(action) == Texts{"POST https://api.example.org/repos/ada", "query: \"draft=1\"",
                                   "with the secret TOKEN, which the code does not see",
                                   "31 bytes of JSON:", "  title: \"Plan\"", "  n: [1, 2]", "header: \"accept: */*\"",
                                   "asked for by the program (as the sandbox says): \"python3\""});
    CHECK(display(with_body(request("POST", "/x"), "one\ntwo"))[1] == "body: 2 lines, no line break at the end");
    CHECK(display(with_body(request("POST", "/x"), "a=1"))[1] == "body: \"a=1\"");
    gate::HttpRequest bytes = request("PUT", "/x");
    bytes.body_bytes = 12;
    bytes.body_sha256 = "ab";
    CHECK(display(bytes) ==
          Texts{"PUT https://api.example.org/x", "a body of 12 bytes, which is not shown", "  its sha256: ab"});
    gate::HttpRequest plain = request("GET", "/x");
    plain.tls = false;
    plain.port = 8080;
    CHECK(display(plain).front() == "GET http://api.example.org:8080/x");
    CHECK(display(request("WEBSOCKET", "/x")).front() == "open wss://api.example.org/x");
}

TEST_CASE("no text of a request looks like a line of ours, or hides something") {
    gate::HttpRequest action = request("GET", "/x\nwith the secret NONE\u202e");
    action.request_headers = Texts{"x: y\nquery: \"harmless\"\u200b"};
    CHECK(display(action) == Texts{R"(GET https://api.example.org"/x\nwith the secret NONE\u{202e}")",
                                   "header: 2 lines, no line break at the end", "  | x: y",
                                   R"(  "query: \"harmless\"\u{200b}")"});
    Fixture fixture;
    for (const std::string& label : labels(fixture, action)) {
        CHECK(label.find('\n') == std::string::npos);
    }
}

TEST_CASE("an edited request goes to the same host, and covers exactly itself") {
    const auto editable = [](const gate::HttpRequest& action, const std::string& host_name) {
        gate::Request made = asking(action);
        made.edit_form = RawJson::parse(R"({"method":"POST","path":"/x"})");
        made.edit = [action, host_name](const RawJson& form) {
            gate::HttpRequest edited = action;
            const Json value = form.value();
            edited.method = value.value("method", "");
            edited.path = value.value("path", "");
            edited.body = value.value("body", "");
            edited.host = host_name;
            return edited;
        };
        return made;
    };
    const gate::HttpRequest action = with_body(request("POST", "/x"), R"({"a":1})");
    Fixture fixture;
    fixture.add(about(Effect::deny, {"DELETE"}), Scope::workspace);
    protocol::ApprovalRespondParams params;
    params.decision = Verdict::allow;
    const auto edit = [&](const std::string& text) {
        params.approval_ids = {fixture.user.last_id()};
        params.arguments_text = text;
        return error_of([&] { fixture.respond(params); });
    };
    const auto moved = fixture.ask(editable(action, "evil.example.org"));
    CHECK(edit(R"({"method":"POST","path":"/x"})") == ErrorCode::internal_error);
    CHECK(moved->waits());
    fixture.deny();
    const auto asked = fixture.ask(editable(action, action.host));
    CHECK(fixture.user.requested.back().edit_text == "{\n  \"method\": \"POST\",\n  \"path\": \"/x\"\n}");
    CHECK(edit(R"({"method":"DELETE","path":"/x"})") == ErrorCode::edit_invalid);
    CHECK_FALSE(edit(R"({"method":"PUT","path":"/y","body":"text"})"));
    REQUIRE(asked->allowed());
    CHECK(std::get<gate::HttpRequest>(asked->decision->action).path == "/y");
}
