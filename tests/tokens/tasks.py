"""Ten tasks: what their tools answer, which calls an agent makes for them without cellgate, and the code that it writes
with it. The tools are those of real MCP servers; the answers have the size and the form of theirs."""

import dataclasses
import json

MONTHS = ("January", "February", "March", "April", "May", "June")
WORDS = ("gate", "kernel", "record", "review", "budget", "plan", "report", "meeting", "draft", "contract")


@dataclasses.dataclass
class Task:
    name: str
    asks: str  # of search_tools
    calls: list  # (server, tool, arguments), without cellgate
    code: str
    answer: str  # a part of what the code has to print


def sentence(seed, words):
    return " ".join(WORDS[(seed * 7 + each * 3) % len(WORDS)] for each in range(words)).capitalize() + "."


def log_text():
    return "".join(f"2026-11-02T08:{n % 60:02}:11Z {'ERROR' if n % 37 == 5 else 'INFO'} worker-{n % 4} {sentence(n, 8)}\n"
                   for n in range(200))


def invoices_text():
    return "month,customer,amount\n" + "".join(f"{MONTHS[n % 6]},customer {n % 17},{n * 3 % 97}.50\n" for n in range(300))


def search_result(query, page):
    return json.dumps([{"title": sentence(n + page, 6), "url": f"https://site{(n * page) % 23}.example/{query.replace(' ', '-')}/{n}",
                        "description": sentence(n, 30), "age": f"{n} days ago"} for n in range(10)], indent=1)


def page_markdown():
    return "\n\n".join(f"## Offer {n}\n\n{sentence(n, 60)}\n\nPrice: {40 + n * 13 % 29}.00 EUR per month" for n in range(30))


def snapshot(step):
    rows = [f"  - row \"{sentence(n, 5)}\" [ref=e{n}]:\n    - cell \"{n}\" [ref=e{n}a]\n    - cell \"{sentence(n, 4)}\" [ref=e{n}b]"
            for n in range(60)]
    return (f"- heading \"Order {step}\" [ref=e900]\n- textbox \"Name\" [ref=e901]\n- textbox \"City\" [ref=e902]\n"
            "- button \"Send\" [ref=e903]\n" + ("- status \"Order 4711 received\"\n" if step > 1 else "") + "- table:\n" + "\n".join(rows))


def graph():
    entities = [{"type": "entity", "name": f"member {n}", "entityType": "member", "observations": [sentence(n, 10), sentence(n + 1, 9)]}
                for n in range(80)]
    relations = [{"type": "relation", "from": f"member {n}", "to": f"member {n + 1}", "relationType": "knows"} for n in range(60)]
    return json.dumps({"entities": entities, "relations": relations}, indent=2)


def structured(tool, text):
    """What a tool that has an output schema answers beside its text."""
    if tool == "read_graph":
        return json.loads(text)
    return {"results": json.loads(text)} if tool == "add_observations" else {"content": text}


def answer(tool, arguments):
    """The text with which a tool answers."""
    path = str(arguments.get("path", ""))
    if tool == "read_text_file":
        return log_text() if path.endswith(".log") else invoices_text() if path.endswith(".csv") else "\n".join(
            sentence(len(path) + n, 14) for n in range(40))
    if tool == "list_directory_with_sizes":
        return "\n".join(f"[FILE] app-{n:02}.log    {1000 + n * 211} B" for n in range(25))
    if tool == "list_directory":
        return "\n".join(f"[FILE] scan {n:02}.pdf" for n in range(30))
    if tool == "search_files":
        return "\n".join(f"/srv/{name}/README.md" for name in ("api", "web", "docs", "tools", "infra", "data"))
    if tool == "move_file":
        return f"Successfully moved {arguments.get('source')} to {arguments.get('destination')}"
    if tool == "brave_web_search":
        return search_result(arguments["query"], len(arguments["query"]))
    if tool == "firecrawl_scrape":
        return page_markdown()
    if tool == "firecrawl_check_crawl_status":
        done = int(arguments["id"].rpartition("-")[2])
        return json.dumps({"status": "completed" if done > 3 else "scraping", "total": 40, "completed": done * 10,
                           "pages": [{"url": f"https://docs.example/{n}", "title": sentence(n, 6)} for n in range(done * 10)]})
    if tool in ("browser_navigate", "browser_fill_form", "browser_click"):
        return "### Page state\n" + snapshot(2 if tool == "browser_click" else 1)
    if tool == "read_graph":
        return graph()
    if tool == "add_observations":
        return json.dumps([{"entityName": each["entityName"], "addedObservations": each["contents"]}
                           for each in arguments["observations"]])
    return "done"


