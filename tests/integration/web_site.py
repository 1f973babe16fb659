"""A site for the tests of the tool server `web`: pages as the web has them, and search engines that answer as SearXNG
(docs.searxng.org/dev/search_api.html) and Brave (api-dashboard.search.brave.com/documentation) document it."""

import gzip
import http.server
import json
import socketserver
import ssl
import threading
import urllib.parse

SENTENCE = "A gate lets nothing pass before a rule or a user has said so, and this page is about such gates. "
ARTICLE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>On gates</title><script>document.title = "made by a script"</script></head>
<body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About this site</a></li></ul></nav>
<article>
<h1>On gates</h1>
<p>{SENTENCE * 6}</p>
<h2>Rules</h2>
<p>See <a href="rules?page=2#top">the rules</a>, <a href="javascript:alert(1)">click</a> or <code>policy</code>. {SENTENCE * 4}</p>
<pre><code class="language-python">def gate(x):
    return x &lt; 1
</code></pre>
<table><thead><tr><th>Rule</th><th>Effect</th></tr></thead>
<tbody><tr><td>first</td><td>allow</td></tr><tr><td>second</td><td>deny</td></tr></tbody></table>
<ul><li>one</li><li>two</li></ul>
<p>Über naïve Gates: ü. {SENTENCE * 4}</p>
</article>
<footer>Imprint and cookies</footer>
</body></html>
"""
MADE_BY_SCRIPT = """<!doctype html><html><head><title>App</title></head><body><div id="app"></div><script>
setTimeout(() => { document.getElementById("app").innerHTML =
    "<h1>Made by a script</h1><p class='first'>The first words.</p>"; }, 200);
setTimeout(() => { document.getElementById("app").insertAdjacentHTML("beforeend", "<p id='late'>The late words.</p>"); }, 6000);
</script></body></html>
"""
RESULTS = [{"title": f"Result {i}", "url": f"https://host{i}.example/", "content": f"Snippet  {i}", "engine": "test",
            "score": 1.0} for i in range(12)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.server.asked.append((self.headers["Host"], self.path))
        page = getattr(self, "page_" + url.path.strip("/").replace(".", "_"), None)
        if page:
            page(urllib.parse.parse_qs(url.query))
        else:
            self.answer("not here", status=404)

    def answer(self, body, kind="text/html; charset=utf-8", status=200, **fields):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def page_article(self, _):
        self.answer(ARTICLE)

    def page_packed(self, _):
        self.answer(gzip.compress(ARTICLE.encode()), Content_Encoding="gzip")

    def page_latin(self, _):
        self.answer("<p>na\xefve</p>".encode("latin-1"), "text/html; charset=iso-8859-1")

    def page_data(self, _):
        self.answer('{"a": [1, 2]}', "application/json")

    def page_document(self, _):
        self.answer(b"%PDF-1.7", "application/pdf")

    def page_app(self, _):
        self.answer(MADE_BY_SCRIPT)

    def page_framed(self, query):
        self.answer(f"<title>Framed</title><p>around it</p><script src='{query['of'][0]}'></script>")

    def page_to(self, query):
        self.answer("", status=302, Location=query["url"][0])

    def page_round(self, _):
        self.answer("", status=302, Location="/round")

    def page_huge(self, _):
        """100 MB, as far as they are taken."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        line = b"<p>" + b"words " * 200 + b"</p>\n"
        self.server.sent = 0
        try:
            while self.server.sent < 100_000_000:
                self.wfile.write(line)
                self.server.sent += len(line)
        except OSError:
            pass
        self.close_connection = True

    def page_deep(self, _):
        self.answer("<div>" * 500_000 + "the bottom")

    def page_search(self, query):
        if query.get("format") != ["json"]:
            self.answer("<p>results for a browser</p>")
        elif query["q"] == ["refuse"]:
            self.answer("Forbidden", status=403)
        else:
            results = [] if query["q"] == ["nothing"] else RESULTS
            self.answer(json.dumps({"query": query["q"][0], "number_of_results": 0, "results": results, "answers": [],
                                    "suggestions": [], "unresponsive_engines": []}), "application/json")

    def page_brave(self, query):
        if self.headers["X-Subscription-Token"] != "the-key":
            self.answer(json.dumps({"type": "ErrorResponse", "error": {"status": 422}}), "application/json", status=422)
        elif query["q"] == ["nothing"]:
            self.answer(json.dumps({"type": "search", "query": {"original": "nothing"}}), "application/json")
        else:
            found = [{"title": each["title"], "url": each["url"], "description": each["content"]} for each in RESULTS]
            self.answer(json.dumps({"type": "search", "web": {"type": "search", "results": found}}), "application/json")

    def log_message(self, *_):
        pass


class Site(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self, port=0, certificate=None):
        self.asked = []
        self.sent = 0
        super().__init__(("0.0.0.0", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()
