"""Hostile code and odd servers around requests that are judged one by one: nothing shows the value of a secret that a
rule puts in, and what the server gets is what was judged."""

import base64
import gzip
import unittest
import zlib

import own_network
from hunt_server import in_chunks, ok
from hunt_testing import CLIENT, HOST, VALUE, HuntTest, look_for, request


def as_field(secret):
    return b"X-Echo: Bearer %s\r\n" % secret


def by(answer):
    """An answer of the secret alone."""
    return lambda request: answer(request.secret)


def slowly(content):
    answer = ok(content)
    return [answer[at:at + 1] for at in range(len(answer))]


# What comes of each is not the server's to show: it is masked, or refused.
ANSWERS = {
    "body": by(ok),
    "body, twice and between": by(lambda secret: ok(b"<%s>%s%s</%s" % (secret, secret, secret, secret))),
    "all of the request": lambda request: ok(request.head),
    "header": by(lambda secret: ok(b"fine", as_field(secret))),
    "name of a header": by(lambda secret: ok(b"fine", b"%s: 1\r\n" % secret)),
    "status line": by(lambda secret: b"HTTP/1.1 200 %s\r\nContent-Length: 0\r\n\r\n" % secret),
    "no status line": by(lambda secret: b"Bearer %s\r\n\r\n" % secret),
    "a status of letters": by(lambda secret: b"HTTP/1.1 %s\r\n\r\n" % secret),
    "HTTP/0.9": by(lambda secret: b"<html>%s</html>" % secret),
    "a version of its own": by(lambda secret: b"HTTP/%s 200 OK\r\n\r\n" % secret),
    "a blank in a name": by(lambda secret: ok(b"fine", b"X Echo %s: a\r\n" % secret)),
    "no colon": by(lambda secret: ok(b"fine", b"%s\r\n" % secret)),
    "a folded header": by(lambda secret: ok(b"fine", b"X-Echo: a\r\n %s\r\n" % secret)),
    "a bare line feed": by(lambda secret: ok(b"fine", b"X-Echo: a\n%s: b\r\n" % secret)),
    "a NUL": by(lambda secret: ok(b"fine", b"X-Echo: a\0%s\r\n" % secret)),
    "length": by(lambda secret: b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n" % secret),
    "coding of the transfer": by(lambda secret: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n" % secret),
    "size of a chunk": by(lambda secret: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n" % secret),
    "extension of a chunk": by(lambda secret: in_chunks(b"fine", 2, b";x=" + secret)),
    "trailer": by(lambda secret: in_chunks(b"fine", 2, trailer=as_field(secret))),
    **{f"chunks of {size}": by(lambda secret, size=size: in_chunks(b"<%s>" % secret, size)) for size in (1, 7, 11)},
    "one byte at a time": by(slowly),
    "hexadecimal": by(lambda secret: ok(secret.hex().encode())),
    **{f"base64 behind {n}": by(lambda secret, n=n: ok(base64.b64encode(b"u" * n + secret))) for n in range(3)},
    "until the end": by(lambda secret: b"HTTP/1.0 200 OK\r\n\r\n<%s>" % secret),
    "HTTP/1.0 with chunks": by(lambda secret: b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s" % secret),
    "an end in the middle": by(lambda secret: b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n<%s" % secret),
    "an end in the middle of it": by(lambda secret: b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + secret[:-3]),
    "early hints": by(lambda secret: b"HTTP/1.1 103 Early Hints\r\n%s\r\n%s" % (as_field(secret), ok(b"fine"))),
    "204 and more": by(lambda secret: b"HTTP/1.1 204 No Content\r\n%s\r\n%s" % (as_field(secret), secret)),
    "304 and more": by(lambda secret: b"HTTP/1.1 304 Not Modified\r\n%s\r\n%s" % (as_field(secret), secret)),
    "another protocol": by(lambda secret: b"HTTP/1.1 101 Switching\r\nUpgrade: %s\r\n\r\n%s" % (secret, secret)),
    "redirect": by(lambda secret: b"HTTP/1.1 302 Found\r\nLocation: /?a=%s\r\nContent-Length: 0\r\n\r\n" % secret),
    "cookie": by(lambda secret: ok(b"", b"Set-Cookie: a=%s\r\n" % secret)),
    "two lengths": by(lambda secret: ok(secret, b"Content-Length: 3\r\n")),
    "both lengths": by(lambda secret: ok(secret, b"Transfer-Encoding: chunked\r\n")),
    "a negative length": by(lambda secret: b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n%s" % secret),
    "a length of 2^64": by(lambda secret: b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n%s" % secret),
    "a chunk of 2^64": by(lambda secret: [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                          b"10000000000000000\r\n%s" % secret]),
    "2,000 headers": by(lambda secret: ok(b"", as_field(secret) * 2000)),
    "a large header": by(lambda secret: ok(b"", b"X: %s\r\n" % (secret * 5000))),
    "a head without end": by(lambda secret: [b"HTTP/1.1 200 OK\r\n", *[as_field(secret)] * 3000]),
    "two answers": by(lambda secret: ok(b"fine") + ok(secret)),
}
CODED = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda text: b"\x0b\x02\x80" + text + b"\x03"}


class Echoes(HuntTest):
    def test_nothing_that_a_server_echoes_shows_it(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        for name, answer in ANSWERS.items():
            with self.subTest(name):
                self.server.asked.clear()
                self.server.answer = answer
                got = self.got(request())
                self.assertEqual(self.server.asked[0].secret, VALUE.encode())
                self.assertTrue(got.startswith(b"HTTP/1.1 "), got)
                self.assert_hidden(got)

    def test_nor_does_it_in_an_answer_to_another_method_or_version(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        self.server.answer = lambda request: ok(request.head, as_field(request.secret))
        for sent in (request("HEAD /a"), request("TRACE /a"), request("OPTIONS *"),
                     request().replace(b"HTTP/1.1", b"HTTP/1.0"), request("POST /a", b"Content-Length: 3\r\n", b"abc")):
            with self.subTest(sent):
                self.server.asked.clear()
                got = self.got(sent)
                self.assertEqual(self.server.asked[0].secret, VALUE.encode())
                self.assertIn(b"[secret API_TOKEN]", got)
                self.assert_hidden(got)

    def test_the_control_without_a_secret_passes_what_servers_say(self):
        self.rule("allow")
        mine = b"Authorization: Bearer mine-as-any-other\r\n"
        for name in "body", "header", "status line", "trailer", "one byte at a time", "until the end", "redirect":
            with self.subTest(name):
                self.server.answer = ANSWERS[name]
                self.assertIn(b"mine-as-any-other", self.got(request(fields=mine)))
        self.server.answer = lambda request: ok(gzip.compress(request.head), b"Content-Encoding: gzip\r\n")
        got = self.got(request(fields=mine + b"Accept-Encoding: gzip\r\nRange: bytes=1-2\r\n"))
        echoed = gzip.decompress(got.partition(b"\r\n\r\n")[2])
        self.assertIn(b"accept-encoding: gzip\r\n", echoed)
        self.assertIn(b"range: bytes=1-2\r\n", echoed)

    def test_a_coded_answer_is_refused_with_the_reason(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        for coding, code in CODED.items():
            with self.subTest(coding):
                self.server.answer = lambda request: ok(code(request.head),  # noqa: B023
                                                        f"Content-Encoding: {coding}\r\n".encode())  # noqa: B023
                got = self.got(request(fields=b"Accept-Encoding: gzip, br\r\n"))
                self.assertTrue(got.startswith(b"HTTP/1.1 502 "), got)
                self.assertIn(b"coded its answer", got)
                self.assertEqual(self.server.asked[-1].field("accept-encoding"), [b"identity"])
        self.server.answer = lambda request: ok(b"fine", b"Content-Encoding: identity\r\n")
        self.assertIn(b"fine", self.got(request()))

    def test_no_part_of_an_answer_is_asked_for(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        self.got(request(fields=b"Range: bytes=0-20\r\nIf-Range: \"a\"\r\nRequest-Range: bytes=0-20\r\nX-Other: a\r\n"))
        [asked] = self.server.asked
        self.assertNotIn(b"range", asked.head)
        self.assertEqual(asked.field("x-other"), [b"a"])

    def test_every_place_of_a_secret_is_masked(self):
        self.rule("allow")
        for inject in ({"as": "basic", "value": "ada:${secret:API_TOKEN}"},
                       {"as": "header", "name": "X-Key", "value": "k ${secret:API_TOKEN}"},
                       {"as": "query", "name": "key", "value": "${secret:API_TOKEN}"}):
            with self.subTest(inject["as"]):
                self.server.asked.clear()
                self.rule("inspect", inject=inject)
                got = self.got(request())
                self.cellgate.request("policy/remove", {"ruleId": self.rules.pop()})
                self.assertNotEqual(self.server.asked[0].secret, b"")
                self.assertIn(b"[secret API_TOKEN]", got)
                self.assert_hidden(got)

    def test_a_late_answer_is_not_that_of_a_request_without_a_secret(self):
        self.rule("inspect", inject=self.inject, paths=["/user"])
        self.rule("allow")

        def serve(connection):
            while True:
                asked = self.server.take(connection)
                connection.say(ok(b"".join(each.head for each in connection.earlier)))
                if b"close" in asked.head:
                    return

        self.server.serve = serve
        keep = request("GET /user").replace(b"Connection: close\r\n", b"")
        got = self.got(keep + request("GET /other"))
        self.assertEqual([bool(each.secret) for each in self.server.asked], [True, False])
        self.assertIn(b"GET /other", got)
        self.assert_hidden(got)


class Elsewhere(HuntTest):
    def test_it_is_nowhere_that_code_can_look(self):
        self.rule("inspect", inject={**self.inject, "variable": "API_TOKEN"})
        self.rule("allow")
        self.cellgate.request("session/restart", {"sessionId": "default"})
        text = self.run_ok(CLIENT + f"talk({request()!r})\n" + look_for(VALUE), approvals="deny").text()
        self.assertEqual(self.server.asked[0].secret, VALUE.encode())
        line = text.strip().splitlines()[-1]
        self.assertRegex(line, r"placeholders [1-9]\d* values 0 ")

    def test_it_goes_over_verified_tls_to_its_host_alone(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        self.rules.append(self.cellgate.request("policy/add", {"scope": "workspace", "rule": {
            "effect": "allow", "kind": "request", "host": "other.example"}})["id"])
        for sent, where in ((request(), {"port": 80}), (request(host="other.example"), {"host": "other.example"})):
            with self.subTest(where):
                self.got(sent, **where)
                [asked] = self.server.asked + self.plain.asked
                self.assertEqual(asked.secret, b"")
                self.server.asked.clear()
                self.plain.asked.clear()


# What code sends -> what the server must have of it. An entry is a field and its values.
SENT = {
    "a hop-by-hop authorization": (b"Authorization: Bearer mine\r\nConnection: authorization\r\n",
                                   {"authorization": [b"Bearer " + VALUE.encode()]}),
    "authorization twice": (b"Authorization: Bearer mine\r\naUTHORIZATION: Bearer other\r\n",
                            {"authorization": [b"Bearer " + VALUE.encode()]}),
    "h2c": (b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
            {"upgrade": [], "http2-settings": [], "connection": []}),
    "trailers": (b"TE: trailers\r\nProxy-Authorization: Basic eA==\r\n", {"te": [], "proxy-authorization": []}),
    "forwarded": (b"X-Forwarded-For: 10.0.0.1\r\n", {"x-forwarded-for": [b"10.0.0.1"]}),
    "100": (b"Expect: 100-continue\r\n", {"expect": []}),
}
CHUNKED = b"Transfer-Encoding: chunked\r\n"
REFUSED = {
    "folded": request(fields=b"X-A: a\r\n Authorization: b\r\n"),
    "bare line feed": request(fields=b"X-A: a\nX-B: b\r\n"),
    "bare carriage return": request(fields=b"X-A: a\rX-B: b\r\n"),
    "NUL": request(fields=b"X-A: a\0b\r\n"),
    "blank before the colon": request("POST /a", b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"),
    "both lengths": request("POST /a", CHUNKED + b"Content-Length: 5\r\n", b"0\r\n\r\n"),
    "two lengths": request("POST /a", b"Content-Length: 5\r\nContent-Length: 6\r\n", b"abcdef"),
    "a list of lengths": request("POST /a", b"Content-Length: 5, 5\r\n", b"abcde"),
    "a negative length": request("POST /a", b"Content-Length: -1\r\n"),
    "another coding": request("POST /a", b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"),
    "a chunk of 2^64": request("POST /a", CHUNKED, b"10000000000000000\r\n"),
    "a chunk that is longer": request("POST /a", CHUNKED, b"1\r\nab\r\n0\r\n\r\n"),
    "another host": request(host="other.example"),
    "two hosts": request(fields=b"Host: other.example\r\n"),
    "no host": request().replace(b"Host: allowed.example\r\n", b""),
    "authority": request("CONNECT other.example:443"),
    "no path": request("GET other.example"),
    "a fragment": request("GET /a#b"),
    "HTTP/0.9": b"GET /a\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "another method": request(fields=b"X-HTTP-Method-Override: DELETE\r\n"),
    "another method, with _": request(fields=b"X_HTTP_Method_Override: DELETE\r\n"),
    "another path": request(fields=b"X-Original-URL: /b\r\n"),
    "300 headers": request(fields=b"X-A: a\r\n" * 300),
    "a large header": request(fields=b"X-A: %s\r\n" % (b"a" * 70000)),
    "a long path": request("GET /" + "a" * 9000),
}


class Requests(HuntTest):
    def test_the_server_gets_what_was_judged(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")
        for name, (fields, expected) in SENT.items():
            with self.subTest(name):
                self.server.asked.clear()
                self.got(request(fields=fields))
                [asked] = self.server.asked
                self.assertEqual({field: asked.field(field) for field in expected}, expected, asked.head)

    def test_what_two_readers_read_differently_reaches_no_server(self):
        self.rule("allow")
        for name, sent in REFUSED.items():
            with self.subTest(name):
                self.server.asked.clear()
                self.assertRegex(self.got(sent), rb"^HTTP/1.1 4\d\d ")
                self.assertEqual(self.server.asked, [])
        self.got(request())
        self.assertEqual(len(self.server.asked), 1)

    def test_a_whole_url_in_a_tunnel_is_a_path_of_its_host(self):
        self.rule("allow", paths=["/a"])
        self.got(request("GET https://other.example/a"))
        [asked] = self.server.asked
        self.assertEqual((asked.line, asked.field("host")), ("GET /a HTTP/1.1", [HOST.encode()]))

    def test_each_request_behind_another_is_judged(self):
        self.rule("allow", methods=["GET", "POST"])
        hidden = request("DELETE /hidden")
        keep = request("GET /a").replace(b"Connection: close\r\n", b"")
        post = keep.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\n%s\r\n")
        for first in (keep, post % b"Content-Length: 0\r\n", post % CHUNKED + b"0\r\n\r\n",
                      post % CHUNKED + b"3;a=b\r\nabc\r\n0\r\nX-T: a\r\n\r\n", post % b"Content-Length: 3\r\n" + b"abc"):
            with self.subTest(first):
                self.server.asked.clear()
                self.server.serve = self.serve_many
                got = self.got(first + hidden)
                self.assertIn(b"HTTP/1.1 403 ", got)
                self.assertEqual([each.line.split()[1] for each in self.server.asked], ["/a"])
                self.got(first + request("GET /b"))
                self.assertEqual([each.line.split()[1] for each in self.server.asked], ["/a", "/a", "/b"])

    def serve_many(self, connection):
        while True:
            connection.say(ok(self.server.take(connection).line.encode()))

    def test_a_parameter_or_header_of_the_codes_own_is_replaced_in_every_spelling(self):
        self.rule("allow")
        self.rule("inspect", inject={"as": "query", "name": "key", "value": "${secret:API_TOKEN}"})
        self.got(request("GET /a?%6bey=mine&key=mine&k%65Y=b&c=%zz&key"))
        self.assertEqual(self.server.asked[-1].line, f"GET /a?k%65Y=b&c=%zz&key={VALUE} HTTP/1.1")
        self.rule("inspect", inject={"as": "header", "name": "X-Key", "value": "${secret:API_TOKEN}"})
        self.got(request(fields=b"X_Key: mine\r\nx-KEY: mine\r\n"))
        self.assertNotIn(b"mine", self.server.asked[-1].head)

    def test_an_answer_that_comes_first_is_an_answer(self):
        self.rule("inspect", inject=self.inject)
        self.rule("allow")

        def serve(connection):
            connection.say(ok(b"early"))
            self.server.take(connection)

        self.server.serve = serve
        self.assertIn(b"early", self.got(request()))
        self.assertEqual(self.server.asked[0].secret, VALUE.encode())


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
