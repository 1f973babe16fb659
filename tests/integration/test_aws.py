"""Requests that are signed again for AWS. Its own SDK signs with placeholders, and a server verifies what comes by the
real keys."""

import json
import unittest

import own_network
from api_server import ApiServer
from aws_server import KEY, KEY_ID, REGION, TOKEN, Aws
from hunt_testing import look_for
from request_testing import HOST, RequestTest

CLIENTS = f"""
import boto3, io, os
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
more = dict(endpoint_url='https://{HOST}', region_name='{REGION}',
            config=Config(s3={{'addressing_style': 'path'}}, retries={{'total_max_attempts': 1}}))
def tried(call, **arguments):
    try:
        return call(**arguments)
    except ClientError as error:
        print(error)
"""
S3 = CLIENTS + "s3 = boto3.client('s3', **more)\n"


class AwsTest(RequestTest):
    inject = {"as": "aws", "value": "${secret:AWS_ID}:${secret:AWS_KEY}"}
    token = None

    @classmethod
    def prepare(cls):
        cls.server = ApiServer(cls.certificate(), port=443, handler=Aws)
        cls.server.keys = {KEY_ID: (KEY, cls.token)}
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, value in (("AWS_ID", KEY_ID), ("AWS_KEY", KEY), ("AWS_TOKEN", TOKEN)):
            cls.cellgate.request("secret/set", {"name": name, "scope": "user", "value": value})
        cls.add_rule("inspect", inject=cls.inject)
        cls.cellgate.run("1")
        cls.cellgate.request("session/restart", {"sessionId": "default"})  # it has the placeholders

    @classmethod
    def add_rule(cls, effect, **more):
        rule = {"effect": effect, "kind": "request", "host": HOST, **more}
        return cls.cellgate.request("policy/add", {"rule": rule, "scope": "workspace"})["id"]

    def setUp(self):
        super().setUp()
        self.server.asked.clear()
        self.server.objects = {}

    def accepted(self):
        self.assertEqual([each[2] for each in self.server.asked if each[2] != "accepted"], [], self.server.asked)
        return [each[:2] for each in self.server.asked]


class Signed(AwsTest):
    def test_s3_keeps_gives_and_lists_objects(self):
        self.rule("allow")
        text = self.run_ok(S3 + "s3.put_object(Bucket='plans', Key='a/b c+d ü.txt', Body=b'body' * 1000, Metadata={'by': 'me  too'})\n"
                           "print(s3.get_object(Bucket='plans', Key='a/b c+d ü.txt')['Body'].read() == b'body' * 1000)\n"
                           "s3.put_object(Bucket='plans', Key='x//y', Body=b'')\n"
                           "print(s3.list_objects_v2(Bucket='plans', Prefix='a/b c+', Delimiter='/')['KeyCount'])").text()
        self.assertEqual(text.split(), ["True", "1"])
        self.assertEqual(len(self.accepted()), 4)
        self.assertEqual(sorted(self.server.objects), ["/plans/a/b c+d ü.txt", "/plans/x//y"])

    def test_a_large_object_is_sent_whole_and_loaded_in_parts(self):
        self.rule("allow")
        text = self.run_ok(S3 + "data = os.urandom(9 << 20)\ns3.put_object(Bucket='plans', Key='large', Body=data)\n"
                           "loaded = io.BytesIO()\n"
                           "s3.download_fileobj('plans', 'large', loaded, Config=TransferConfig(multipart_threshold=1 << 20, "
                           "multipart_chunksize=4 << 20))\nprint(loaded.getvalue() == data)").text()
        self.assertEqual(text.split(), ["True"])
        self.assertEqual(len([each for each in self.server.asked if "range" in each[3]]), 3)
        self.accepted()

    def test_chunks_with_a_checksum_behind_them_pass_as_they_are(self):
        self.rule("allow")
        self.run_ok(S3 + "s3.put_object(Bucket='plans', Key='a', Body=b'body', ChecksumAlgorithm='SHA256')")
        self.accepted()
        self.assertEqual(self.server.objects, {"/plans/a": b"body"})
        self.assertEqual(self.server.asked[0][3]["x-amz-content-sha256"], "STREAMING-UNSIGNED-PAYLOAD-TRAILER")

    def test_dynamodb_answers(self):
        self.rule("allow")
        text = self.run_ok(CLIENTS + "dynamo = boto3.client('dynamodb', **more)\n"
                           "print(dynamo.get_item(TableName='plans', Key={'id': {'S': 'ä'}})['Item']['sent']['S'])").text()
        self.assertEqual(json.loads(text), {"TableName": "plans", "Key": {"id": {"S": "ä"}}})
        self.accepted()

    def test_a_question_shows_what_is_sent_and_an_edited_request_is_signed_as_edited(self):
        execution = self.cellgate.execute(S3 + "s3.put_object(Bucket='plans', Key='first', Body=b'a')")
        approval = self.cellgate.approval()
        self.assertEqual(approval["display"][0], f"PUT https://{HOST}/plans/first")
        self.assertEqual(approval["action"]["secrets"], ["AWS_ID", "AWS_KEY"])
        self.assertIn("with the secret AWS_KEY, which the code does not see", approval["display"])
        self.assertNotIn("authorization", json.dumps(approval))
        form = json.loads(approval["editText"])
        form.update(path="/plans/second%20one", body="edited")
        form["headers"]["x-amz-meta-seen"] = "yes"
        del form["headers"]["content-md5"]
        self.cellgate.allow(approval, argumentsText=json.dumps(form))
        self.assertEqual(execution.result()["status"], "ok", execution.outputs())
        self.assertEqual(self.accepted(), [("PUT", "/plans/second%20one")])
        self.assertEqual(self.server.objects, {"/plans/second one": b"edited"})
        self.assertEqual(self.server.asked[0][3]["x-amz-meta-seen"], "yes")

    def test_the_keys_are_nowhere_that_code_can_look(self):
        self.rule("allow")
        text = self.run_ok(S3 + "s3.put_object(Bucket='plans', Key='a', Body=b'a')\n" + look_for(KEY)).text()
        self.assertRegex(text, r"placeholders [1-9]\d* values 0 ")
        self.assertRegex(self.run_ok(look_for(KEY_ID)).text(), r"placeholders [1-9]\d* values 0 ")
        text = self.run_ok("import os\nprint(sorted((name, value[:16]) for name, value in os.environ.items() if name.startswith('AWS_')"
                           " and not name.endswith('BUNDLE')))").text()
        self.assertEqual(text.strip(), "[('AWS_ACCESS_KEY_ID', 'cellgate-secret-'), ('AWS_SECRET_ACCESS_KEY', 'cellgate-secret-')]")