FILES = "from mcptools.filesystem import "
QUERIES = ("sandboxed code execution", "jupyter kernel gateway", "model context protocol servers")
TASKS = (
    Task("count the errors in the newest log", "list files with sizes, read a text file",
         [("filesystem", "list_directory_with_sizes", {"path": "logs", "sortBy": "name"}),
          ("filesystem", "read_text_file", {"path": "logs/app-24.log"})],
         FILES + "list_directory_with_sizes, read_text_file\n"
         "names = [line.split()[1] for line in list_directory_with_sizes.run(path='logs', sortBy='name').content.splitlines()]\n"
         "log = read_text_file.run(path='logs/' + max(names)).content\n"
         "print(sum(' ERROR ' in line for line in log.splitlines()))", "6"),
    Task("add up the invoices of each month", "read a text file",
         [("filesystem", "read_text_file", {"path": "invoices.csv"})],
         FILES + "read_text_file\nimport csv, collections\nsums = collections.Counter()\n"
         "for row in csv.DictReader(read_text_file.run(path='invoices.csv').content.splitlines()):\n"
         "    sums[row['month']] += float(row['amount'])\nprint(dict(sums))", "January"),
    Task("the first sentence of each README", "search for files by name, read a text file",
         [("filesystem", "search_files", {"path": ".", "pattern": "**/README.md"}),
          *(("filesystem", "read_text_file", {"path": f"/srv/{name}/README.md"})
            for name in ("api", "web", "docs", "tools", "infra", "data"))],
         FILES + "search_files, read_text_file\nfor path in search_files.run(path='.', pattern='**/README.md').content.splitlines():\n"
         "    print(path, read_text_file.run(path=path).content.split('.')[0])", "/srv/api/README.md"),
    Task("the hosts in the results of three web searches", "search the web",
         [("brave", "brave_web_search", {"query": query}) for query in QUERIES],
         "from mcptools.brave import brave_web_search\nimport json, urllib.parse\nhosts = set()\n"
         f"for query in {QUERIES!r}:\n    for hit in json.loads(brave_web_search.run(query=query).text):\n"
         "        hosts.add(urllib.parse.urlsplit(hit['url']).hostname)\nprint(sorted(hosts))", "site0.example"),
    Task("the cheapest offer of a page", "scrape one web page as markdown",
         [("firecrawl", "firecrawl_scrape", {"url": "https://shop.example/offers", "formats": ["markdown"]})],
         "from mcptools.firecrawl import firecrawl_scrape\nimport re\n"
         "page = firecrawl_scrape.run(url='https://shop.example/offers', formats=['markdown']).text\n"
         "print(min(map(float, re.findall(r'Price: ([\\d.]+)', page))))", "40.0"),
    Task("wait for a crawl, and count its pages", "status of a crawl job",
         [("firecrawl", "firecrawl_check_crawl_status", {"id": f"job-{n}"}) for n in range(1, 5)],
         "from mcptools.firecrawl import firecrawl_check_crawl_status\nimport json\nfor n in range(1, 5):\n"
         "    status = json.loads(firecrawl_check_crawl_status.run(id=f'job-{n}').text)\n"
         "    if status['status'] == 'completed': break\nprint(len(status['pages']))", "40"),
    Task("send a form, and read the order's number", "open a page, fill in a form, click a button",
         [("playwright", "browser_navigate", {"url": "https://shop.example/order"}),
          ("playwright", "browser_fill_form", {"fields": [
              {"name": "Name", "type": "textbox", "target": "e901", "value": "Ada"},
              {"name": "City", "type": "textbox", "target": "e902", "value": "London"}]}),
          ("playwright", "browser_click", {"element": "Send", "target": "e903"})],
         "from mcptools.playwright import browser_navigate, browser_fill_form, browser_click\nimport re\n"
         "page = browser_navigate.run(url='https://shop.example/order').text\n"
         "ref = dict(re.findall(r'(?:textbox|button) \"(\\w+)\" \\[ref=(\\w+)\\]', page))\n"
         "browser_fill_form.run(fields=[{'name': n, 'type': 'textbox', 'target': ref[n], 'value': v}\n"
         "                              for n, v in (('Name', 'Ada'), ('City', 'London'))])\n"
         "print(re.findall(r'status \"(.*)\"', browser_click.run(element='Send', target=ref['Send']).text))", "4711"),
    Task("who in the graph knows no one", "read the knowledge graph",
         [("memory", "read_graph", {})],
         "from mcptools.memory import read_graph\ngraph = read_graph.run()\n"
         "known = {each.from_ for each in graph.relations}\n"
         "print([each.name for each in graph.entities if each.name not in known])", "member 79"),
    Task("note the amount of each customer", "read a text file, add observations to entities",
         [("filesystem", "read_text_file", {"path": "invoices.csv"}),
          ("memory", "add_observations", {"observations": [
              {"entityName": f"customer {n}", "contents": [f"invoiced {n * 100}.50 EUR"]} for n in range(17)]})],
         "from mcptools.filesystem import read_text_file\nfrom mcptools.memory import add_observations\n"
         "import csv, collections\nsums = collections.Counter()\n"
         "for row in csv.DictReader(read_text_file.run(path='invoices.csv').content.splitlines()):\n"
         "    sums[row['customer']] += float(row['amount'])\n"
         "add_observations.run(observations=[{'entityName': name, 'contents': [f'invoiced {amount} EUR']}\n"
         "                                   for name, amount in sums.items()])\nprint(len(sums))", "17"),
    Task("rename thirty files", "list a directory, move or rename a file",
         [("filesystem", "list_directory", {"path": "scans"}),
          *(("filesystem", "move_file", {"source": f"scans/scan {n:02}.pdf", "destination": f"scans/scan-{n:02}.pdf"})
            for n in range(30))],
         FILES + "list_directory, move_file\nfor line in list_directory.run(path='scans').content.splitlines():\n"
         "    name = line.removeprefix('[FILE] ')\n"
         "    move_file.run(source='scans/' + name, destination='scans/' + name.replace(' ', '-'))\nprint('renamed')", "renamed"),
)
