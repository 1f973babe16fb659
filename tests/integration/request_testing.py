"""A sidecar that trusts an authority of the test's own, and rules about requests to the host that it is for."""

import own_network
from api_server import ApiServer
from cellgate_client import SharedSidecarTest

HOST = "allowed.example"


class RequestTest(SharedSidecarTest):
    @classmethod
    def certificate(cls):
        """Of the servers; for `prepare`."""
        authority, certificate = own_network.make_certificates(cls.workspace.base / "certificates",
                                                               [HOST, "other.example"])
        cls.authority = authority
        cls.environment = {"SSL_CERT_FILE": str(authority)}
        return certificate

    def setUp(self):
        self.rules = []

    def tearDown(self):
        for rule in self.rules:
            self.cellgate.request("policy/remove", {"ruleId": rule})

    def rule(self, effect, **more):
        """One about requests to the host, in the workspace, while the test runs."""
        rule = {"effect": effect, "kind": "request", "host": HOST, **more}
        added = self.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})
        self.rules.append(added["id"])
        return added


class ApiRequestTest(RequestTest):
    """Its host is an `ApiServer`, which forgets between tests what it was asked."""

    @classmethod
    def prepare(cls):
        cls.api = ApiServer(cls.certificate(), port=443)
        cls.addClassCleanup(cls.api.server_close)
        cls.addClassCleanup(cls.api.shutdown)

    def setUp(self):
        super().setUp()
        self.api.asked.clear()
