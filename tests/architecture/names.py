"""Names that the codebase gave up, each with the one that it has now. A name that means nothing else is refused in
every file; one that is also an English word, or a good name of something else, only in code and where it was."""

import re
from typing import NamedTuple

import source_text
from cpp_text import line_of


class Renamed(NamedTuple):
    old: str  # a regular expression of whole words
    new: str
    where: str = ""  # of the path; everywhere
    code: bool = False  # not in comments and literals


def module(names):
    """The sources and the unit tests of these modules."""
    return rf"(?:sidecar|tests/unit)/(?:{names})/"


CPP = r"\.(?:cpp|hpp|cpp\.in)$"
TYPESCRIPT = r"\.(?:ts|mjs)$"
LUA = r"\.lua$"
PYTHON_TESTS = r"^tests/.*\.py$"
SOURCE = r"\.(?:cpp|hpp|cpp\.in|ts|mjs|lua|py)$"
TEXT = r"\.(?:cpp|hpp|ts|mjs|lua|py|md|json)$"


NAMES = [
    # Of the whole.
    Renamed(r"[Hh]ouses?|\w*_house|[a-z]\w*House", "codebase, SessionServices, Fixture or Cause::baseline"),
    Renamed(r"rooms|(?:a|each|every|another|which|lower|higher|outer|upper) room", "module"),
    Renamed(r"floors|(?:lower|higher|own|same|which|each|every) floor", "layer"),
    Renamed(r"[Dd]oors?|close_doors", "enforcement point, ToolCallDispatcher or close_channels"),
    Renamed(r"[Pp]ersons?|[a-z]\w*Persons?|\w+_persons?|persons?_\w+|person[A-Z]\w*", "user"),
    Renamed(r"(?:most|longest|largest)_\w+", "max_…", SOURCE),
    Renamed(r"(?:MOST|LONGEST|LARGEST)_\w+", "MAX_…", SOURCE),
    Renamed(r"(?:most|longest|largest)[A-Z]\w*", "max…", TYPESCRIPT, code=True),
    Renamed(r"looks?_at(?:_\w+)?|looks?At(?:[A-Z]\w*)?", "inspect_…", SOURCE, code=True),
    Renamed(r"visible_text", "escape_unprintable"),
    Renamed(r"made visible|written out", "escaped", TEXT),
    Renamed(r"[Dd]ecided lately", "decision history"),
    Renamed(r"plain_file", "regular_file"),
    Renamed(r"identity_text", "Fingerprint"),
    Renamed(r"off_loop", "run_blocking"),
    Renamed(r"Place", "RequestContext in the gate, InstancePaths in cli; only the guard's Place has this name",
            r"^(?!sidecar/helper/).*" + CPP, code=True),
    # sidecar/gate
    Renamed(r"gate::Question|QuestionPtr", "PendingRequest"),
    Renamed(r"Question", "PendingRequest", module("gate|service|tools"), code=True),
    Renamed(r"Answerer|answerers?", "ApprovalClient", CPP),
    Renamed(r"Beneficiary|beneficiar(?:y|ies)", "Grantee"),
    Renamed(r"given_to", "grantees"),
    Renamed(r"is_for", "applies_to"),
    Renamed(r"Ruling", "PolicyResult"),
    Renamed(r"Claim", "AnswerLock", module("gate"), code=True),
    Renamed(r"Paths", "PathSnapshot", module("gate"), code=True),
    Renamed(r"wanting", "unresolved"),
    Renamed(r"complete\(\)", "is_resolved()", module("gate"), code=True),
    Renamed(r"only_by_name", "needs_explicit_host_rule"),
    Renamed(r"unless_denied", "deny_rules_only"),
    Renamed(r"exact_only", "requires_exact_payload"),
    Renamed(r"reason_of_nobody", "no_approver_reason"),
    Renamed(r"nobody_answers", "has_no_approver"),
    Renamed(r"asks_nobody", "prompts_disabled"),
    Renamed(r"at_once", "record_immediate", module("gate"), code=True),
    Renamed(r"RunningExecution", "CallerIdentity in tools, ExecutionGrants in the gate"),
    Renamed(r"Running", "ExecutionGrants", module("gate"), code=True),
    # sidecar/tools
    Renamed(r"Running", "ServerInstance", module("tools"), code=True),
    Renamed(r"Start", "ServerLaunch", module("tools"), code=True),
    Renamed(r"agent_has_gone", "on_agent_disconnected"),
    Renamed(r"also_of", "co_owners"),
    Renamed(r"needs_a_yes", "requires_approval"),
    Renamed(r"(?:put|drop)(?=\()", "insert or remove", module("tools"), code=True),
    Renamed(r"near_names", "suggest"),
    Renamed(r"tell_names", "did_you_mean"),
    # sidecar/session
    Renamed(r"(?<!Source::)Start", "KernelInstance", module("session"), code=True),
    Renamed(r"guests?|guest_\w*", "borrowing_agent_", module("session"), code=True),
    Renamed(r"require_only_guest", "require_single_agent"),
    Renamed(r"lose_kernel", "mark_kernel_lost"),
    Renamed(r"limit_met", "limit_exceeded"),
    Renamed(r"note_(?!of_)\w+(?=\()", "record_…", module("session"), code=True),
    Renamed(r"ToldOrigins|told_origins?", "ConnectionAttribution"),
    Renamed(r"Word", "Report", module("session"), code=True),
    Renamed(r"elders", "ancestors"),
    # sidecar/service
    Renamed(r"Attendance|attendance", "IdleTracker"),
    Renamed(r"(?:joined|left|expect|over)(?=\()", "client_connected, client_left, expect_reconnect or wait_idle",
            r"(?:sidecar|tests/unit)/service/idle_tracker", code=True),
    Renamed(r"leave_after", "detach_after_linger"),
    Renamed(r"LeftWork|left_work", "CrashRecovery"),
    Renamed(r"LeftRuns?|left_runs?", "OrphanedRun"),
    Renamed(r"in_hand_?", "in_flight_", CPP),
    Renamed(r"held_", "backlog_", r"service/output_feed"),
    Renamed(r"settled", "flushed", r"service/output_feed", code=True),
    Renamed(r"pump_soon", "schedule_flush"),
    # sidecar/store
    Renamed(r"LeftJournals?|left_journals?", "RecoveredJournal"),
    Renamed(r"untold", "unreported"),
    Renamed(r"mark_told", "mark_reported"),
    Renamed(r"(?:rests?|forget|grew|make_room)(?=\()", "retire, erase, add_bytes or evict", module("store"), code=True),
    # sidecar/async, sidecar/helper
    Renamed(r"Alertness|alertness|expect_something", "BusyPoll, arm"),
    Renamed(r"moment", "window", r"async/.*busy_poll", code=True),
    Renamed(r"DescriptorShare|descriptor_share", "FdReservation"),
    Renamed(r"Swept|[Ss]weep(?:s|er|ing)?", "CleanupRegistration, janitor"),
    Renamed(r"(?<=[.>:])life", "lifeline_fd", r"(?:sidecar|tests/unit)/.*" + CPP, code=True),
    Renamed(r"OwnedDirectory|owned_directory", "LockedTempDir"),
    Renamed(r"Judge|judge\.hpp", "AccessPolicy", CPP),
    Renamed(r"(?:keeps|divides|pins|hides)(?=\()", "denies_create, crosses_rules, is_pinned or is_hidden",
            r"sidecar/helper/", code=True),
    Renamed(r"Held", "OpenNode", r"sidecar/helper/", code=True),
    Renamed(r"beyond", "follow", r"sidecar/helper/", code=True),
    Renamed(r"become_command", "exec_command"),
    Renamed(r"give_up", "die", CPP, code=True),
    # sidecar/egress
    Renamed(r"Visit", "ProxyConnection", module("egress|session"), code=True),
    Renamed(r"Router", "Connector", CPP, code=True),
    Renamed(r"egress/(?:Visit|Router|Route|Caller)", "ProxyConnection, Connector, Upstream or ConnectionSource",
            r"\.md$"),
    Renamed(r"Route", "Upstream", module("egress"), code=True),
    Renamed(r"part(?=\()", "drain_and_close", module("egress"), code=True),
    Renamed(r"hang_up", "close_all", module("egress|session"), code=True),
    Renamed(r"egress::Caller", "ConnectionSource"),
    Renamed(r"Caller", "ConnectionSource", module("egress|session"), code=True),
    Renamed(r"Speaks", "Protocol", CPP, code=True),
    Renamed(r"FirstWords|first_words", "ProtocolSniffer"),
    Renamed(r"reach\.hpp", "public_address_policy.hpp"),
    # sidecar/sandbox
    Renamed(r"Sight", "Visibility", CPP, code=True),
    Renamed(r"lacks|\w+_lacks|lacks_\w+", "limitations", module("sandbox|cli"), code=True),
    Renamed(r"lacks\.hpp", "limitations.hpp"),
    Renamed(r"Hold", "ResourceLimits", module("sandbox"), code=True),
    Renamed(r"hold_to", "apply_limits", CPP, code=True),
    Renamed(r"git_obeys", "git_references"),
    Renamed(r"leads_of_git", "find_git_references"),
    Renamed(r"Leads?|leads", "GitReference", module("sandbox"), code=True),
    Renamed(r"Trail", "SymlinkChain", CPP, code=True),
    Renamed(r"follow_trail", "resolve_symlinks"),
    Renamed(r"OtherNames", "HardLinkIndex"),
    Renamed(r"guarded[-_](?:files?|names?|mounts?)|Guarded(?:Files?|Names?|Mounts?)",
            "protected-files, ProtectedNames"),
    Renamed(r"names_guard", "create_guard"),
    Renamed(r"private_places", "protected_paths"),
    Renamed(r"tops", "writable_roots", module("sandbox"), code=True),
    Renamed(r"settle(?=\()", "finalize", module("sandbox"), code=True),
    Renamed(r"because(?=\()", "set_reason", module("sandbox"), code=True),
    # sidecar/daemon, sidecar/agent, sidecar/cli
    Renamed(r"AbsentPerson|absent_person", "NonInteractiveClient"),
    Renamed(r"AgentLink|agent_link", "SidecarClient"),
    Renamed(r"RootPlace|root_place", "InstancePaths"),
    Renamed(r"[Gg]reetings?|greeting_\w+", "handshake", module("daemon"), code=True),
    Renamed(r"Trial|Try|trial", "SandboxCheck or Outcome", module("cli"), code=True),
    Renamed(r"\w+_in_vain", "…_timed_out"),
    # sidecar/packages, sidecar/jupyter
    Renamed(r"exec::\w+|cellgate::exec|sidecar/exec|exec/[A-Z]\w+", "packages",
            r"^(?!editors/).*\.(?:cpp|hpp|md|txt|py)$"),
    Renamed(r"Turns", "base/Mutex", CPP, code=True),
    Renamed(r"Question", "KernelQuery", module("jupyter|mcp"), code=True),
    Renamed(r"Death", "KernelExit", module("jupyter|session"), code=True),
    Renamed(r"dies_until", "wait_exit"),
    Renamed(r"cut_text", "truncate_text"),
    # The editors.
    Renamed(r"Deeds|Surroundings|Standing", "Actions, ViewHost or PageModel", TYPESCRIPT, code=True),
    Renamed(r"Choices", "Selection", TYPESCRIPT, code=True),
    Renamed(r"Offer", "PageState", TYPESCRIPT, code=True),
    Renamed(r"[Uu]nended\w*", "unfinished", r"^editors/vscode/"),
    Renamed(r"comeUp", "reveal", TYPESCRIPT),
    Renamed(r"(?:\.|src|test)/(?:life|comforts)(?=[/\"])", "connectionStatus, kernelAssist",
            r"^(?:editors/vscode|docs)/"),
    Renamed(r"cellgate\.opened", "cellgate.open_files", r"^editors/neovim/"),
    Renamed(r"opened", "open_files", r"editors/neovim/plugin/.*" + LUA, code=True),
    Renamed(r"apart", "ungrouped", LUA, code=True),
    Renamed(r"dodge", "avoid_cursor", LUA, code=True),
    Renamed(r"cellgate\.Waiting", "cellgate.PendingApproval", LUA),
    Renamed(r"cellgate\.notice", "cellgate.notify", LUA),
    Renamed(r"notice(?=\.)", "notify", LUA, code=True),
    Renamed(r"note_\w+(?=\()", "record_…", LUA, code=True),
    # The tests in Python.
    Renamed(r"Place", "TestWorkspace", PYTHON_TESTS, code=True),
    Renamed(r"strays", "orphans", PYTHON_TESTS),
    Renamed(r"PATIENCE", "TIMEOUT", PYTHON_TESTS),
]