class Refused(AwsTest):
    def test_without_the_rule_a_signature_of_other_keys_is_no_use(self):
        """The control: the server verifies."""
        self.cellgate.request("policy/remove", {"ruleId": self.aws_rules()[0]})
        self.addCleanup(self.add_rule, "inspect", inject=self.inject)
        self.rule("allow")
        put = "tried(s3.put_object, Bucket='plans', Key='a', Body=b'a')"
        for keys, problem in ((("AKIDOTHER", "x"), "InvalidAccessKeyId"), ((KEY_ID, "x"), "SignatureDoesNotMatch")):
            client = f"s3 = boto3.client('s3', aws_access_key_id={keys[0]!r}, aws_secret_access_key={keys[1]!r}, **more)\n"
            self.assertIn(problem, self.run_ok(CLIENTS + client + put).text())
        self.assertEqual([each[2] for each in self.server.asked], ["InvalidAccessKeyId", "SignatureDoesNotMatch"])
        self.server.asked.clear()
        self.assertIn("403", self.run_ok(S3 + put, approvals="deny").text())  # a placeholder goes nowhere
        self.assertEqual(self.server.asked, [])

    def aws_rules(self):
        return [rule["id"] for rule in self.cellgate.request("policy/list")["rules"] if "inject" in rule]

    def test_what_cannot_be_signed_again_says_why(self):
        self.rule("allow")
        text = self.run_ok(S3 + """
import urllib.request
from botocore import UNSIGNED
def ask(url, **headers):
    try:
        print(urllib.request.urlopen(urllib.request.Request(url, headers=headers)).read())
    except OSError as error:
        print(error.read().decode())
ask(s3.generate_presigned_url('get_object', Params={'Bucket': 'plans', 'Key': 'a'}))
ask(boto3.client('s3', **{**more, 'config': Config(signature_version='s3v4')}).generate_presigned_url(
    'get_object', Params={'Bucket': 'plans', 'Key': 'a'}))
ask(more['endpoint_url'] + '/plans/a')
ask(more['endpoint_url'] + '/plans/a', Authorization='AWS4-ECDSA-P256-SHA256 Credential=a')
""", approvals="deny").text()
        for reason in ("its signature is in its URL", "it has no signature of Signature Version 4", "SigV4A"):
            self.assertIn(reason, text)
        self.assertEqual(self.server.asked, [])

    def test_an_answer_that_repeats_the_request_does_not_show_a_key(self):
        self.rule("allow")
        self.server.keys = {}
        self.addCleanup(setattr, self.server, "keys", {KEY_ID: (KEY, self.token)})
        text = self.run_ok("import urllib.request\n"
                           "signed = {'x-amz-date': '20260105T093000Z', 'Authorization': 'AWS4-HMAC-SHA256 Credential=a/20260105/"
                           f"{REGION}/s3/aws4_request, SignedHeaders=host, Signature=a'}}\n"
                           f"try:\n    urllib.request.urlopen(urllib.request.Request('https://{HOST}/plans/a', headers=signed))\n"
                           "except OSError as error:\n"
                           "    said = error.read().decode()\n"
                           f"    print({KEY_ID[:5]!r} + {KEY_ID[5:]!r} in said, 'Credential=[secret AWS_ID]/2026' in said)").text()
        self.assertIn("False True", text)
        self.assertEqual([each[2] for each in self.server.asked], ["InvalidAccessKeyId"])


class Temporary(AwsTest):
    """Keys that have a session's token."""

    inject = {"as": "aws", "value": "${secret:AWS_ID}:${secret:AWS_KEY}:${secret:AWS_TOKEN}"}
    token = TOKEN

    def test_the_token_is_sent_in_place_of_its_placeholder(self):
        self.rule("allow")
        text = self.run_ok(S3 + "s3.put_object(Bucket='plans', Key='a', Body=b'a')\n"
                                "print(os.environ['AWS_SESSION_TOKEN'][:16])\n" + look_for(TOKEN)).text()
        self.assertIn("cellgate-secret-\n", text)
        self.assertRegex(text, r"placeholders [1-9]\d* values 0 ")
        self.assertEqual(self.accepted(), [("PUT", "/plans/a")])
        self.assertEqual(self.server.asked[0][3]["x-amz-security-token"], TOKEN)


if __name__ == "__main__":
    own_network.enter()
    unittest.main()