def grouped():
    """[(where, code, pattern)]: what is searched in the same text is searched at once."""
    groups = {}
    for each in NAMES:
        groups.setdefault((each.where, each.code), []).append(each.old)
    return [(re.compile(where), code, re.compile(rf"(?<!\w)(?:{'|'.join(olds)})(?!\w)"))
            for (where, code), olds in groups.items()]


GROUPS = grouped()


def new_name(match, where, code):
    """Of what a group found: its first name that fits."""
    for each in NAMES:
        if (each.where, each.code) == (where, code):
            found = re.compile(rf"(?<!\w)(?:{each.old})(?!\w)").match(match.string, match.start())
            if found and found.end() == match.end():
                return each.new
    raise LookupError(match.group())


# Names of files: their stems, below the folder that they were in.
FILES = {
    r"editors/neovim/lua/cellgate/opened\.lua": "open_files.lua",
    r"editors/neovim/lua/cellgate/notice\.lua": "notify.lua",
    r"editors/vscode/(?:src|test)/(?:life|comforts)/.*": "connectionStatus/, kernelAssist/",
    r"editors/vscode/src/approvals/(?:standing|choices)\.ts": "pageModel.ts, selection.ts",
    r"sidecar/exec/.*": "sidecar/packages",
    r"(?:sidecar|tests/unit)/.*/(?:turns|attendance|alertness|visit|router|reach|lacks|trail|leads|judge|swept|sweep|greeting)\.[ch]pp":
        "the name of what is in it",
}
# What is told of old names, and words of others.
EXEMPT = re.compile(
    r"CHANGELOG\.md|LICENSE|.*package-lock\.json|tests/architecture/(?:names|prose|test_rules)\.py|"
    r"tests/fixtures/mcp-tools/.*|tests/fuzz/seeds/.*|.*\.svg"
)


def faults(path, text):
    """Yields (line, what)."""
    if EXEMPT.fullmatch(path):
        return
    for pattern, new in FILES.items():
        if re.fullmatch(pattern, path):
            yield 1, f"the file's name is an old one; now it is {new}"
    code, _ = source_text.split(path, text)
    for where, in_code, pattern in GROUPS:
        if where.search(path):
            for match in pattern.finditer(code if in_code else text):
                new = new_name(match, where.pattern, in_code)
                yield line_of(text, match.start()), f"“{match.group()}” is an old name; the new one is {new}"
